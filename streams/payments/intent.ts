import type { Granted, Intended, Terms } from './facts.js';

/**
 * What became of a payment that was to be settled: the money has moved, it can still move, or it never will.
 * `at` is the time of whoever says that it has not moved, in seconds of Unix time, where that is the chain.
 */
export type Fate = { is: 'paid'; transaction: string } | { is: 'unused'; at?: number } | { is: 'void' };

/** How long a place is kept when a settlement is not known, in milliseconds: longer than most can still be settled. */
export const notKnownMs = 10 * 60_000;

/** Until when the place of a payment is kept that was intended then. */
export function keepUntil(intendedAt: Date): Date {
  return new Date(intendedAt.getTime() + notKnownMs);
}

/** The session that a settled payment buys, without its times; `offered` is for records that do not say it. */
export function sessionOf(
  intended: Intended,
  session_id: string,
  tx_hash: string,
  offered: Terms,
): Omit<Granted, 'channel' | 'started_at' | 'expires_at'> {
  const { payment, nick, payer, network, asset, terms } = intended;
  const { price: amount, currency, duration_seconds } = terms ?? offered;
  return { payment, session_id, nick, payer, network, asset, amount, currency, tx_hash, duration_seconds };
}
