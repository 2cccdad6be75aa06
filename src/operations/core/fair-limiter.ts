/** A reader who has asked for a turn. */
interface Waiting {
  who: string | undefined;
  start(): void;
}

/** Turns at something costly: so many at once, and for each reader one of them. The others wait, and come in their order. */
export class FairLimiter {
  #free: number;
  readonly #busy = new Set<string>();
  readonly #waiting = new Set<Waiting>();

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /**
   * Waits for a turn. Returns a function that ends it, once. Without a name only the total counts. A reader whose
   * `signal` aborts waits no longer, and has no turn.
   */
  async take(who: string | undefined, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return () => {};
    return await new Promise((resolve) => {
      const leave = () => {
        this.#waiting.delete(waiting);
        resolve(() => {});
      };
      const start = () => {
        signal.removeEventListener('abort', leave);
        resolve(this.#begin(who));
      };
      const waiting = { who, start };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(waiting);
      this.#next();
    });
  }

  /** How many turns of a reader wait. */
  waiting(who: string): number {
    return [...this.#waiting].filter((one) => one.who === who).length;
  }

  #begin(who: string | undefined): () => void {
    this.#free -= 1;
    if (who !== undefined) this.#busy.add(who);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#free += 1;
      if (who !== undefined) this.#busy.delete(who);
      this.#next();
    };
  }

  #next(): void {
    for (const waiting of this.#waiting) {
      if (this.#free === 0) return;
      if (waiting.who !== undefined && this.#busy.has(waiting.who)) continue;
      this.#waiting.delete(waiting);
      waiting.start();
    }
  }
}
