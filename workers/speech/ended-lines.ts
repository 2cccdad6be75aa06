import { boundedCache } from '../../streams/core/index.js';

const most = 5_000;

/** Lines that came to their end here, by their ids: a read of the log may not show that yet. */
export class EndedLines {
  readonly #ids = boundedCache<string, true>(most);

  add(id: string): void {
    this.#ids.set(id, true);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }
}
