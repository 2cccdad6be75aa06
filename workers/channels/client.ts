import type { Log } from '../../streams/core/index.js';
import type { Enforced, Enforcement } from '../../streams/moderation/index.js';
import { codeOf, commandsOf, type RequestedService, request } from '../core/rpc.js';
import type { Hands } from '../irc/hands.js';
import type { Channels, Holder } from './requests.js';
import type { Superseded } from './supersede.js';

/** Name under which the holder of the channel bot answers. */
export const channelService = 'channelserv';

/**
 * How long a command is waited for, in milliseconds. This is longer than it takes to notice a silent server,
 * so that the caller is told about it.
 */
export const answerMs = 8_000;

const serviceOf = (log: Log): RequestedService => {
  return { log, name: channelService, timeoutMs: answerMs, absent: 'irc_unavailable' };
};

/**
 * The commands of the channel service, carried out by the process that holds the channel bot, this one or
 * another. Errors are the service's own. Without a bot that is connected and an operator: `Unavailable` with
 * the code `irc_unavailable`. A command without an answer in time may still have been done, and may be given
 * again.
 */
export function createChannels(log: Log): Channels {
  return commandsOf<Channels>(serviceOf(log), ['create', 'invite', 'update', 'remove', 'members', 'present']);
}

/** Acts against people in channels, through the process that holds the channel bot. Errors as above. */
export function createEnforcement(log: Log): (wanted: Enforcement) => Promise<Enforced> {
  return (wanted) => request(serviceOf(log), 'enforce', wanted);
}

/** Tells when an account was registered, in milliseconds; null where the nick service does not say. Errors as above. */
export function createRegistrations(log: Log): (account: string) => Promise<number | null> {
  return (account) => request(serviceOf(log), 'registered', account);
}

/**
 * Ends a session that has a nick, if it comes from the given host. Answers whether it did. Errors as above.
 */
export function createSuperseding(log: Log): (session: Superseded) => Promise<boolean> {
  return (session) => request(serviceOf(log), 'supersede', session);
}

/** Tells who has a nick on the network now; null if nobody has it. Errors as above. */
export function createHolders(log: Log): (nick: string) => Promise<Holder | null> {
  return (nick) => request(serviceOf(log), 'holder', nick);
}

/**
 * Tells whether moderation keeps a nick out of a channel. Errors as above. A process of an earlier version holds the bot for a
 * while at an update: it cannot tell, and brings in anybody.
 */
export function createBans(log: Log): (channel: string, nick: string) => Promise<boolean> {
  return async (channel, nick) =>
    await request<boolean>(serviceOf(log), 'isBanned', { channel, nick }).catch((error: unknown) => {
      if (codeOf(error) !== 'not_found') throw error;
      return false;
    });
}

/** The hands of the channel bot, for our bots that are no operators. Errors as above. */
export function createHands(log: Log): Hands {
  return {
    giveNick: (wanted) => request(serviceOf(log), 'giveNick', wanted),
    letIn: (wanted) => request(serviceOf(log), 'letIn', wanted),
    letSpeak: (wanted) => request(serviceOf(log), 'letSpeak', wanted),
  };
}
