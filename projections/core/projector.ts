import type { Logger } from 'pino';
import { clock, pause } from '../../streams/core/clock.js';
import { backoff, type Log, type Position, Unavailable } from '../../streams/core/index.js';
import { type Build, completeBuild, readPosition } from './builds.js';
import { type CatchUpPlace, CatchUpThread } from './catch-up-thread.js';
import { Folding } from './folding.js';
import { KnownBuilds } from './known-builds.js';
import type { Projection } from './projection.js';
import type { Sql } from './sql.js';
import { FoldingRates, type ProjectionStatus, statusOf } from './status.js';
import { Upkeep } from './upkeep.js';
import { showBuild } from './views.js';

/** What a projector works with. */
export interface ProjectorOptions {
  log: Log;
  sql: Sql;
  projections: readonly Projection[];
  logger: Logger;
  /** Facts per transaction at most. */
  batch?: number;
  /** Milliseconds between two looks at the registry and the heads of the streams. */
  watchMs?: number;
  /** A stream is read again after so many milliseconds without progress while its head is ahead. */
  stallMs?: number;
  /** Milliseconds between two looks for a command to skip the fact that halted a read model. */
  skipPollMs?: number;
  /**
   * Whether this process answers requests now: read models with a large lag then leave them half of their
   * time.
   */
  isBusy?: () => boolean;
  /** Where what lags far is folded, in a thread of its own; without it all is folded in this thread. */
  catchUp?: CatchUpPlace | undefined;
}

/** Facts per batch: on PGlite, where readers wait for the running batch, and on a server. */
const defaultBatch = { pglite: 500, postgres: 1_000 };
/** How long a reader that does not fold trusts what it has read of the registry, in milliseconds. */
const registryAgeMs = 1_000;
const polls = { first: 10, longest: 100 };

/**
 * Keeps read models up to date with the log, and tells readers where they are. The registry of builds and
 * positions is in the read store. So a process that only reads (one that never calls `start`) sees what
 * others fold.
 */
export class Projector {
  /** What operators do about read models. */
  readonly upkeep: Upkeep;
  readonly #log: Log;
  readonly #sql: Sql;
  readonly #known: KnownBuilds;
  readonly #logger: Logger;
  readonly #watchMs: number;
  readonly #stallMs: number;
  readonly #folding: Folding;
  readonly #catchUp: CatchUpThread | undefined;
  readonly #stopped = new AbortController();
  readonly #heads = new Map<string, number>();
  readonly #rates = new FoldingRates();
  /** The build of each read model that its views show, as far as this process has seen to it. */
  readonly #shown = new Map<string, string>();
  /** Those who wait for something to change. */
  readonly #waiting = new Set<() => void>();
  #looking = Promise.resolve();
  #watching: Promise<void> | undefined;
  #completing = false;
  #storeIsDown = false;
  #isCaughtUp = false;

  constructor(options: ProjectorOptions) {
    const { log, sql, projections, logger } = options;
    this.#log = log;
    this.#sql = sql;
    this.#known = new KnownBuilds(sql, projections);
    this.#logger = logger;
    this.#watchMs = options.watchMs ?? 2_000;
    this.#stallMs = options.stallMs ?? 10_000;
    this.upkeep = new Upkeep({
      log,
      sql,
      logger,
      known: this.#known,
      look: () => this.#look(),
      status: () => this.status(),
    });
    const batch = options.batch ?? defaultBatch[sql.engine];
    const isBusy = options.isBusy ?? (() => false);
    if (options.catchUp && sql.share) {
      const share = () => sql.share!();
      this.#catchUp = new CatchUpThread({ ...options.catchUp, share, logger, batch, isBusy });
    }
    this.#folding = new Folding({
      log,
      sql,
      logger,
      batch,
      elsewhere: this.#catchUp,
      skipPollMs: options.skipPollMs ?? 1_000,
      changed: () => {
        this.#wake();
        void this.#complete();
      },
      awaited: () => this.#waiting.size > 0,
      isBusy,
      store: (error) => this.#noteStore(error),
    });
  }

  /** Begins to fold. Returns after the first look at the store, whether or not it answered. */
  async start(): Promise<void> {
    if (this.#watching) return;
    this.#watching = this.#watch();
    await this.#looking;
  }

  /** Finishes the batches in hand and ends. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wake();
    await Promise.all([this.#folding.stop(), this.#watching]);
    await this.#catchUp?.stop();
  }

  /**
   * The SQL schema that queries of a read model go to. Throws `Unavailable` until the first build of it has
   * caught up: half of the facts would be a wrong answer.
   */
  async schema(name: string): Promise<string> {
    const projection = this.#known.projection(name);
    await this.#refresh();
    const active = this.#known.active(projection);
    if (active) return active.schema;
    throw new Unavailable('read_model_building', `The read model ${name} is being built`);
  }

  /**
   * Waits until the build that is read contains everything up to a position; `false` if it does not within
   * `timeoutMs`.
   */
  async reached(name: string, position: Position, timeoutMs: number): Promise<boolean> {
    const projection = this.#known.projection(name);
    if (!projection.streams.some((stream) => stream.name === position.stream)) {
      throw new Error(`${name} is not made of ${position.stream}`);
    }
    const deadline = clock.elapsed() + timeoutMs;
    for (let looks = 1; ; looks++) {
      await this.#refresh().catch((error) => this.#noteStore(error));
      const active = this.#known.active(projection);
      if (active && (await this.#positionOf(active, position.stream)) >= position.seq) return true;
      const left = deadline - clock.elapsed();
      if (left <= 0 || this.#stopped.signal.aborted) return false;
      const folds = active ? this.#folding.of(active.schema) : [];
      const isTold =
        this.#watching && (!active || (folds.length > 0 && folds.every((fold) => fold.isCertain)));
      await this.#change(isTold ? left : Math.min(left, backoff(looks, polls)));
    }
  }

  /**
   * Identifies the state from which a query of a read model is answered now: as long as this text is the
   * same, so is the answer. `undefined` if this process does not know, because it does not fold the model.
   */
  stateOf(name: string): string | undefined {
    const active = this.#known.active(this.#known.projection(name));
    const folds = active ? this.#folding.of(active.schema) : [];
    if (folds.length === 0 || folds.some((fold) => !fold.isCertain)) return undefined;
    return `${active?.schema} ${folds.map(({ position }) => position).join(' ')}`;
  }

  /** Every build that is read or folded, as far as this process knows. Works while the store is away. */
  async status(): Promise<ProjectionStatus[]> {
    if (!this.#watching) await this.#look();
    return this.#statuses();
  }

  #statuses(): ProjectionStatus[] {
    const statuses = this.#known.projections.flatMap((projection) => {
      const active = this.#known.active(projection);
      const builds = new Set([...(active ? [active] : []), ...this.#known.toFold(projection)]);
      return [...builds].map((build) =>
        statusOf(projection, build, {
          isRead: build === active,
          folds: this.#folding.of(build.schema),
          heads: this.#heads,
          rates: this.#rates,
        }),
      );
    });
    this.#rates.keep(new Set(statuses.filter(({ progress }) => progress).map(({ schema }) => schema)));
    return statuses;
  }

  /**
   * Whether every read model of this version is being read. If this process folds it, it must also have seen
   * the end of its streams since the start. Halted ones do not count: the status shows them.
   */
  caughtUp(): boolean {
    if (!this.#watching) void this.#refresh().catch(() => {});
    this.#isCaughtUp ||= this.#known.projections.every((projection) => {
      const active = this.#known.active(projection);
      const folds = this.#known.toFold(projection).flatMap(({ schema }) => this.#folding.of(schema));
      if (folds.some((fold) => fold.state === 'halted')) return true;
      if (active?.version !== projection.version) return false;
      return !this.#watching || this.#hasSeenEnd(active);
    });
    return this.#isCaughtUp;
  }

  async #watch(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      await this.#look();
      await pause(this.#watchMs, this.#stopped.signal);
    }
  }

  /** Looks at the registry and at the log, and acts on what it sees. One look at a time; never throws. */
  #look(): Promise<void> {
    this.#looking = this.#looking.then(async () => {
      try {
        await this.#readBuilds();
      } catch (error) {
        this.#noteStore(error);
      }
      const heads = [...this.#known.streams].map(async (stream) => {
        this.#heads.set(stream.name, await this.#log.head(stream));
      });
      await Promise.allSettled(heads); // without the log, the last known heads must do
      this.#folding.watch(this.#heads, this.#stallMs);
      await this.#complete();
      this.#statuses(); // so that a later question gets an answer about how fast a build moves
    });
    return this.#looking;
  }

  /** For a process that does not fold: reads the registry when its copy is too old. */
  async #refresh(): Promise<void> {
    if (!this.#watching && this.#known.ageMs > registryAgeMs) await this.#readBuilds();
  }

  async #readBuilds(): Promise<void> {
    const known = this.#folding.known();
    await this.#known.read();
    if (this.#watching) {
      this.#folding.compare(this.#known.all, known);
      this.#folding.arrange(
        this.#known.projections.flatMap((projection) =>
          this.#known.toFold(projection).map((build) => ({ projection, build })),
        ),
      );
    }
    this.#wake();
  }

  /** Switches reads to builds that have caught up. */
  async #complete(): Promise<void> {
    if (!this.#watching || this.#completing || this.#stopped.signal.aborted) return;
    this.#completing = true;
    try {
      for (const projection of this.#known.projections) {
        for (const build of this.#known.toFold(projection)) {
          if (build.caughtUpAt || !this.#hasSeenEnd(build)) continue;
          const before = this.#known.active(projection)?.schema;
          const isSwitched = await completeBuild(this.#sql, build.schema, before);
          await this.#readBuilds(); // another process may have been faster
          if (isSwitched)
            this.#logger.info({ schema: build.schema, before }, 'read model is read from now on');
        }
      }
      await this.#show();
    } catch (error) {
      this.#noteStore(error);
    } finally {
      this.#completing = false;
    }
  }

  /** Has the views of each read model show what is read. An embedded store has none: nobody else can open it. */
  async #show(): Promise<void> {
    if (this.#sql.engine !== 'postgres') return;
    for (const projection of this.#known.projections) {
      const { name } = projection;
      const active = this.#known.active(projection);
      if (!active || this.#shown.get(name) === active.schema) continue;
      const is = await showBuild(this.#sql, projection, active, this.#known.all);
      if (is === 'foreign')
        this.#logger.warn(
          { schema: name },
          'the store has a schema of this name that is not ours: no views of the read model',
        );
      this.#shown.set(name, active.schema);
    }
  }

  #hasSeenEnd({ schema }: Build): boolean {
    const folds = this.#folding.of(schema);
    return folds.length > 0 && folds.every((fold) => fold.sawEnd && fold.state === 'folding');
  }

  async #positionOf({ schema }: Build, stream: string): Promise<number> {
    const fold = this.#folding.of(schema).find((it) => it.stream.name === stream);
    if (fold?.isCertain) return fold.position;
    return (await readPosition(this.#sql, schema, stream).catch(() => undefined)) ?? 0;
  }

  /** Resolves when something changed, or after `ms`. */
  async #change(ms: number): Promise<void> {
    let wake = () => {};
    await pause(ms, undefined, (end) => {
      wake = end;
      this.#waiting.add(wake);
      this.#folding.hurry();
    });
    this.#waiting.delete(wake);
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  #noteStore(error?: unknown): void {
    const isDown = error !== undefined;
    if (isDown === this.#storeIsDown) return;
    this.#storeIsDown = isDown;
    if (isDown) this.#logger.warn({ err: error }, 'read store does not answer, read models have to wait');
    else this.#logger.info('read store answers again');
  }
}
