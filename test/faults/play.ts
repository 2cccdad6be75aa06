import type { Fault, Size } from './fault.js';
import { judge, type Verdict } from './judge.js';
import type { Stage } from './stage.js';

/** One run of a fault, in numbers. */
export interface Played extends Verdict {
  fault: string;
  times: number;
  /** Milliseconds until a line of a new event was shown after a strike. */
  recoveryMs: { median: number; longest: number } | undefined;
  /** Most memory that a process of the service had, in MB. */
  memoryMb: number;
  seconds: number;
  notes: Record<string, number | string>;
}

/** Lets a fault strike, and judges everything that was posted on the stage until then. */
export async function play(stage: Stage, fault: Fault, size: Size): Promise<Played> {
  const began = performance.now();
  stage.reset();
  await fault.run(stage, size);
  const verdict = await judge(stage);
  const sorted = stage.recoveries.map(Math.round).sort((a, b) => a - b);
  return {
    ...verdict,
    fault: fault.name,
    times: size.times,
    recoveryMs:
      sorted.length > 0
        ? { median: sorted[Math.floor((sorted.length - 1) / 2)]!, longest: sorted.at(-1)! }
        : undefined,
    memoryMb: Math.round(stage.memory.max(began)),
    seconds: Math.round((performance.now() - began) / 1_000),
    notes: stage.notes,
  };
}

/** What `t.teardown` is to a test: things to end, the last one first. */
export class Endings {
  readonly #endings: (() => unknown)[] = [];

  teardown(ending: () => unknown): void {
    this.#endings.push(ending);
  }

  async end(): Promise<void> {
    for (let ending = this.#endings.pop(); ending; ending = this.#endings.pop()) await ending();
  }
}
