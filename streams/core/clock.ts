import { setMaxListeners } from 'node:events';
import pTimeout from 'p-timeout';

/** A timer that was set, as its own clock knows it. */
export type Timer = ReturnType<typeof setTimeout>;

/** Longest wait that timers know: a longer one would be over at once. */
const longestMs = 2 ** 31 - 1;

/** Time and chance. Times are in milliseconds. */
export interface Clock {
  /** Since 1970. */
  now(): number;
  /** Since some moment, never backwards: what durations are measured with. */
  elapsed(): number;
  /** At least 0, less than 1. */
  random(): number;
  setTimeout(action: () => void, ms?: number): Timer;
  clearTimeout(timer: Timer | undefined): void;
  setInterval(action: () => void, ms: number): Timer;
  clearInterval(timer: Timer | undefined): void;
  /** Runs an action when all that can run now has run. */
  setImmediate(action: () => void): void;
}

/**
 * The time and the chance of streams, projections and workers, which take them from nowhere else: whoever gives them
 * other ones decides all that happens. The machine's, unless `useClock` gives others.
 */
export const clock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  random: () => Math.random(),
  setTimeout: (action, ms) => setTimeout(action, ms === undefined ? ms : Math.min(ms, longestMs)),
  clearTimeout: (timer) => clearTimeout(timer),
  setInterval: (action, ms) => setInterval(action, ms),
  clearInterval: (timer) => clearInterval(timer),
  setImmediate: (action) => {
    setImmediate(action);
  },
};

/** Gives this process another time and another chance; the returned function takes them back. */
export function useClock(other: Clock): () => void {
  const before = { ...clock };
  Object.assign(clock, other);
  return () => Object.assign(clock, before);
}

/** The same for the library that bounds work in time. */
const customTimers = {
  setTimeout: (action: () => void, ms?: number) => clock.setTimeout(action, ms),
  clearTimeout: (timer: Timer | undefined) => clock.clearTimeout(timer),
} as { setTimeout: typeof setTimeout; clearTimeout: typeof clearTimeout };

/** Waits so many milliseconds, also for ever, or until the signal aborts, or until the `end` is called that is given away. */
export function pause(ms: number, signal?: AbortSignal, give?: (end: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    // many may wait until the same end, and each takes its listener back
    if (signal) setMaxListeners(0, signal);
    const end = () => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = Number.isFinite(ms) ? clock.setTimeout(end, ms) : undefined;
    signal?.addEventListener('abort', end);
    give?.(end);
  });
}

/** Lets all run that can run now. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    clock.setImmediate(resolve);
  });
}

/** The end of some work; rejects when it does not come within so many milliseconds, or when the signal aborts. */
export function within<T>(
  work: Promise<T>,
  ms: number,
  { failure, signal }: { failure?: Error; signal?: AbortSignal } = {},
): Promise<T> {
  return pTimeout(work, {
    milliseconds: ms,
    customTimers,
    ...(failure ? { message: failure } : {}),
    ...(signal ? { signal } : {}),
  });
}

/** Waits for the end of some work, for so many milliseconds at most: then for nothing. */
export async function atMost<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  return (await pTimeout(work, { milliseconds: ms, message: false, customTimers })) as T | undefined;
}

/** Aborts after so many milliseconds with a `TimeoutError`; keeps no process alive. */
export function timeout(ms: number): AbortSignal {
  const controller = new AbortController();
  const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  clock.setTimeout(() => controller.abort(late), ms).unref();
  return controller.signal;
}
