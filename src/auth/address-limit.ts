import { networkOf } from './client-address.js';

/** Where a caller stands with its requests. */
export interface AddressCount {
  allowed: boolean;
  remaining: number;
  /** Seconds until it counts anew. */
  resetSec: number;
}

const windowMs = 60_000;
/** Addresses that are remembered at most: those that came first give way. */
const mostAddresses = 100_000;

/** Counts requests a minute and client address. An IPv6 network of 64 bits, which one caller has to himself, is one address. */
export class AddressLimit {
  readonly perMinute: number;
  readonly #now: () => number;
  readonly #counts = new Map<string, number>();
  #windowEnd = 0;

  /** `now` in milliseconds. */
  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.perMinute = perMinute;
    this.#now = now;
  }

  /** Counts one request of an address. */
  count(address: string): AddressCount {
    const now = this.#now();
    if (now >= this.#windowEnd) {
      this.#counts.clear();
      this.#windowEnd = now + windowMs;
    }
    const key = networkOf(address);
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (this.#counts.size > mostAddresses) this.#counts.delete(this.#counts.keys().next().value!);
    return {
      allowed: count <= this.perMinute,
      remaining: Math.max(0, this.perMinute - count),
      resetSec: Math.ceil((this.#windowEnd - now) / 1_000),
    };
  }
}
