import type { Stage, StageOptions } from './stage.js';

/** How much of a fault is done. */
export interface Size {
  /** How often the fault strikes. */
  times: number;
  /** Events that are posted over the whole run. */
  events: number;
  /** How long the strike itself lasts where it lasts, in seconds. */
  seconds?: number;
}

/** A fault as a value: how it strikes, and how often in the long form and in the one that every test run does. */
export interface Fault {
  /** One word for `--only`. */
  name: string;
  what: string;
  long: Size;
  short: Size;
  /** The servers and processes that it needs. */
  stage?: (size: Size) => StageOptions;
  /** Why it cannot be done on this machine. */
  impossible?: () => string | undefined;
  /** Strikes while events come in; every event posted is judged afterwards. */
  run(stage: Stage, size: Size): Promise<void>;
}

/** Random numbers in [0, 1) that a seed repeats. */
export type Random = () => number;

/** The mulberry32 generator. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
