import { type Log, Unavailable } from '../../streams/core/index.js';
import { request } from '../core/rpc.js';
import type { Asked, Asker, Channels, Enforced, Enforcement } from './requests.js';

/** Name under which the holder of the channel bot answers. */
export const channelService = 'channelserv';

/** Longer than it takes until a server that fell silent is noticed: whoever waits is told that it is. */
const answerMs = 8_000;

/** The error of everything that needs the channel bot while it is not there or is no operator. */
export function ircUnavailable(): Unavailable {
  return new Unavailable('irc_unavailable');
}

/**
 * The commands of the channel service, carried out by the process that holds the channel bot, this one or another.
 * Errors are the service's own; without a bot that is there and operator an `Unavailable` with the code
 * `irc_unavailable`. A command that was not answered in time may be done all the same, and may be given again.
 */
export function createChannels(log: Log, timeoutMs = answerMs): Channels {
  const ask = async <Request, Result>(operation: keyof Channels, of: Request, asker: Asker) => {
    const asked: Asked<Request> = { request: of, asker };
    return await askService<Result>(log, operation, asked, timeoutMs);
  };
  return {
    create: (of, asker) => ask('create', of, asker),
    invite: (of, asker) => ask('invite', of, asker),
    update: (of, asker) => ask('update', of, asker),
    remove: (of, asker) => ask('remove', of, asker),
    members: (of, asker) => ask('members', of, asker),
  };
}

/** Acts against people in channels, through the process that holds the channel bot. Errors as above. */
export function createEnforcement(
  log: Log,
  timeoutMs = answerMs,
): (wanted: Enforcement) => Promise<Enforced> {
  return (wanted) => askService(log, 'enforce', wanted, timeoutMs);
}

/** Tells which of the nicks are on the network now, by the word of the channel bot. Errors as above. */
export function createPresence(log: Log, timeoutMs = answerMs): (nicks: string[]) => Promise<string[]> {
  return (nicks) => askService(log, 'online', nicks, timeoutMs);
}

async function askService<Result>(
  log: Log,
  operation: string,
  input: unknown,
  timeoutMs: number,
): Promise<Result> {
  try {
    return await request<Result>(log, channelService, operation, input, timeoutMs);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'nobody_answers') throw ircUnavailable();
    throw error;
  }
}
