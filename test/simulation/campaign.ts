import { play, type Run, type Scenario } from './scenario.js';

/** What to run, and for how long. */
export interface CampaignOptions {
  scenarios: readonly Scenario[];
  /** The first fresh seed; the following ones count up from it. */
  firstSeed: number;
  /** One of several processes that share the seeds, each taking every so manyth; the first one takes those kept. */
  share?: { index: number; of: number };
  /** Fresh seeds of each scenario at most. */
  seeds?: number;
  /** Real time for all fresh seeds together, in milliseconds. */
  budgetMs?: number;
  /** Told after each run, with the CPU seconds that it took. */
  ran?: (run: Run, seconds: number, so: Summary) => void;
  /** Whether to go on after a run that is broken. */
  goOn?: boolean;
  signal?: AbortSignal;
}

/** What many runs have come to. */
export interface Summary {
  /** Runs of each scenario. */
  runs: Record<string, number>;
  /** CPU time of each scenario: what else the machine does is not in it. */
  seconds: Record<string, number>;
  faults: Record<string, number>;
  checks: Record<string, number>;
  counts: Record<string, number>;
  failures: Run[];
}

const realNow = performance.now.bind(performance);

/** Nothing yet. */
export function emptySummary(): Summary {
  return { runs: {}, seconds: {}, faults: {}, checks: {}, counts: {}, failures: [] };
}

/** Plays each scenario with the seeds that it keeps, then all of them in turn with fresh ones. */
export async function runCampaign(options: CampaignOptions): Promise<Summary> {
  const { scenarios, firstSeed, share = { index: 0, of: 1 } } = options;
  const { seeds = Number.POSITIVE_INFINITY, budgetMs = Number.POSITIVE_INFINITY } = options;
  const so = emptySummary();
  const isOver = () => options.signal?.aborted || (so.failures.length > 0 && !options.goOn);
  const one = async (scenario: Scenario, seed: number) => {
    const before = process.cpuUsage();
    const untraced = await play(scenario, seed, { untraced: true });
    const run = untraced.broken.length > 0 ? await again(scenario, untraced) : untraced;
    const { user, system } = process.cpuUsage(before);
    const seconds = (user + system) / 1e6;
    addRun(so, run, seconds);
    options.ran?.(run, seconds, so);
  };
  const kept = share.index === 0 ? scenarios : [];
  for (const scenario of kept) {
    for (const seed of scenario.kept) {
      if (isOver()) return so;
      await one(scenario, seed);
    }
  }
  const end = realNow() + budgetMs;
  for (let n = share.index; n < seeds; n += share.of) {
    for (const scenario of scenarios) {
      // each is run once, however little time there is
      if (isOver() || (n !== share.index && realNow() > end)) return so;
      await one(scenario, firstSeed + n);
    }
  }
  return so;
}

/** Plays a broken run once more, with where its errors were made. That it breaks again is what a seed promises. */
async function again(scenario: Scenario, broken: Run): Promise<Run> {
  const run = await play(scenario, broken.seed);
  if (run.broken.length > 0) return run;
  return { ...broken, broken: [...broken.broken, 'the same seed did not break again'] };
}

/** Counts a run in. */
export function addRun(so: Summary, run: Run, seconds: number): void {
  so.runs[run.scenario] = (so.runs[run.scenario] ?? 0) + 1;
  so.seconds[run.scenario] = (so.seconds[run.scenario] ?? 0) + seconds;
  for (const what of ['faults', 'checks', 'counts'] as const) {
    for (const [name, times] of Object.entries(run[what])) so[what][name] = (so[what][name] ?? 0) + times;
  }
  if (run.broken.length > 0) so.failures.push(run);
}
