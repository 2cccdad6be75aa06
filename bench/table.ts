/** One line of the benchmark table: ours against its floor, in the same run. */
export interface Result {
  measured: string;
  ours: string;
  floor: string;
  ratio: number;
  goal: string;
}

/** The middle value; of an even number the lower one of the two. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}

/** Prints results as a Markdown table. */
export function printTable(results: Result[]): void {
  console.log('\n| measured | ours | floor | ratio | goal |\n|---|---|---|---|---|');
  for (const { measured, ours, floor, ratio, goal } of results) {
    console.log(`| ${measured} | ${ours} | ${floor} | ${ratio.toFixed(2)} | ${goal} |`);
  }
}

/** What `t.teardown` is to a test: things to end, in reverse order. */
export class Endings {
  readonly #endings: (() => unknown)[] = [];
  teardown(ending: () => unknown): void {
    this.#endings.push(ending);
  }
  async end(): Promise<void> {
    for (let ending = this.#endings.pop(); ending; ending = this.#endings.pop()) await ending();
  }
}
