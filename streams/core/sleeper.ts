import { pause } from './clock.js';

/** Waits that somebody else can end early. */
export class Sleeper {
  #wake: (() => void) | undefined;
  /** Somebody has called between two waits: the next one is over at once. */
  #isCalled = false;

  /** Waits so many milliseconds, also for ever, until somebody calls or the signal aborts. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isCalled && !signal.aborted) {
      await pause(ms, signal, (end) => {
        this.#wake = end;
      });
      this.#wake = undefined;
    }
    this.#isCalled = false;
  }

  /** Ends the wait that is under way, or the next one. */
  wake(): void {
    if (this.#wake) this.#wake();
    else this.#isCalled = true;
  }
}
