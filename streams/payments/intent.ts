import type { Granted, Intended, Terms } from './facts.js';

/**
 * What became of a payment that was sent for settlement: the money has moved, it can still move, or it never
 * will. `at` is the time of the source that says that the money has not moved, if that is the chain. In
 * seconds of Unix time.
 */
export type Fate = { is: 'paid'; transaction: string } | { is: 'unused'; at?: number } | { is: 'void' };

/** An authorization is believed to be over when the chain is so many seconds past its end. */
const marginSeconds = 60;

/** Whether an authorization can never be used any more, by the time of the chain that has not seen it. */
export function isTooLate({ at }: Fate & { is: 'unused' }, validBefore: number | null): boolean {
  return at !== undefined && validBefore !== null && at >= validBefore + marginSeconds;
}

/**
 * How long a place is kept when the result of a settlement is unknown, in milliseconds. Most payments can no
 * longer be settled after that.
 */
export const notKnownMs = 10 * 60_000;

/** Until when the place of a payment with this intent is kept. */
export function keepUntil(intendedAt: Date): Date {
  return new Date(intendedAt.getTime() + notKnownMs);
}

/**
 * The session that a settled payment buys, without its times. `offered` is for records that do not say it.
 */
export function sessionOf(
  intended: Intended,
  session_id: string,
  tx_hash: string,
  offered: Terms,
): Omit<Granted, 'channel' | 'started_at' | 'expires_at'> {
  const { payment, nick, payer, network, asset, terms, holder } = intended;
  const { price: amount, currency, duration_seconds } = terms ?? offered;
  const paid = { payer, network, asset, amount, currency, tx_hash };
  return { payment, session_id, nick, ...paid, duration_seconds, holder };
}
