import type { Config } from './config.js';

/** The nicks of all our bots: nobody else is to speak under them. */
export function botNicks(config: Config): string[] {
  return [config.BRIDGE_NICK, config.EM_NICK, config.CHANNELSERV_NICK, config.MRSERV_NICK];
}
