import { readFileSync } from 'node:fs';

/** Resident memory of one process at a time, in MB; `at` in milliseconds of `performance.now()`. */
interface Sample {
  at: number;
  mb: number;
}

const everyMs = 250;

/** Watches the resident memory of processes that come and go under the same name. */
export class MemoryWatch {
  readonly #pids: () => Iterable<[name: string, pid: number]>;
  readonly #samples = new Map<string, Sample[]>();
  readonly #timer: NodeJS.Timeout;

  constructor(pids: () => Iterable<[name: string, pid: number]>) {
    this.#pids = pids;
    this.#timer = setInterval(() => this.#look(), everyMs);
    this.#look();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The most that any of the processes has had since a time. */
  max(since = 0): number {
    const all = [...this.#samples.values()].flat().filter(({ at }) => at >= since);
    return all.reduce((most, { mb }) => Math.max(most, mb), 0);
  }

  /** The most that one process has had since a time. */
  maxOf(name: string, since = 0): number {
    const all = (this.#samples.get(name) ?? []).filter(({ at }) => at >= since);
    return all.reduce((most, { mb }) => Math.max(most, mb), 0);
  }

  /** Growth of the fastest growing process since a time, in MB a minute: the slope of the line of least squares. */
  slope(since: number): number {
    return Math.max(...[...this.#samples.values()].map((samples) => slopeOf(samples, since)));
  }

  #look(): void {
    for (const [name, pid] of this.#pids()) {
      const mb = residentMb(pid);
      if (mb === undefined) continue;
      const samples = this.#samples.get(name) ?? [];
      this.#samples.set(name, samples);
      samples.push({ at: performance.now(), mb });
    }
  }
}

function slopeOf(samples: Sample[], since: number): number {
  const points = samples.filter(({ at }) => at >= since).map(({ at, mb }) => [at / 60_000, mb] as const);
  const mean = (pick: 0 | 1) => points.reduce((sum, point) => sum + point[pick], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const above = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  const below = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  return below === 0 ? 0 : above / below;
}

/** Undefined where the process is gone, or where the system has no `/proc`. */
function residentMb(pid: number): number | undefined {
  try {
    const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kb === undefined ? undefined : Number(kb) / 1_024;
  } catch {
    return undefined;
  }
}
