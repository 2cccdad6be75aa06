import type { Logger } from 'pino';
import { decodeFact, type Entry, type Log } from '../../../streams/core/index.js';
import {
  closedAt,
  irc,
  ircSubject,
  lineId,
  parseLineId,
  type Sighting,
} from '../../../streams/network/index.js';

/** Something that was seen in a channel, with the id of its place in the log. */
export interface LiveSighting {
  id: string;
  channel: string;
  sighting: Sighting;
  /** Whether the channel was closed to the public then; false if an older record does not tell. */
  isPrivate: boolean;
  /** Whether it happened after the viewer came. Otherwise it was missed since the given id. */
  live: boolean;
}

/** A viewer with more waiting is too slow. It may reconnect and continue where it was. */
const maxQueue = 1_000;
const batch = 200;

interface Seat {
  queue: LiveSighting[];
  wake: () => void;
  /** Called when the viewer is too slow, or the feed ends. */
  end: () => void;
}

/** What happens in channels, as it reaches the log: read once for all viewers of this process. */
export class LiveFeed {
  readonly #log: Log;
  readonly #logger: Logger;
  readonly #seats = new Map<string, Set<Seat>>();
  readonly #stop = new AbortController();
  #position = 0;
  #reading: Promise<void> | undefined;

  constructor(log: Log, logger: Logger) {
    this.#log = log;
    this.#logger = logger;
  }

  /** Ends every viewer's stream. */
  close(): void {
    this.#stop.abort();
    for (const seats of this.#seats.values()) for (const { end } of [...seats]) end();
  }

  /**
   * What happens in a channel from now on, or after the sighting `after` if given, in the order of the log.
   * Gives `undefined` when nothing happened for `quietMs`. `since` is the sequence from which on it is live.
   * Ends when `signal` aborts, which it must do at last, or when the consumer is too slow. Then `ended` is
   * called, even while nothing is asked for.
   */
  async watch(
    channel: string,
    options: { after?: string | undefined; quietMs: number; signal: AbortSignal; ended: () => void },
  ): Promise<{ since: number; sightings: AsyncGenerator<LiveSighting | undefined> }> {
    const subject = ircSubject(channel);
    const stopped = AbortSignal.any([options.signal, this.#stop.signal]);
    await this.#follow();
    const end = () => {
      this.#unseat(subject, seat);
      seat.wake();
      options.ended();
    };
    const seat: Seat = { queue: [], wake: () => {}, end };
    const seats = this.#seats.get(subject) ?? new Set();
    this.#seats.set(subject, seats.add(seat));
    stopped.addEventListener('abort', () => this.#unseat(subject, seat));
    // a viewer who left during the request to the log gets no more events
    if (stopped.aborted) this.#unseat(subject, seat);
    const since = this.#position;
    return { since, sightings: this.#sightingsOf(subject, seat, { ...options, since, stopped }) };
  }

  async *#sightingsOf(
    subject: string,
    seat: Seat,
    options: { after?: string | undefined; quietMs: number; since: number; stopped: AbortSignal },
  ): AsyncGenerator<LiveSighting | undefined> {
    const { after, quietMs, since, stopped } = options;
    try {
      const from = parseLineId(after ?? '');
      if (from && from.seq <= since) yield* this.#missed(subject, from, since, stopped);
      while (!stopped.aborted && this.#seats.get(subject)?.has(seat)) {
        if (seat.queue.length > 0) yield seat.queue.shift()!;
        else if (!(await quietFor(quietMs, seat, stopped))) yield undefined;
      }
    } finally {
      this.#unseat(subject, seat);
    }
  }

  async *#missed(
    subject: string,
    from: { seq: number; index: number },
    upTo: number,
    signal: AbortSignal,
  ): AsyncGenerator<LiveSighting> {
    for await (const entries of this.#log.follow(irc, {
      after: Math.max(0, from.seq - 1),
      filter: [subject],
      batch,
      signal,
    })) {
      for (const entry of entries) {
        if (entry.seq > upTo) return;
        for (const [index, sighting] of this.#sightings(entry, false).entries()) {
          if (entry.seq > from.seq || index > from.index) yield sighting;
        }
      }
      if (entries.length === 0 || entries.at(-1)!.seq === upTo) return;
    }
  }

  /** Begins to read at the stream's end. Resolves when that position is known. */
  async #follow(): Promise<void> {
    this.#reading ??= this.#log.head(irc).then((head) => {
      this.#position = head;
      void this.#read(head);
    });
    await this.#reading.catch((error: unknown) => {
      this.#reading = undefined;
      throw error;
    });
  }

  async #read(head: number): Promise<void> {
    const { signal } = this.#stop;
    for await (const entries of this.#log.follow(irc, { after: head, batch, signal })) {
      for (const entry of entries) {
        this.#position = entry.seq;
        const seats = this.#seats.get(entry.subject);
        if (!seats) continue;
        const sightings = this.#sightings(entry, true);
        for (const seat of [...seats]) {
          seat.queue.push(...sightings);
          if (seat.queue.length > maxQueue) seat.end();
          else seat.wake();
        }
      }
    }
  }

  #sightings(entry: Entry, live: boolean): LiveSighting[] {
    try {
      const fact = decodeFact(irc, entry.data, entry);
      const { channel, seen } = fact.data;
      const closed = closedAt(fact, false);
      return seen.map((sighting, index) => ({
        id: lineId(entry.seq, index),
        channel,
        sighting,
        live,
        isPrivate: closed[index]!,
      }));
    } catch (error) {
      this.#logger.error({ seq: entry.seq, err: error }, 'irc fact cannot be read: not shown');
      return [];
    }
  }

  #unseat(subject: string, seat: Seat): void {
    const seats = this.#seats.get(subject);
    seats?.delete(seat);
    if (seats?.size === 0) this.#seats.delete(subject);
  }
}

/** Waits for the next event, or the end; false if neither came in time. */
async function quietFor(ms: number, seat: Seat, signal: AbortSignal): Promise<boolean> {
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
