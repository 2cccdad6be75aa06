import type { Terms } from '../../streams/payments/index.js';

/** A channel that is paid for. */
export interface PaidChannel {
  /** The name of the channel, with its `#`. */
  name: string;
  /** In units of the currency: `0.10`. */
  price: string;
  /** The same in the token's smallest unit: `100000`. */
  amount: string;
  currency: string;
  /** CAIP-2, at least one. */
  networks: string[];
  durationSeconds: number;
  maxSlots: number;
  description: string;
}

/** What a payment for a channel buys. */
export function termsOf({ price, currency, durationSeconds }: PaidChannel): Terms {
  return { price, currency, duration_seconds: durationSeconds };
}
