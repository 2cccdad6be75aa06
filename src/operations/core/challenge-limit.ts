import { Refusal } from '../../../streams/core/index.js';
import type { SharedCount } from '../../stores/shared-counts.js';

/** How many challenges of a kind one address may request in a time of so many milliseconds, from all processes together. */
export const challengesOfAddress = { count: 150, inMs: 30 * 60_000 };

/** Counts requests of networks. */
export interface AddressCounter {
  /** The part of an address that identifies its caller. */
  networkOf(address: string): string;
  take(network: string): Promise<SharedCount>;
}

/**
 * Counts a challenge for its address, and resolves with the network of that. Throws 429 `rate_limited` if it has
 * requested too many.
 */
export async function countChallenge(addresses: AddressCounter, address = ''): Promise<string> {
  const network = addresses.networkOf(address);
  const { allowed, resetSec } = await addresses.take(network);
  if (allowed) return network;
  const { count, inMs } = challengesOfAddress;
  const message = `Too many challenges for this address: at most ${count} in ${inMs / 60_000} minutes`;
  throw new Refusal('rate_limited', message, { retryAfter: resetSec });
}
