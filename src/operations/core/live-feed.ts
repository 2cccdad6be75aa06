import type { Logger } from 'pino';
import { atMost, pause } from '../../../streams/core/clock.js';
import type { Entry, Log, StreamDefinition } from '../../../streams/core/index.js';
import { FairLimiter } from './fair-limiter.js';

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
  /** Whose turns at reading what was missed are counted; nobody's if left out. */
  reader?: string | undefined;
  quietMs: number;
  signal: AbortSignal;
  /** Called when the reader is too slow, or the feed ends, even while nothing is asked for. */
  ended: () => void;
}

/** What a reader gets at once; nothing after a silence. */
export interface Portion<Item> {
  items: Item[];
  /** The reader has missed more than it gets on one connection: nothing follows. It may come back and go on after this place. */
  more?: Place;
}

/** A reader with more waiting is too slow. It may reconnect and continue where it was. */
const maxQueue = 1_000;
const batch = 200;
/** So many items that a reader has missed it gets on one connection. */
export const mostMissed = 1_000;
/** What was missed is read in small batches, so many at once in a process. After each is a rest for everybody else, in milliseconds. */
const missedBatch = 50;
const missedAtOnce = 2;
const restMs = 5;

interface Seat<Item> {
  queue: [Place, Item][];
  wake: () => void;
  end: () => void;
}

/** What is appended to subjects of a stream, as it comes: read once for all readers of this process. */
export class LiveFeed<Item> {
  readonly #options: FeedOptions<Item>;
  readonly #seats = new Map<string, Set<Seat<Item>>>();
  readonly #stop = new AbortController();
  readonly #replays = new FairLimiter(missedAtOnce);
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
   * What comes on some subjects from now on, or after an item, in the order of the log. Gives nothing when nothing
   * came for `quietMs`. `since` is the sequence after which it is live. Ends when `signal` aborts, which it must do at
   * last, when the reader is too slow, or when it has missed too much.
   */
  async watch(
    subjects: readonly string[],
    options: WatchOptions,
  ): Promise<{ since: number; items: AsyncGenerator<Portion<Item>> }> {
    const stopped = AbortSignal.any([options.signal, this.#stop.signal]);
    await this.#follow();
    const after = await this.#known(options.after);
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
    // once: a signal made of others is kept for as long as it has listeners
    stopped.addEventListener('abort', () => this.#unseat(subjects, seat), { once: true });
    // a reader who left during the request to the log gets nothing more
    if (stopped.aborted) this.#unseat(subjects, seat);
    const since = this.#position;
    return { since, items: this.#itemsFor(subjects, seat, { ...options, after, since, stopped }) };
  }

  /** A place that this log has come to. One of another log, such as that of before a reset, says nothing here. */
  async #known(after: Place | undefined): Promise<Place | undefined> {
    const { log, stream } = this.#options;
    if (!after || after.seq <= this.#position) return after;
    return after.seq <= (await log.head(stream)) ? after : undefined;
  }

  async *#itemsFor(
    subjects: readonly string[],
    seat: Seat<Item>,
    options: WatchOptions & { since: number; stopped: AbortSignal },
  ): AsyncGenerator<Portion<Item>> {
    const { after, quietMs, since, stopped } = options;
    try {
      // a log that is read without subjects gives all of them
      if (after && after.seq <= since && subjects.length > 0) {
        for await (const portion of this.#missed(subjects, { ...options, after })) {
          yield portion;
          if (portion.more) return;
        }
      }
      while (!stopped.aborted && this.#isSeated(subjects, seat)) {
        const next = seat.queue.shift();
        // where this process is behind, what comes now may be what the reader has from another one
        if (next && (!after || isAfter(next[0], after))) yield { items: [next[1]] };
        else if (!next && !(await quietFor(quietMs, seat, stopped))) yield { items: [] };
      }
    } finally {
      this.#unseat(subjects, seat);
    }
  }

  /** What was missed, in portions. The reader waits its turn for each: what is live costs less, and comes first. */
  async *#missed(
    subjects: readonly string[],
    options: WatchOptions & { after: Place; since: number; stopped: AbortSignal },
  ): AsyncGenerator<Portion<Item>> {
    const { log, stream } = this.#options;
    const { after: from, since, stopped: signal, reader, quietMs } = options;
    const after = Math.max(0, from.seq - 1);
    const read = log.follow(stream, { after, filter: [...subjects], batch: missedBatch, signal });
    let last = from;
    let left = mostMissed;
    try {
      for (;;) {
        const items: Item[] = [];
        let more: Place | undefined;
        let isAll = false;
        const turn = this.#replays.take(reader, signal);
        try {
          while (!(await atMost(turn, quietMs))) yield { items: [] };
          const entries = (await read.next()).value ?? [];
          isAll = entries.length === 0 || entries.at(-1).seq >= since;
          for (const [place, item] of this.#missedIn(entries, from, since)) {
            if (left === 0) more = last;
            if (more) break;
            items.push(item);
            last = place;
            left -= 1;
          }
        } finally {
          // also that of a reader who went while waiting for it
          void turn.then((end) => pause(restMs).then(end));
        }
        if (more) yield { items, more };
        else if (items.length > 0) yield { items };
        if (more || isAll) return;
      }
    } finally {
      void read.return(undefined);
    }
  }

  /** The items of entries that come after a place, up to a sequence. */
  *#missedIn(entries: readonly Entry[], from: Place, upTo: number): Generator<[Place, Item]> {
    for (const entry of entries) {
      if (entry.seq > upTo) return;
      for (const placed of this.#placed(entry, false)) if (isAfter(placed[0], from)) yield placed;
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
        const items = this.#placed(entry, true);
        for (const seat of [...seats]) {
          seat.queue.push(...items);
          if (seat.queue.length > maxQueue) seat.end();
          else seat.wake();
        }
      }
    }
  }

  #placed(entry: Entry, live: boolean): [Place, Item][] {
    const { logger, stream, itemsOf } = this.#options;
    const { seq } = entry;
    try {
      return itemsOf(entry, live).map((item, index) => [{ seq, index }, item]);
    } catch (error) {
      logger.error({ stream: stream.name, seq, err: error }, 'fact cannot be read: not shown');
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

function isAfter(place: Place, other: Place): boolean {
  return place.seq > other.seq || (place.seq === other.seq && place.index > other.index);
}

/** Waits for the next item, or the end; false if neither came in time. */
async function quietFor(ms: number, seat: Seat<unknown>, signal: AbortSignal): Promise<boolean> {
  let came = false;
  await pause(ms, signal, (end) => {
    seat.wake = () => {
      came = true;
      end();
    };
  });
  seat.wake = () => {};
  return came || signal.aborted;
}
