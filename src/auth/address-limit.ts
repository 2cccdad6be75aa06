import { networkOf } from '../operations/core/network-of.js';

/** How many requests a caller has made and may make. */
export interface AddressCount {
  allowed: boolean;
  remaining: number;
  /** Seconds until the count starts again. */
  resetSec: number;
}

const minuteMs = 60_000;
/** Addresses that are remembered at most: the oldest are dropped. */
const mostAddresses = 100_000;

/**
 * Counts requests of a client address in a window of time, a minute by default. An IPv6 network of 64 bits,
 * which one caller has alone, is one address.
 */
export class AddressLimit {
  readonly most: number;
  readonly #windowMs: number;
  readonly #bits: number | undefined;
  readonly #now: () => number;
  readonly #counts = new Map<string, number>();
  #windowEnd = 0;

  /** `bits`: of an IPv6 network that counts as one, where that is another. `now` in milliseconds. */
  constructor(most: number, options: { windowMs?: number; bits?: number; now?: () => number } = {}) {
    const { windowMs = minuteMs, bits, now = () => performance.now() } = options;
    this.#bits = bits;
    this.most = most;
    this.#windowMs = windowMs;
    this.#now = now;
  }

  /** Counts a request of an address, or another limited amount. */
  count(address: string, amount = 1): AddressCount {
    const now = this.#now();
    if (now >= this.#windowEnd) {
      this.#counts.clear();
      this.#windowEnd = now + this.#windowMs;
    }
    const key = networkOf(address, this.#bits);
    const count = (this.#counts.get(key) ?? 0) + amount;
    this.#counts.set(key, count);
    if (this.#counts.size > mostAddresses) this.#counts.delete(this.#counts.keys().next().value!);
    return {
      allowed: count <= this.most,
      remaining: Math.max(0, this.most - count),
      resetSec: Math.ceil((this.#windowEnd - now) / 1_000),
    };
  }
}
