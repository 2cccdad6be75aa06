import type { Config } from './config.js';
import { serviceNicks } from './service-nicks.js';

/** The nicks of all our bots: nobody else may speak under them. */
export function botNicks(config: Config): string[] {
  return [config.BRIDGE_NICK, config.EM_NICK, config.CHANNELSERV_NICK, config.MRSERV_NICK];
}

/**
 * The nicks of our bots and of networks' services. Nobody else may have them, or a nick that could be taken
 * for one of them.
 */
export function keptNicks(config: Config): string[] {
  return [...botNicks(config), ...serviceNicks];
}
