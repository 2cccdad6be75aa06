import { createHash } from 'node:crypto';
import { type Log, Unavailable } from '../../streams/core/index.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { ShortLived, type ShortLivedOptions } from './short-lived.js';

/** What a count has come to. */
export interface SharedCount {
  allowed: boolean;
  /** Seconds until it starts again. */
  resetSec: number;
}

/** How much of something there may be in a window of time, which is in milliseconds. */
export interface SharedCountsOptions {
  log: Log;
  replicas: number;
  /** Name of their stream on the log server, in capitals. */
  name: string;
  most: number;
  windowMs: number;
  /** Whether they outlive the log server; `disk` by default. */
  storage?: ShortLivedOptions['storage'];
  /** Who is remembered at most: those not counted for longest are dropped; 100,000 by default. */
  maxEntries?: number;
}

type Kept = { count: number; ends: number };

/** How often a count is tried while other processes change it too. */
const tries = 10;

/**
 * Counts what callers do, for each of them. All processes share the counts, and restarts do not end them. The window of a
 * caller begins with its first count. Callers are kept as hashes.
 */
export class SharedCounts {
  readonly most: number;
  readonly #windowMs: number;
  readonly #records: ShortLived;
  readonly #now: () => number;
  /** Whoever waits here need not fight over a record. */
  readonly #locks = new KeyedLock();

  constructor(options: SharedCountsOptions) {
    const { log, replicas, name, most, windowMs, storage = 'disk', maxEntries = 100_000 } = options;
    this.most = most;
    this.#windowMs = windowMs;
    this.#now = () => log.now().getTime();
    const kept = { maxAgeMs: windowMs, maxEntries, whenFull: 'forget', storage, replicas } as const;
    this.#records = new ShortLived(log, { name, ...kept });
  }

  /**
   * Takes an amount, if there is room for it. Throws 503 `log_contended` while too many processes change this count.
   */
  async take(caller: string, amount = 1): Promise<SharedCount> {
    return await this.#changed(caller, (count) => (count + amount <= this.most ? count + amount : undefined));
  }

  /** Gives back what was taken and is not to count. */
  async giveBack(caller: string, amount = 1): Promise<void> {
    await this.#changed(caller, (count) => (count === 0 ? undefined : Math.max(0, count - amount)));
  }

  /** Stores what a change makes of a count; `undefined` leaves it. */
  async #changed(caller: string, change: (count: number) => number | undefined): Promise<SharedCount> {
    const key = createHash('sha256').update(caller).digest('base64url');
    return await this.#locks.run(key, async () => {
      for (let n = 0; n < tries; n++) {
        const now = this.#now();
        const record = await this.#records.get(key);
        const found = record && (JSON.parse(record.text) as Kept);
        const known = found && found.ends > now ? found : { count: 0, ends: now + this.#windowMs };
        const resetSec = Math.max(1, Math.ceil((known.ends - now) / 1_000));
        const count = change(known.count);
        if (count === undefined) return { allowed: false, resetSec };
        const text = JSON.stringify({ ...known, count } satisfies Kept);
        if ((await this.#records.put(key, text, record?.revision ?? 0)) === 'stored')
          return { allowed: true, resetSec };
      }
      throw new Unavailable('log_contended');
    });
  }
}
