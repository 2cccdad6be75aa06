import { LRUCache } from 'lru-cache';

const most = 5_000;

/** Lines that came to their end here, by their ids: a read of the log may not show that yet. */
export class EndedLines {
  readonly #ids = new LRUCache<string, true>({ max: most });

  add(id: string): void {
    this.#ids.set(id, true);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }
}
