import { createHash } from 'node:crypto';
import type { Log } from '../../streams/core/index.js';
import { SharedRecords } from './shared-records.js';
import type { ShortLivedOptions } from './short-lived.js';

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
  /** What is counted, for people who look at the streams of the log server. */
  description: string;
  most: number;
  windowMs: number;
  /** Whether they outlive the log server; `disk` by default. */
  storage?: ShortLivedOptions['storage'];
  /** Who is remembered at most: those not counted for longest are dropped; 100,000 by default. */
  maxEntries?: number;
}

type Kept = { count: number; ends: number };

/**
 * Counts what callers do, for each of them. All processes share the counts, and restarts do not end them. The window of a
 * caller begins with its first count. Callers are kept as hashes.
 */
export class SharedCounts {
  readonly most: number;
  readonly #windowMs: number;
  readonly #records: SharedRecords;
  readonly #now: () => number;

  constructor(options: SharedCountsOptions) {
    const { log, replicas, name, description, most, windowMs } = options;
    const { storage = 'disk', maxEntries = 100_000 } = options;
    this.most = most;
    this.#windowMs = windowMs;
    this.#now = () => log.now().getTime();
    const kept = { maxAgeMs: windowMs, maxEntries, whenFull: 'forget', storage, replicas } as const;
    this.#records = new SharedRecords(log, { name, description, ...kept });
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
    let outcome: SharedCount = { allowed: false, resetSec: 1 };
    await this.#records.change(key, (text) => {
      const now = this.#now();
      const found = text === undefined ? undefined : (JSON.parse(text) as Kept);
      const known = found && found.ends > now ? found : { count: 0, ends: now + this.#windowMs };
      const count = change(known.count);
      outcome = {
        allowed: count !== undefined,
        resetSec: Math.max(1, Math.ceil((known.ends - now) / 1_000)),
      };
      return count === undefined ? undefined : JSON.stringify({ ...known, count } satisfies Kept);
    });
    return outcome;
  }
}
