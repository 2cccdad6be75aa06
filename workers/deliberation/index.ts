import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import type { Log } from '../../streams/core/index.js';
import { deliberation } from '../../streams/deliberation/index.js';
import { Reactor, type Verdict } from '../core/reactor.js';
import { type Model, Models } from './model.js';
import { QueryRun, type RunOptions } from './run.js';

export type { Model } from './model.js';

/** What the worker works with; times in milliseconds. */
export interface DeliberateOptions {
  log: Log;
  logger: Logger;
  models: Model[];
  callTimeoutMs: number;
  /** Pause before a model is asked for the second time; a second by default. */
  retryMs?: number;
}

const maxInHand = 1_000;
/** Queries that are run at the same time. */
const maxRuns = 8;
/**
 * If another process has continued a query, it is left to that process for this time, in milliseconds. A
 * process that should no longer run queries notices sooner than this, and stops.
 */
const overtakenMs = 10_000;
/** How long a stop waits for answers under way, in milliseconds: they are paid for. */
const stopBoundMs = 4_000;

/**
 * Runs queries: asks their models, records the answers and combines them. All it knows of a query is on
 * record, so that another process can continue where this one ends.
 */
export class Deliberate {
  readonly #options: RunOptions;
  readonly #cut = new AbortController();
  readonly #queries: Reactor<typeof deliberation, string>;

  constructor({ log, logger, models, callTimeoutMs, retryMs = 1_000 }: DeliberateOptions) {
    setMaxListeners(0, this.#cut.signal);
    this.#queries = new Reactor({
      log,
      logger,
      maxInHand,
      stopBoundMs,
      stream: deliberation,
      durable: 'deliberate',
      atOnce: maxRuns,
      plan: ({ type, data }) =>
        type === 'query.created' ? [{ key: data.query_id, item: data.query_id }] : [],
      handle: (id) => this.#run(id),
    });
    this.#options = {
      log,
      logger,
      callTimeoutMs,
      retryMs,
      models: new Models(),
      known: new Map(models.map((model) => [model.id, model])),
      stopped: this.#queries.stopping,
      cut: this.#cut.signal,
    };
  }

  start(): void {
    this.#queries.start();
  }

  /** Starts nothing more, and gives answers under way a little time to come. Bounded. */
  async stop(): Promise<void> {
    await this.#queries.stop();
    this.#cut.abort();
    await this.#queries.atRest();
  }

  async #run(id: string): Promise<Verdict> {
    const run = new QueryRun(id, this.#options);
    try {
      if (await run.run()) return { is: 'done' };
    } catch (error) {
      this.#options.logger.error({ query: id, err: error }, 'query cannot be run');
      await run.giveUp('internal_error', 'the query could not be run');
      return { is: 'done' };
    }
    // whoever overtook us continues it, or must stop soon because the work is ours: then nobody would
    // continue it
    return { is: 'wait', afterMs: this.#options.stopped.aborted ? 0 : overtakenMs };
  }
}
