import type { Logger } from 'pino';
import type { Entry, Log, StreamDefinition } from '../../../streams/core/index.js';

/** The place of an item: the sequence of its fact, and its index in it. */
export interface Place {
  seq: number;
  index: number;
}

/** What a feed reads. */
export interface FeedOptions<Item> {
  log: Log;
  logger: Logger;
  stream: StreamDefinition;
  /**
   * What an entry holds for readers. `live`: it comes now; otherwise a reader had missed it. An entry whose items it
   * throws for is left out.
   */
  itemsOf(entry: Entry, live: boolean): Item[];
}

/** How a reader watches; times in milliseconds. */
export interface WatchOptions {
  /** The last item that the reader has. */
  after?: Place | undefined;
  quietMs: number;
  signal: AbortSignal;
  /** Called when the reader is too slow, or the feed ends, even while nothing is asked for. */
  ended: () => void;
}

/** A reader with more waiting is too slow. It may reconnect and continue where it was. */
const maxQueue = 1_000;
const batch = 200;

interface Seat<Item> {
  queue: Item[];
  wake: () => void;
  end: () => void;
}

/** What is appended to subjects of a stream, as it comes: read once for all readers of this process. */
export class LiveFeed<Item> {
  readonly #options: FeedOptions<Item>;
  readonly #seats = new Map<string, Set<Seat<Item>>>();
  readonly #stop = new AbortController();
  #position = 0;
  #reading: Promise<void> | undefined;

  constructor(options: FeedOptions<Item>) {
    this.#options = options;
  }

  /** Ends every reader's stream. */
  close(): void {
    this.#stop.abort();
    for (const seats of this.#seats.values()) for (const { end } of [...seats]) end();
  }

  /**
   * What comes on some subjects from now on, or after an item, in the order of the log. Gives `undefined` when nothing
   * came for `quietMs`. `since` is the sequence after which it is live. Ends when `signal` aborts, which it must do at
   * last, or when the reader is too slow.
   */
  async watch(
    subjects: readonly string[],
    options: WatchOptions,
  ): Promise<{ since: number; items: AsyncGenerator<Item | undefined> }> {
    const stopped = AbortSignal.any([options.signal, this.#stop.signal]);
    await this.#follow();
    const end = () => {
      this.#unseat(subjects, seat);
      seat.wake();
      options.ended();
    };
    const seat: Seat<Item> = { queue: [], wake: () => {}, end };
    for (const subject of subjects) {
      const seats = this.#seats.get(subject) ?? new Set();
      this.#seats.set(subject, seats.add(seat));
    }
    stopped.addEventListener('abort', () => this.#unseat(subjects, seat));
    // a reader who left during the request to the log gets nothing more
    if (stopped.aborted) this.#unseat(subjects, seat);
    const since = this.#position;
    return { since, items: this.#itemsFor(subjects, seat, { ...options, since, stopped }) };
  }

  async *#itemsFor(
    subjects: readonly string[],
    seat: Seat<Item>,
    options: { after?: Place | undefined; quietMs: number; since: number; stopped: AbortSignal },
  ): AsyncGenerator<Item | undefined> {
    const { after, quietMs, since, stopped } = options;
    try {
      if (after && after.seq <= since) yield* this.#missed(subjects, after, since, stopped);
      while (!stopped.aborted && this.#isSeated(subjects, seat)) {
        if (seat.queue.length > 0) yield seat.queue.shift()!;
        else if (!(await quietFor(quietMs, seat, stopped))) yield undefined;
      }
    } finally {
      this.#unseat(subjects, seat);
    }
  }

  async *#missed(
    subjects: readonly string[],
    from: Place,
    upTo: number,
    signal: AbortSignal,
  ): AsyncGenerator<Item> {
    const { log, stream } = this.#options;
    const after = Math.max(0, from.seq - 1);
    for await (const entries of log.follow(stream, { after, filter: [...subjects], batch, signal })) {
      for (const entry of entries) {
        if (entry.seq > upTo) return;
        for (const [index, item] of this.#itemsOf(entry, false).entries()) {
          if (entry.seq > from.seq || index > from.index) yield item;
        }
      }
      if (entries.length === 0 || entries.at(-1)!.seq === upTo) return;
    }
  }

  /** Begins to read at the stream's end. Resolves when that position is known. */
  async #follow(): Promise<void> {
    const { log, stream } = this.#options;
    this.#reading ??= log.head(stream).then((head) => {
      this.#position = head;
      void this.#read(head);
    });
    await this.#reading.catch((error: unknown) => {
      this.#reading = undefined;
      throw error;
    });
  }

  async #read(head: number): Promise<void> {
    const { log, stream } = this.#options;
    const { signal } = this.#stop;
    for await (const entries of log.follow(stream, { after: head, batch, signal })) {
      for (const entry of entries) {
        this.#position = entry.seq;
        const seats = this.#seats.get(entry.subject);
        if (!seats) continue;
        const items = this.#itemsOf(entry, true);
        for (const seat of [...seats]) {
          seat.queue.push(...items);
          if (seat.queue.length > maxQueue) seat.end();
          else seat.wake();
        }
      }
    }
  }

  #itemsOf(entry: Entry, live: boolean): Item[] {
    const { logger, stream, itemsOf } = this.#options;
    try {
      return itemsOf(entry, live);
    } catch (error) {
      logger.error({ stream: stream.name, seq: entry.seq, err: error }, 'fact cannot be read: not shown');
      return [];
    }
  }

  #isSeated(subjects: readonly string[], seat: Seat<Item>): boolean {
    return subjects.every((subject) => this.#seats.get(subject)?.has(seat));
  }

  #unseat(subjects: readonly string[], seat: Seat<Item>): void {
    for (const subject of subjects) {
      const seats = this.#seats.get(subject);
      seats?.delete(seat);
      if (seats?.size === 0) this.#seats.delete(subject);
    }
  }
}

/** Waits for the next item, or the end; false if neither came in time. */
async function quietFor(ms: number, seat: Seat<unknown>, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return true;
  return await new Promise<boolean>((resolve) => {
    const settle = (came: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', woken);
      seat.wake = () => {};
      resolve(came);
    };
    const woken = () => settle(true);
    const timer = setTimeout(() => settle(false), ms);
    signal.addEventListener('abort', woken);
    seat.wake = woken;
  });
}
