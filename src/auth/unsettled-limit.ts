import { type Log, Refusal } from '../../streams/core/index.js';
import type { Unsettled } from '../../workers/payments/access.js';
import { networkOf } from '../operations/core/network-of.js';
import { SharedCounts } from '../stores/shared-counts.js';
import { isLoopback } from './client-address.js';

/** At most so many for one wallet and for one address within the window, which is in milliseconds. */
const most = { wallet: 5, address: 30 };
const windowMs = 3_600_000;

/**
 * Counts payments that are verified and not settled, by their wallets and by their client addresses. Each of them
 * stays on record for ever and may reserve a place for a while, and costs its sender nothing. All processes count
 * together. An address of this machine is not counted: it may be that of a proxy, which speaks for everybody.
 */
export class UnsettledLimit implements Unsettled {
  readonly #wallets: SharedCounts;
  readonly #addresses: SharedCounts;

  constructor(options: { log: Log; replicas: number }) {
    const counts = (name: string, whose: string, limit: number) => {
      const description = `Payments that were verified and not settled, by ${whose}.`;
      return new SharedCounts({ ...options, name, description, most: limit, windowMs });
    };
    this.#wallets = counts('RELAY_UNSETTLED_WALLETS', 'wallet', most.wallet);
    this.#addresses = counts('RELAY_UNSETTLED_ADDRESSES', 'client address', most.address);
  }

  async take(payer: string, address: string | undefined): Promise<() => Promise<void>> {
    const taken: [SharedCounts, string][] = [];
    const giveBack = async () => {
      for (const [limit, source] of taken) await limit.giveBack(source);
    };
    for (const [limit, source] of this.#of(payer, address)) {
      const { allowed, resetSec } = await limit.take(source);
      if (allowed) {
        taken.push([limit, source]);
        continue;
      }
      await giveBack();
      const text = `Too many payments that were not settled: at most ${limit.most} an hour`;
      throw new Refusal('rate_limited', text, { retryAfter: resetSec });
    }
    return giveBack;
  }

  *#of(payer: string, address: string | undefined): Generator<[SharedCounts, string]> {
    // on some networks nobody may know before the settlement whose it is
    if (payer !== '') yield [this.#wallets, payer.toLowerCase()];
    if (address !== undefined && !isLoopback(address)) yield [this.#addresses, networkOf(address)];
  }
}
