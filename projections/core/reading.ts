import { clock, pause, turn } from '../../streams/core/clock.js';
import { decodeFact, type Entry, type Log, type Recorded } from '../../streams/core/index.js';
import { Batching, type BatchingOptions } from './batching.js';
import type { Halt } from './builds.js';
import { type Cursor, type CursorOptions, messageOf } from './cursor.js';
import type { Prepared } from './prepared.js';

/** What the reading of a stream into a build works with. */
export interface ReadingOptions extends CursorOptions, BatchingOptions {
  log: Log;
}

/** Told how a reading goes on. */
export interface ReadingEvents {
  /** So many facts came; none when the end of the stream was seen. */
  came(facts: number): void;
  /** A batch is in the store. So many facts were still pending after it; `undefined` when one cannot be folded. */
  written(pending: number | undefined): void;
  /** A batch is in the store, or could not be written. */
  tried(): void;
}

/** Where a decoded batch ends, and the fact that could not be decoded, if there is one. */
interface Decoded {
  facts: Recorded[];
  upTo: number;
  bad?: Halt;
}

/** Decoding runs in slices that block the thread no longer than this, in milliseconds. */
const decodeSliceMs = 2;

/** Reads a stream into a build: from where the build is, until it has to resume or comes to a fact that cannot be folded. */
export class Reading {
  readonly #options: ReadingOptions;
  readonly #cursor: Cursor;
  readonly #events: ReadingEvents;
  readonly #batching: Batching;
  #headAtStart = 0;

  constructor(options: ReadingOptions, cursor: Cursor, events: ReadingEvents) {
    this.#options = options;
    this.#cursor = cursor;
    this.#events = events;
    this.#batching = new Batching(options);
  }

  /** The head of the stream when it was resumed. */
  get headAtStart(): number {
    return this.#headAtStart;
  }

  /** Folds what has gathered without waiting for more. */
  hurry(): void {
    this.#batching.hurry();
  }

  /** Loads the position from the store, and passes over facts that the stream no longer has. */
  async resume(): Promise<Halt | undefined> {
    const { log, stream, batch } = this.#options;
    const halt = await this.#cursor.load();
    if (halt) return halt;
    const info = await log.ask(() => log.manager.streams.info(stream.name));
    const { first_seq, last_seq } = info.state;
    const { position } = this.#cursor;
    if (last_seq < position) {
      const message = `The stream ends at ${last_seq}, the read model has folded up to ${position}: it is not the same log. If this log is the right one, rebuild the read model.`;
      return { seq: position, message };
    }
    await this.#cursor.passOver(first_seq - 1);
    this.#headAtStart = last_seq;
    this.#batching.isFarBehind = last_seq - this.#cursor.position > batch;
    return undefined;
  }

  /**
   * Folds the facts that are there and those that come. Ends when `outer` aborts, and at a fact that cannot be
   * folded. Throws errors that say nothing about the facts.
   */
  async read(outer: AbortSignal): Promise<Halt | undefined> {
    const { log, batch, stream } = this.#options;
    const ended = new AbortController();
    const signal = AbortSignal.any([outer, ended.signal]);
    let halt: Halt | undefined;
    let failure: { error: unknown } | undefined;
    // the next batch is decoded and begun while the store still writes the one before
    let writing = Promise.resolve();
    const write = async ({ facts, upTo, bad }: Decoded, prepared: Prepared | undefined, pending: number) => {
      try {
        halt = (await this.#cursor.apply(facts, upTo, prepared)) ?? bad;
        this.#events.written(halt ? undefined : pending);
      } catch (error) {
        failure = { error };
      }
      if (halt || failure) ended.abort();
      this.#events.tried();
    };
    const capacity = () => this.#batching.capacity;
    const after = this.#cursor.position;
    for await (const entries of this.#batching.batches(
      log.follow(stream, { after, batch, capacity, signal }),
    )) {
      const began = clock.elapsed();
      const decoded = await this.#decode(entries);
      const prepared = this.#cursor.prepare(decoded.facts);
      await writing;
      if (halt || failure) break;
      this.#events.came(entries.length);
      const pending = entries.at(-1)?.pending ?? 0;
      writing = write(decoded, prepared, pending);
      if (this.#batching.givesWay) {
        await writing;
        await pause(clock.elapsed() - began, signal);
      } else if (entries.length > 0 && pending < batch) {
        await this.#batching.gather(entries.length, began, signal);
      }
    }
    await writing;
    if (failure) throw failure.error;
    return halt;
  }

  async #decode(entries: Entry[]): Promise<Decoded> {
    const { stream } = this.#options;
    const facts: Recorded[] = [];
    let upTo = this.#cursor.position;
    let sliceEnds = clock.elapsed() + decodeSliceMs;
    for (const entry of entries) {
      try {
        facts.push(decodeFact(stream, entry.data, entry));
      } catch (error) {
        return { facts, upTo, bad: { seq: entry.seq, message: messageOf(error) } };
      }
      upTo = entry.seq;
      if (clock.elapsed() > sliceEnds) {
        await turn();
        sliceEnds = clock.elapsed() + decodeSliceMs;
      }
    }
    return { facts, upTo };
  }
}
