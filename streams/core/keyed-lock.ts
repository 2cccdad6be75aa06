import { Mutex } from 'async-mutex';

/** Runs work of one key in sequence, and work of different keys in parallel. */
export class KeyedLock {
  readonly #locks = new Map<string, Mutex>();

  /** Runs the work once all earlier work of this key has ended, and returns its result. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    let lock = this.#locks.get(key);
    if (!lock) {
      lock = new Mutex();
      this.#locks.set(key, lock);
    }
    try {
      return await lock.runExclusive(work);
    } finally {
      // a later caller may hold the lock by now
      if (!lock.isLocked()) this.#locks.delete(key);
    }
  }
}
