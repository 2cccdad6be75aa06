import { setTimeout as sleep } from 'node:timers/promises';

/** Pauses between tries, from the first to the longest, in milliseconds. */
export interface Pauses {
  first: number;
  longest: number;
}

/** The pause behind so many failed tries: doubled with each one, and a little by chance, so that many do not come together. */
export function backoff(tries: number, { first, longest }: Pauses): number {
  return Math.min(longest, first * 2 ** (tries - 1)) * (0.5 + Math.random() / 2);
}

/** Waits so many milliseconds, or until the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
