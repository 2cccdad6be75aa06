import type { Logger } from 'pino';
import { type ChannelFact, type ChannelType, channels } from '../../streams/channels/index.js';
import { atMost } from '../../streams/core/clock.js';
import {
  boundedCache,
  decodeFact,
  type Entry,
  type Log,
  retry,
  Unavailable,
} from '../../streams/core/index.js';

/** How to follow the channels. */
export interface FollowChannels {
  log: Log;
  logger: Logger;
  /** Sequence up to which they are known. */
  after: number;
  signal: AbortSignal;
  /** Gets each fact that is seen. */
  observe: ((fact: ChannelFact, entry: Pick<Entry, 'seq' | 'at'>) => void) | undefined;
}

const batch = 256;
const pauses = { first: 200, longest: 5_000 };
/** How long it is waited until we have seen what is recorded, in milliseconds. */
const seenMs = 3_000;
/** So many channels beyond the limit are remembered, until their makers ask. */
const mostBeyond = 1_000;

/**
 * The channels of each type that there may be only so many of. The order of the log decides who is one too many, so
 * that several processes come to the same answer. Names and not numbers: what is seen twice counts once.
 */
export class Places {
  readonly #most: Partial<Record<ChannelType, number>>;
  readonly #typeOf = new Map<string, ChannelType>();
  readonly #taken = new Map<ChannelType, Set<string>>();
  /** Kept for channels that are being made here. */
  readonly #kept = new Map<ChannelType, Set<string>>();
  /** Channels that were created when all places were taken. */
  readonly #beyond = boundedCache<string, true>(mostBeyond);
  #seen = 0;
  #wrote = 0;
  readonly #waiting = new Set<{ seq: number; done(): void }>();

  constructor(
    most: Partial<Record<ChannelType, number>>,
    active: readonly { name: string; type: ChannelType }[],
  ) {
    this.#most = most;
    for (const { name, type } of active) this.#add(name, type);
  }

  /** Follows what is recorded, until the signal. */
  follow({ log, logger, after, signal, observe }: FollowChannels): void {
    this.#seen = after;
    const failed = (error: unknown) =>
      logger.warn({ err: error }, 'it cannot be followed how many channels there are');
    const read = async () => {
      for await (const entries of log.follow(channels, { after: this.#seen, batch, signal }))
        for (const entry of entries) this.#see(entry, { logger, observe });
    };
    void retry(read, { pauses, failed, signal });
  }

  /** Keeps a place for a channel that is being made, until the answer is called; `undefined` if all are taken. */
  async reserve(type: ChannelType, name: string): Promise<(() => void) | undefined> {
    const most = this.#most[type];
    if (most === undefined) return () => {};
    await this.#until(this.#wrote);
    const kept = setOf(this.#kept, type);
    const taken = setOf(this.#taken, type);
    const both = [...kept].filter((one) => taken.has(one)).length;
    if (taken.size + kept.size - both >= most) return undefined;
    kept.add(name);
    return () => kept.delete(name);
  }

  /**
   * Whether a channel was created when all places of the type were taken. `after`: the sequence of its creation, or of a
   * later fact about it.
   */
  async isBeyond(type: ChannelType, name: string, after: number): Promise<boolean> {
    if (this.#most[type] === undefined) return false;
    await this.#until(after);
    return this.#beyond.has(name);
  }

  /** What is recorded up to here is taken into account from now on. */
  wrote(seq: number): void {
    this.#wrote = Math.max(this.#wrote, seq);
  }

  /** Waits until everything up to a sequence was seen. Throws `log_unavailable` when that takes too long. */
  async #until(seq: number): Promise<void> {
    if (this.#seen >= seq) return;
    let waiting: { seq: number; done(): void } | undefined;
    const seen = new Promise<void>((resolve) => {
      waiting = { seq, done: resolve };
      this.#waiting.add(waiting);
    });
    await atMost(seen, seenMs);
    if (waiting) this.#waiting.delete(waiting);
    if (this.#seen < seq)
      throw new Unavailable('log_unavailable', 'The event log does not show what it stores', 1);
  }

  #see(entry: Entry, { logger, observe }: Pick<FollowChannels, 'logger' | 'observe'>): void {
    try {
      const fact = decodeFact(channels, entry.data, entry);
      this.#apply(fact);
      observe?.(fact, entry);
    } catch (error) {
      logger.error({ seq: entry.seq, err: error }, 'fact of a channel cannot be read: passed over');
    }
    this.#seen = Math.max(this.#seen, entry.seq);
    for (const waiting of this.#waiting) if (waiting.seq <= this.#seen) waiting.done();
  }

  #apply({ type, data }: ChannelFact): void {
    if (type === 'channel.created') {
      const most = this.#most[data.type] ?? Number.POSITIVE_INFINITY;
      const taken = setOf(this.#taken, data.type);
      // what is seen twice stays what it was
      if (!taken.has(data.name)) this.#note(data.name, taken.size >= most);
      this.#add(data.name, data.type);
    }
    // a deleted one stays noted: its maker may not have asked yet
    if (type === 'channel.archived') this.#beyond.delete(data.name);
    if (type === 'channel.archived' || type === 'channel.deleted') this.#remove(data.name);
  }

  #note(name: string, isBeyond: boolean): void {
    if (isBeyond) this.#beyond.set(name, true);
    else this.#beyond.delete(name);
  }

  #add(name: string, type: ChannelType): void {
    if (this.#most[type] === undefined) return;
    this.#remove(name);
    this.#typeOf.set(name, type);
    setOf(this.#taken, type).add(name);
  }

  #remove(name: string): void {
    const type = this.#typeOf.get(name);
    this.#typeOf.delete(name);
    if (type !== undefined) this.#taken.get(type)?.delete(name);
  }
}

function setOf<Key>(sets: Map<Key, Set<string>>, key: Key): Set<string> {
  const found = sets.get(key) ?? new Set();
  sets.set(key, found);
  return found;
}
