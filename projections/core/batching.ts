import { pause } from '../../streams/core/clock.js';
import type { Entry } from '../../streams/core/index.js';

/** What decides how fast a stream is folded. */
export interface BatchingOptions {
  /** Facts per transaction at most. */
  batch: number;
  /** Whether somebody waits for facts to be folded. */
  awaited(): boolean;
  /**
   * Whether this process answers requests now. A read model with a large lag then leaves them half of its
   * time.
   */
  isBusy(): boolean;
}

/**
 * Facts per transaction at most while requests are answered: requests wait while a transaction computes. This
 * many facts are read ahead as well, because answers of the log that requests need come after those facts.
 */
const smallBatch = 100;
/**
 * A transaction costs the store as much as dozens of facts in it, whether there are requests or not. So facts
 * gather while nobody waits: for a moment when they trickle, and longer the more of them come, in milliseconds.
 * `more` is added for each fact per millisecond.
 */
const gatherMs = { least: 50, more: 900, most: 500 };
/** Where a whole batch comes sooner than that, so much of it comes together. */
const gatheredShare = 0.8;
/** How fast facts come is told over this time, in milliseconds: two that come together are no flood. */
const rateOverMs = 250;

/** How many facts a fold takes at a time, and how long it lets them gather. */
export class Batching {
  /** Whether whole batches were left after the last entries. */
  isFarBehind = false;
  readonly #options: BatchingOptions;
  #hurry = () => {};
  #cameAt = Number.NEGATIVE_INFINITY;
  /** Facts per millisecond lately. */
  #perMs = 0;

  constructor(options: BatchingOptions) {
    this.#options = options;
  }

  /** Whether to leave requests their time: there are requests, and whole batches to fold. */
  get givesWay(): boolean {
    return this.isFarBehind && this.#options.isBusy();
  }

  /** So many facts are read ahead. */
  get capacity(): number {
    return this.givesWay ? smallBatch : 2 * this.#options.batch;
  }

  /** The same entries, in smaller batches while requests have priority. */
  async *batches(whole: AsyncIterable<Entry[]>): AsyncGenerator<Entry[]> {
    for await (const entries of whole) {
      this.isFarBehind = (entries.at(-1)?.pending ?? 0) >= this.#options.batch;
      let from = 0;
      do {
        const to = this.givesWay ? from + smallBatch : entries.length;
        yield entries.slice(from, to);
        from = to;
      } while (from < entries.length);
    }
  }

  /** Lets facts gather after some came at a time, until somebody waits for them. */
  async gather(facts: number, at: number, signal: AbortSignal): Promise<void> {
    const passed = Math.max(at - this.#cameAt, 1);
    this.#cameAt = at;
    this.#perMs += (1 - Math.exp(-passed / rateOverMs)) * (facts / passed - this.#perMs);
    const { awaited, batch } = this.#options;
    if (awaited() || signal.aborted) return;
    const perMs = this.#perMs;
    const { least, more, most } = gatherMs;
    const ms = Math.min(least + more * perMs, most, (gatheredShare * batch) / perMs);
    await pause(ms, signal, (end) => {
      this.#hurry = end;
    });
  }

  /** Ends the gathering that goes on. */
  hurry(): void {
    this.#hurry();
  }
}
