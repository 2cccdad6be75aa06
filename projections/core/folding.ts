import pLimit, { type LimitFunction } from 'p-limit';
import type { Build } from './builds.js';
import { Fold, type FoldOptions } from './fold.js';
import type { Projection } from './projection.js';

/** What the folds of a process work with. */
export type FoldingOptions = Omit<FoldOptions, 'projection' | 'build' | 'stream' | 'limits'>;

/** Transactions at a time: readers share the store. */
export const concurrency = { pglite: 1, postgres: 4 };

/** The folds of all builds that this process keeps up to date. */
export class Folding {
  readonly #options: FoldingOptions;
  readonly #limit: LimitFunction;
  readonly #folds = new Map<string, Fold[]>();
  readonly #ending = new Set<Promise<void>>();
  #stopped = false;

  constructor(options: FoldingOptions) {
    this.#options = options;
    this.#limit = pLimit(concurrency[options.sql.engine]);
  }

  /** The folds of a build, one for each of its streams; empty if the build is not kept up to date here. */
  of(schema: string): readonly Fold[] {
    return this.#folds.get(schema) ?? [];
  }

  /** Folds these builds from now on, and no others. */
  arrange(wanted: { projection: Projection; build: Build }[]): void {
    if (this.#stopped) return;
    for (const [schema, folds] of this.#folds) {
      if (wanted.some(({ build }) => build.schema === schema)) continue;
      this.#folds.delete(schema);
      for (const fold of folds) this.#end(fold);
    }
    for (const { projection, build } of wanted) {
      if (this.#folds.has(build.schema)) continue;
      const limits = { build: pLimit(1), all: this.#limit };
      const folds = projection.streams.map(
        (stream) => new Fold({ ...this.#options, projection, build, stream, limits }),
      );
      this.#folds.set(build.schema, folds);
      for (const fold of folds) fold.start();
    }
  }

  /** Folds what has gathered without waiting for more. */
  hurry(): void {
    for (const fold of [...this.#folds.values()].flat()) fold.hurry();
  }

  /** Makes streams be read again if their reader is silent although there is more to read. */
  watch(heads: ReadonlyMap<string, number>, stallMs: number): void {
    for (const fold of [...this.#folds.values()].flat()) {
      fold.watch(heads.get(fold.stream.name) ?? 0, stallMs);
    }
  }

  /**
   * Compares the folds with what the store really holds, and takes those back that are ahead of it. Take
   * `known` before you read the registry.
   */
  compare(builds: Build[], known: ReturnType<Folding['known']>): void {
    for (const [schema, folds] of this.#folds) {
      const build = builds.find((it) => it.schema === schema);
      for (const fold of folds) {
        const isThere = build && (build.positions[fold.stream.name] ?? 0) >= (known.positions.get(fold) ?? 0);
        if (isThere) fold.confirm(known.losses);
        else fold.goBack();
      }
    }
  }

  /** The folds' positions, and the store's count of losses so far. */
  known(): { positions: ReadonlyMap<Fold, number>; losses: number } {
    const folds = [...this.#folds.values()].flat();
    return {
      positions: new Map(folds.map((fold) => [fold, fold.position])),
      losses: this.#options.sql.losses,
    };
  }

  /** Finishes the batches in hand and ends. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const fold of [...this.#folds.values()].flat()) this.#end(fold);
    await Promise.all(this.#ending);
  }

  #end(fold: Fold): void {
    const ending = fold.stop().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}
