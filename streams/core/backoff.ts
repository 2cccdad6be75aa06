import { clock, pause } from './clock.js';

/** Pauses between tries, from the first to the longest, in milliseconds. */
export interface Pauses {
  first: number;
  longest: number;
}

/** The pause behind so many failed tries: doubled with each one, and a little by chance, so that many do not come together. */
export function backoff(tries: number, { first, longest }: Pauses, random = clock.random()): number {
  return Math.min(longest, first * 2 ** (tries - 1)) * (0.5 + random / 2);
}

/** How a call is repeated. */
export interface RetryOptions {
  pauses: Pauses;
  /** Told of each failure and how many there were; throws what is not to be tried again. */
  failed(error: unknown, tries: number): void;
  /** Aborted: a call that fails is not tried again. */
  signal?: AbortSignal;
}

/** Repeats a call, made once at least, until it succeeds; `undefined` when the signal aborts before. */
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
