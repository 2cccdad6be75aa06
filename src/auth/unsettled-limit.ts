import { LRUCache } from 'lru-cache';
import { Refusal } from '../../streams/core/index.js';
import type { Proof } from '../../workers/payments/proof.js';
import { AddressLimit } from './address-limit.js';
import { isLoopback } from './client-address.js';

/** At most so many for one wallet and for one address within the window, which is in milliseconds. */
const most = { wallet: 5, address: 30 };
const windowMs = 3_600_000;

/** Payments that are remembered at most. */
const mostPayments = 10_000;

/**
 * Counts payments that were verified and then not settled, by their wallets and by their client addresses.
 * Each of them stays on record for ever and may reserve a place for a while, and costs its sender nothing.
 * Counts in this process. A counted payment can always be presented again. An address of this machine is not
 * counted: it may be that of a proxy, which speaks for everybody.
 */
export class UnsettledLimit {
  readonly #wallets = new AddressLimit(most.wallet, { windowMs });
  readonly #counted = new LRUCache<string, true>({ max: mostPayments, ttl: windowMs });
  readonly #addresses = new AddressLimit(most.address, { windowMs });

  /** Throws 429 `rate_limited` if there were too many. */
  require(proof: Proof, address: string | undefined): void {
    if (this.#counted.has(proof.id)) return;
    for (const [limit, source] of this.#of(proof, address)) {
      const { remaining, resetSec } = limit.count(source, 0);
      if (remaining > 0) continue;
      const text = `Too many payments that were not settled: at most ${limit.most} an hour`;
      throw new Refusal('rate_limited', text, { retryAfter: resetSec });
    }
  }

  /** Counts one. */
  count(proof: Proof, address: string | undefined): void {
    if (this.#counted.has(proof.id)) return;
    this.#counted.set(proof.id, true);
    for (const [limit, source] of this.#of(proof, address)) limit.count(source);
  }

  *#of({ payer }: Proof, address: string | undefined): Generator<[AddressLimit, string]> {
    // on Solana only the transaction says whose it is
    if (payer !== '') yield [this.#wallets, payer.toLowerCase()];
    if (address !== undefined && !isLoopback(address)) yield [this.#addresses, address];
  }
}
