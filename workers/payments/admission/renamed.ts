import type { Logger } from 'pino';
import { factsIn, type Log, retry } from '../../../streams/core/index.js';
import { type IrcFact, irc, ircSubject } from '../../../streams/network/index.js';

/** Somebody in a paid channel who took another nick, or was given one. */
export interface Renamed {
  /** The name of the channel, with its `#`. */
  channel: string;
  from: string;
  to: string;
  /** When it happened, by the clock of the IRC server. */
  at: Date;
}

const batch = 256;
const pauses = { first: 500, longest: 15_000 };

/**
 * Tells who in the paid channels takes another nick from now on, in order, as it was recorded. What happens while
 * nobody looks is not made up for: then the place stays with the nick.
 */
export async function followRenames(options: {
  log: Log;
  rooms: readonly { name: string }[];
  renamed(who: Renamed): Promise<void>;
  logger: Logger;
  signal: AbortSignal;
}): Promise<void> {
  const { log, rooms, renamed, logger, signal } = options;
  if (rooms.length === 0) return;
  const failed = (error: unknown) =>
    logger.warn({ err: error }, 'it cannot be followed who in a paid channel takes another nick');
  const filter = rooms.map(({ name }) => ircSubject(name));
  let after: number | undefined;
  const follow = async () => {
    after ??= await log.head(irc);
    for await (const entries of log.follow(irc, { after, filter, batch, signal })) {
      for (const fact of factsIn(irc, entries, logger)) {
        for (const who of renamesIn(fact)) await renamed(who);
        after = fact.seq;
      }
      after = entries.at(-1)?.seq ?? after;
    }
  };
  await retry(follow, { pauses, failed, signal });
}

function renamesIn({ data: { channel, seen } }: IrcFact): Renamed[] {
  return seen.flatMap((one) =>
    one.is === 'nick' ? [{ channel, from: one.nick, to: one.to, at: new Date(one.at) }] : [],
  );
}
