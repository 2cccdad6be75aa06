import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { type Clock, useClock } from '../../streams/core/clock.js';
import type { Planned, World } from './world.js';

const RealDate = globalThis.Date;
/** Whose time it is. One class for all worlds: programs that were made fast with it stay so in the next one. */
let now = () => RealDate.now();

class WorldDate extends RealDate {
  constructor(...args: ConstructorParameters<typeof RealDate> | []) {
    if (args.length === 0) super(now());
    else super(...(args as ConstructorParameters<typeof RealDate>));
  }
  static override now(): number {
    return Math.floor(now());
  }
}

/** A timer as programs hold it. */
class Timer {
  #planned: Planned | undefined;
  constructor(planned: Planned | undefined) {
    this.#planned = planned;
  }
  again(planned: Planned): void {
    this.#planned = planned;
  }
  cancel(): void {
    if (this.#planned) this.#planned.cancelled = true;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
}

/**
 * Gives the time and the chance of a world to the product. The libraries in this process take them from the
 * global objects, so these are replaced. The returned function restores the real ones.
 */
export function takeOverGlobals(world: World): () => void {
  const real = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    setInterval: globalThis.setInterval,
    clearInterval: globalThis.clearInterval,
    setImmediate: globalThis.setImmediate,
    clearImmediate: globalThis.clearImmediate,
    Date: globalThis.Date,
    fetch: globalThis.fetch,
  };
  const realRandom = Math.random;
  const realPerformanceNow = performance.now;
  const realDelay = timersPromises.setTimeout;
  const realTimeout = AbortSignal.timeout;

  type Call = (...args: unknown[]) => void;
  const later = (call: Call, ms = 0, ...args: unknown[]) => new Timer(world.after(ms, () => call(...args)));
  const cancel = (timer: Timer | undefined) => timer?.cancel?.();
  const repeat = (call: Call, ms = 0, ...args: unknown[]) => {
    const timer = new Timer(undefined);
    const plan = () => {
      timer.again(
        world.after(Math.max(1, ms), () => {
          plan();
          call(...args);
        }),
      );
    };
    plan();
    return timer;
  };
  now = () => world.now;
  Object.assign(globalThis, {
    setTimeout: later,
    clearTimeout: cancel,
    setInterval: repeat,
    clearInterval: cancel,
    setImmediate: (call: Call, ...args: unknown[]) => later(call, 0, ...args),
    clearImmediate: cancel,
    Date: WorldDate,
    // nothing that runs in a world may reach the real network
    fetch: (...args: Parameters<typeof fetch>) => world.fetch(...args),
  });
  Math.random = () => world.random.next();
  performance.now = () => world.elapsed;
  timersPromises.setTimeout = (<T>(ms = 0, value?: T, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise<T>((resolve, reject) => {
      const abort = () => {
        timer.cancel();
        reject(new DOMException('The operation was aborted', 'AbortError'));
      };
      const timer = later(() => {
        signal?.removeEventListener('abort', abort);
        resolve(value as T);
      }, ms);
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    })) as typeof realDelay;
  syncBuiltinESMExports();
  AbortSignal.timeout = (ms: number) => {
    const controller = new AbortController();
    later(() => controller.abort(new DOMException('The operation timed out', 'TimeoutError')), ms);
    return controller.signal;
  };
  const giveBack = useClock({
    now: () => Math.floor(world.now),
    elapsed: () => world.elapsed,
    random: () => world.random.next(),
    setTimeout: later,
    clearTimeout: cancel,
    setInterval: repeat,
    clearInterval: cancel,
    setImmediate: later,
  } as unknown as Clock);
  return () => {
    giveBack();
    Object.assign(globalThis, real);
    Math.random = realRandom;
    performance.now = realPerformanceNow;
    timersPromises.setTimeout = realDelay;
    syncBuiltinESMExports();
    AbortSignal.timeout = realTimeout;
  };
}
