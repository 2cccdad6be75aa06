import { play, type Run, type Scenario } from './scenario.js';

/** How far a shrinking has come. */
export interface Shrinking {
  /** Steps that are still in the history. */
  left: number;
  runs: number;
}

/** What is broken, without its time and its numbers: a smaller history must break in the same way. */
const wayOf = (run: Run): string => (run.broken[0] ?? '').replace(/^at \d+ ms: /, '').replace(/:.*$/s, '');

/**
 * Looks for a smaller history that breaks in the same way: leaves out planned steps, in halves, then in ever smaller
 * pieces, as long as the run still breaks. Ends when no single step can be left out, or after `mostRuns`.
 */
export async function shrink(
  scenario: Scenario,
  failing: Run,
  { mostRuns = 400, told = (_: Shrinking) => {} } = {},
): Promise<Run> {
  const way = wayOf(failing);
  let smallest = failing;
  let kept = failing.planned.map(({ number }) => number);
  let runs = 0;
  for (let size = Math.ceil(kept.length / 2); size >= 1 && runs < mostRuns; ) {
    let isSmaller = false;
    for (let from = 0; from < kept.length && runs < mostRuns; ) {
      const fewer = [...kept.slice(0, from), ...kept.slice(from + size)];
      const without = new Set(failing.planned.map(({ number }) => number));
      for (const number of fewer) without.delete(number);
      const run = await play(scenario, failing.seed, { without });
      runs += 1;
      if (run.broken.length > 0 && wayOf(run) === way) {
        [kept, smallest, isSmaller] = [fewer, run, true];
        told({ left: kept.length, runs });
      } else from += size;
    }
    if (size === 1 && !isSmaller) break;
    size = size === 1 ? 1 : Math.ceil(size / 2);
  }
  const isKept = new Set(kept);
  return { ...smallest, planned: failing.planned.filter(({ number }) => isKept.has(number)) };
}
