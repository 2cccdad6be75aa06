import type { Logger } from 'pino';
import { type ChannelFact, channels } from '../../streams/channels/index.js';
import { decodeFact, type Entry, type Log, retry } from '../../streams/core/index.js';
import type { OwnFacts } from './own-facts.js';

/** What the facts of other processes are found with. */
export interface OthersOptions {
  log: Log;
  logger: Logger;
  own: OwnFacts;
  /** Ends it. */
  signal: AbortSignal;
  seen(fact: ChannelFact): void;
}

const batch = 256;
const pauses = { first: 200, longest: 5_000 };

/**
 * Follows what other processes record of channels. A process that held the channel bot before may still record something when
 * its successor has read the record. It can do nothing about it on the network. Resolves once everything from then on is seen.
 */
export async function followOthers(options: OthersOptions): Promise<void> {
  const { log, logger, signal } = options;
  const failed = (err: unknown) => logger.warn({ err }, 'what others record of channels is not seen yet');
  const after = await retry(() => log.head(channels), { pauses, failed, signal });
  if (after !== undefined) void follow(after, options);
}

async function follow(after: number, options: OthersOptions): Promise<void> {
  const { log, signal } = options;
  for await (const entries of log.follow(channels, { after, batch, signal }))
    for (const entry of entries) void look(entry, options);
}

async function look(entry: Entry, { own, logger, signal, seen }: OthersOptions): Promise<void> {
  try {
    const fact = decodeFact(channels, entry.data, entry);
    if (!(await own.isOwn(fact.data.name, entry.seq)) && !signal.aborted) seen(fact);
  } catch (err) {
    logger.error({ seq: entry.seq, err }, 'fact of a channel cannot be read: passed over');
  }
}
