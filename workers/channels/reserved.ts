import { Refusal } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';

/** The channels that are there whatever is recorded: nobody makes, changes or closes them. */
export class Reserved {
  readonly #names: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    this.#names = new Set(names.map(casefold));
  }

  has(name: string): boolean {
    return this.#names.has(casefold(name));
  }

  /** Throws a 409 for one of them. */
  refuse(name: string): void {
    if (!this.has(name)) return;
    throw new Refusal('channel_reserved');
  }
}
