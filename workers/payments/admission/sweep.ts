import type { Logger } from 'pino';
import type { Read } from '../../../projections/core/projection.js';
import { openSessions } from '../../../projections/payments/queries.js';
import { backoff, type Log, type Pauses, pause } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { payments } from '../../../streams/payments/index.js';
import type { Channels } from '../../channels/index.js';
import { actor, type Membership } from './membership.js';
import type { PaidRoom } from './paid-rooms.js';

/** What the sweep works with. */
export interface SweepOptions {
  log: Log;
  channels: Channels;
  rooms: readonly PaidRoom[];
  /** Of paid sessions. Throws while the read model lags: it does not know yet who has a place. */
  read: Read;
  /** Removes somebody from a channel, with a reason that they are shown. */
  remove(of: Membership, reason: string): Promise<unknown>;
  /** Whether somebody has a session by now, as far as this process knows. */
  isSeated(of: Membership): boolean;
  /** How long it waits after each refusal of the network to remove somebody. */
  pauses?: Pauses;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * The members of a paid channel are checked this often. Every so many times, their identity is checked too.
 */
const everyMs = 2_000;
const standingEvery = 5;
/** How long nobody is asked again to remove somebody, after the network refused that. */
export const refusedPauses: Pauses = { first: 2_000, longest: 300_000 };

const noSession = 'Nobody has paid for this nick: a place belongs to the nick that it was paid for';
const notTheirs =
  'The nick is registered or linked: identify with the nick service, then present the payment again';

/** Members that the network refused to remove, by nick: how often, and until when nobody is asked again. */
type Refusals = Map<string, { tries: number; until: number }>;

/**
 * Removes those from the paid channels who have no place in them. These are people who were there before the
 * channel was sold, and people whose nick changed. They are also people who are not identified as the owner
 * of a nick with a place. It checks for ever, so that neither a restart nor a lost connection lets anybody
 * stay.
 */
export async function sweep(options: SweepOptions): Promise<void> {
  await Promise.all(options.rooms.map(({ name }) => sweepRoom(name, options)));
}

async function sweepRoom(channel: string, { signal, ...options }: SweepOptions): Promise<void> {
  const { logger } = options;
  const refusals: Refusals = new Map();
  // identities are checked at the start, and again if that failed
  for (let look = 0; !signal.aborted; ) {
    try {
      const out = await sweepOnce(channel, options, refusals, look % standingEvery === 0);
      if (out.length > 0) logger.info({ channel, nicks: out }, 'removed from a paid channel: no place there');
      look += 1;
    } catch (error) {
      const { kind, message } = error as Error & { kind?: string };
      const level = kind === 'unavailable' ? 'debug' : 'warn';
      logger[level]({ channel, error: message }, 'it cannot be looked at who is in a paid channel');
    }
    await pause(everyMs, signal);
  }
}

async function sweepOnce(
  channel: string,
  options: Omit<SweepOptions, 'signal'>,
  refusals: Refusals,
  isStandingAsked: boolean,
): Promise<string[]> {
  const { log, channels, read, isSeated } = options;
  const { nicks, unproven } = await channels.present({ name: channel, isStandingAsked }, { by: actor });
  // who has left begins again
  for (const nick of refusals.keys()) if (!nicks.some((one) => casefold(one) === nick)) refusals.delete(nick);
  if (nicks.length === 0) return [];
  // after the look: nobody is brought in before their session is on the log
  const { rows } = await read(openSessions, { stream: payments.name, seq: await log.head(payments) });
  const seats = new Set(
    rows.filter((session) => session.channel === channel).map(({ nick }) => casefold(nick)),
  );
  const strangers = nicks.filter((nick) => !seats.has(casefold(nick)) && !isSeated({ channel, nick }));
  const impostors = unproven.filter((nick) => !strangers.includes(nick));
  const wanted = [
    ...strangers.map((nick) => ({ nick, reason: noSession })),
    ...impostors.map((nick) => ({ nick, reason: notTheirs })),
  ];
  const out: string[] = [];
  for (const { nick, reason } of wanted)
    if (await tryRemove({ channel, nick }, reason, options, refusals)) out.push(nick);
  return out;
}

/** Whether somebody is removed. If the network refuses it, they are passed over for a while, longer each time. */
async function tryRemove(
  of: Membership,
  reason: string,
  { log, remove, logger, pauses = refusedPauses }: Omit<SweepOptions, 'signal'>,
  refusals: Refusals,
): Promise<boolean> {
  const key = casefold(of.nick);
  const { tries, until } = refusals.get(key) ?? { tries: 0, until: 0 };
  if (until > log.now().getTime()) return false;
  try {
    await remove(of, reason);
    refusals.delete(key);
    return true;
  } catch (error) {
    const { kind, message } = error as Error & { kind?: string };
    if (kind === 'unavailable') throw error;
    const afterMs = Math.round(backoff(tries + 1, pauses));
    refusals.set(key, { tries: tries + 1, until: log.now().getTime() + afterMs });
    logger.warn({ ...of, error: message, afterMs }, 'somebody without a place cannot be removed');
    return false;
  }
}
