import { boundedCache } from '../../streams/core/index.js';

/** Facts that are remembered at most, the latest ones. */
const mostRemembered = 1_000;

/** Which facts of the channels' stream this process has written. */
export class OwnFacts {
  /** What is being written about each channel. */
  readonly #beingWritten = new Map<string, Set<Promise<unknown>>>();
  readonly #written = boundedCache<number, true>(mostRemembered);

  /** Writes a fact about a channel; the work answers its sequence, or `undefined` if it wrote none. */
  async write<T>(
    channel: string,
    work: () => Promise<T>,
    seqOf: (done: T) => number | undefined,
  ): Promise<T> {
    const writing = this.#write(work, seqOf);
    const all = this.#beingWritten.get(channel) ?? new Set();
    this.#beingWritten.set(channel, all.add(writing));
    try {
      return await writing;
    } finally {
      all.delete(writing);
      if (all.size === 0) this.#beingWritten.delete(channel);
    }
  }

  async #write<T>(work: () => Promise<T>, seqOf: (done: T) => number | undefined): Promise<T> {
    const done = await work();
    const seq = seqOf(done);
    if (seq !== undefined) this.#written.set(seq, true);
    return done;
  }

  /** Whether a fact that is seen now may be this process's own: it may be seen before the answer to who has written it. */
  has(channel: string, seq: number): boolean {
    return this.#written.has(seq) || this.#beingWritten.has(channel);
  }

  /** Whether it is, once that is certain. */
  async isOwn(channel: string, seq: number): Promise<boolean> {
    const writing = this.#beingWritten.get(channel) ?? [];
    if (!this.#written.has(seq)) await Promise.allSettled(writing);
    return this.#written.has(seq);
  }
}
