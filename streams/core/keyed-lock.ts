import { Mutex } from 'async-mutex';

/** Runs what concerns one key one after another, and what concerns different keys side by side. */
export class KeyedLock {
  readonly #locks = new Map<string, Mutex>();

  /** Runs the work behind whatever else is under way under this key, and gives back what it gives back. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    let lock = this.#locks.get(key);
    if (!lock) {
      lock = new Mutex();
      this.#locks.set(key, lock);
    }
    try {
      return await lock.runExclusive(work);
    } finally {
      // by now it is the next one's, if there is one
      if (!lock.isLocked()) this.#locks.delete(key);
    }
  }
}
