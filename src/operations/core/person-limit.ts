import { Refusal } from '../../../streams/core/index.js';
import type { SharedCounts } from '../../stores/shared-counts.js';
import { type Caller, isOperator } from './caller.js';

/** Counts what somebody does in an hour. */
export type HourlyCounts = Pick<SharedCounts, 'most' | 'take' | 'giveBack'>;

/**
 * Does something that one person may do only so often in an hour; `what` it is is said in the refusal. Nobody is counted
 * where `person` is undefined. What fails does not count. Throws 429 `rate_limited`.
 */
export async function withinLimit<T>(
  { person, what, counts }: { person: string | undefined; what: string; counts: HourlyCounts },
  work: () => Promise<T>,
): Promise<T> {
  if (person === undefined) return await work();
  const { allowed, resetSec } = await counts.take(person);
  if (!allowed) {
    const message = `Too many ${what} of this person: at most ${counts.most} an hour`;
    throw new Refusal('rate_limited', message, { retryAfter: resetSec });
  }
  try {
    return await work();
  } catch (error) {
    await counts.giveBack(person).catch(() => undefined);
    throw error;
  }
}

/** Under which name a caller is counted. Operators, and services that ask for them, are not counted. */
export function limitedAs(caller: Caller): string | undefined {
  if (isOperator(caller) || (caller.is !== 'agent' && caller.is !== 'wallet')) return undefined;
  return walletOf(caller) ?? `nick ${caller.nick ?? caller.actor}`;
}

/** The wallet of a caller who acts in person: it identifies one person under any nick. */
export function walletOf(caller: Caller): string | undefined {
  if (caller.is === 'wallet') return caller.actor;
  return caller.is === 'agent' ? (caller.wallet ?? undefined) : undefined;
}
