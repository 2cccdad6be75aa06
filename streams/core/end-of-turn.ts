import { clock } from './clock.js';

/**
 * The end of each turn of the event loop, where what the turn has for the log server is sent. The client library
 * writes to its socket after each callback. A write costs both sides more than a message in it.
 */
export class EndOfTurn {
  readonly #actions: (() => void)[] = [];

  /** Runs an action at the end of this turn. What it asks to be run still belongs to the turn. It must not throw. */
  run(action: () => void): void {
    if (this.#actions.push(action) > 1) return;
    clock.setImmediate(() => {
      for (const due of this.#actions) due();
      this.#actions.length = 0;
    });
  }
}
