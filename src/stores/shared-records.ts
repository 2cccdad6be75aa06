import { type Log, Unavailable } from '../../streams/core/index.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { ShortLived, type ShortLivedOptions } from './short-lived.js';

/** How often a record is tried while other processes change it too. */
const tries = 10;

/** Short-lived records that processes change at the same time: each change sees what the one before has made of it. */
export class SharedRecords {
  readonly #records: ShortLived;
  /** Whoever waits here need not fight over a record. */
  readonly #locks = new KeyedLock();

  constructor(log: Log, options: ShortLivedOptions) {
    this.#records = new ShortLived(log, options);
  }

  /** What there is of a record now. */
  async get(key: string): Promise<string | undefined> {
    return (await this.#records.get(key))?.text;
  }

  /**
   * Stores what a change makes of a record; `undefined` leaves it. The change may be made several times, and may throw.
   * Throws 503 `log_contended` while too many processes change this record.
   */
  async change(key: string, change: (text: string | undefined) => string | undefined): Promise<void> {
    await this.#locks.run(key, async () => {
      for (let n = 0; n < tries; n++) {
        const record = await this.#records.get(key);
        const text = change(record?.text);
        if (text === undefined) return;
        if ((await this.#records.put(key, text, record?.revision ?? 0)) === 'stored') return;
      }
      throw new Unavailable('log_contended');
    });
  }
}
