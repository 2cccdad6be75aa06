/** What a benchmark is given while it runs; `teardown` is what tests have under that name. */
export interface Bench {
  /** Registers a cleanup. Cleanups run in reverse order when the benchmark is over, also if it failed. */
  teardown(ending: () => unknown): void;
  /** The size of a full run, or the small one of a trial run. */
  size(full: number, small: number): number;
  /** Says how far the benchmark is. */
  progress(what: string): void;
}

/** One line of the table: our figure, what it is compared with, and how they compare. */
export interface Row {
  measured: string;
  ours: string;
  /** What it is compared with, and its figure from the same run. */
  against: string;
  /** Ours divided by the other one, or a difference as text; `undefined` where there is nothing to compare. */
  ratio?: number | string;
  goal?: string;
}

/** A benchmark: measures ours and its comparison in one run, ends what it started, and returns its rows. */
export type Benchmark = (t: Bench) => Promise<Row[]>;

/** No benchmark takes longer than this, in milliseconds: one that hangs fails. */
const boundMs = 20 * 60_000;

/** Runs a benchmark and its cleanups. Throws what the benchmark throws, or if it has not ended in time. */
export async function runBenchmark(
  name: string,
  benchmark: Benchmark,
  options: { small: boolean; stopped: AbortSignal },
): Promise<Row[]> {
  const endings: (() => unknown)[] = [];
  const t: Bench = {
    teardown: (ending) => void endings.push(ending),
    size: (full, small) => (options.small ? small : full),
    progress: (what) => console.error(`${new Date().toISOString().slice(11, 19)} ${name}: ${what}`),
  };
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${boundMs} ms`)), boundMs);
    options.stopped.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
  });
  try {
    return await Promise.race([benchmark(t), bound]);
  } finally {
    clearTimeout(timer);
    for (let ending = endings.pop(); ending; ending = endings.pop()) {
      try {
        await ending();
      } catch (error) {
        t.progress(`an ending failed: ${error}`);
      }
    }
  }
}
