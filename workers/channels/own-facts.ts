import { boundedCache } from '../../streams/core/index.js';

/** Facts that are remembered until they are seen on the log. */
const mostRemembered = 1_000;

/** Which facts of the channels' stream this process has written: what others write is counted when it is seen. */
export class OwnFacts {
  readonly #beingWritten = new Map<string, number>();
  readonly #written = boundedCache<number, true>(mostRemembered);

  /** Writes a fact about a channel; the work answers its sequence, or `undefined` if it wrote none. */
  async write<T>(
    channel: string,
    work: () => Promise<T>,
    seqOf: (done: T) => number | undefined,
  ): Promise<T> {
    const before = this.#beingWritten.get(channel) ?? 0;
    this.#beingWritten.set(channel, before + 1);
    try {
      const done = await work();
      const seq = seqOf(done);
      if (seq !== undefined) this.#written.set(seq, true);
      return done;
    } finally {
      const others = (this.#beingWritten.get(channel) ?? 1) - 1;
      if (others > 0) this.#beingWritten.set(channel, others);
      else this.#beingWritten.delete(channel);
    }
  }

  /** Whether a fact that is seen now is this process's own. */
  has(channel: string, seq: number): boolean {
    // it may be seen before the answer to who has written it
    return this.#written.delete(seq) || this.#beingWritten.has(channel);
  }
}
