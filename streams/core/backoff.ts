import { clock, pause } from './clock.js';

/** Pauses between attempts, from the first to the longest, in milliseconds. */
export interface Pauses {
  first: number;
  longest: number;
}

/**
 * The pause after so many failed attempts, in milliseconds. It doubles with each, with jitter, so that many
 * clients do not return together.
 */
export function backoff(tries: number, { first, longest }: Pauses, random = clock.random()): number {
  return Math.min(longest, first * 2 ** (tries - 1)) * (0.5 + random / 2);
}

/** How a call is repeated. */
export interface RetryOptions {
  pauses: Pauses;
  /**
   * Called after each failure with the number of attempts so far. Throws for an error that must not be tried
   * again.
   */
  failed(error: unknown, tries: number): void;
  /** Once it is aborted, a call that fails is not tried again. */
  signal?: AbortSignal;
}

/** Repeats a call until it succeeds. It is made at least once. `undefined` when the signal aborts first. */
export async function retry<T>(
  call: (tries: number) => Promise<T>,
  { pauses, failed, signal }: RetryOptions,
): Promise<T | undefined> {
  for (let tries = 0; ; ) {
    try {
      return await call(tries);
    } catch (error) {
      tries += 1;
      if (signal?.aborted) return undefined;
      failed(error, tries);
      await pause(backoff(tries, pauses), signal);
      if (signal?.aborted) return undefined;
    }
  }
}
