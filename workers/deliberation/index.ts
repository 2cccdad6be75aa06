import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { decodeFact, type Log, type PulledMessage } from '../../streams/core/index.js';
import { deliberation } from '../../streams/deliberation/index.js';
import { InOrderConsumer } from '../core/in-order.js';
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
/** How long a stop waits for answers under way: they are paid for. */
const stopBoundMs = 4_000;

/**
 * Runs queries: asks their models, records what they answer and draws it together. All it knows of a query is what
 * is on record, so that another process goes on where this one ends.
 */
export class Deliberate {
  readonly #options: RunOptions;
  readonly #stop = new AbortController();
  readonly #cut = new AbortController();
  readonly #queries: InOrderConsumer;
  /** By the sequence of their creation. */
  readonly #inHand = new Map<number, Promise<void>>();
  readonly #turns: (() => void)[] = [];
  #runs = 0;

  constructor({ log, logger, models, callTimeoutMs, retryMs = 1_000 }: DeliberateOptions) {
    setMaxListeners(0, this.#stop.signal, this.#cut.signal);
    this.#options = {
      ...{ log, logger, callTimeoutMs, retryMs, models: new Models() },
      known: new Map(models.map((model) => [model.id, model])),
      stopped: this.#stop.signal,
      cut: this.#cut.signal,
    };
    this.#queries = new InOrderConsumer({
      log,
      logger,
      stream: deliberation,
      durable: 'deliberate',
      capacity: () => maxInHand - this.#inHand.size,
      takeOver: async () => {},
      message: (message) => this.#receive(message),
    });
  }

  start(): void {
    this.#queries.start();
  }

  /** Begins nothing any more, and gives answers under way a little time to come. Bounded. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const next of this.#turns.splice(0)) next();
    const idle = Promise.all([this.#queries.stop(), ...this.#inHand.values()]);
    await Promise.race([idle, sleep(stopBoundMs, undefined, { ref: false })]);
    this.#cut.abort();
    await idle;
  }

  #receive(message: PulledMessage): void {
    const { seq } = message;
    if (this.#inHand.has(seq)) return;
    const id = this.#created(message);
    if (id === undefined) {
      this.#queries.done(seq);
      return;
    }
    this.#inHand.set(seq, this.#run(seq, id));
  }

  /** Id of the query that a fact creates, if it creates one. */
  #created(message: PulledMessage): string | undefined {
    try {
      const fact = decodeFact(deliberation, message.data, message);
      return fact.type === 'query.created' ? fact.data.query_id : undefined;
    } catch (error) {
      this.#options.logger.error(
        { seq: message.seq, err: error },
        'deliberation fact cannot be read: passed over',
      );
      return undefined;
    }
  }

  async #run(seq: number, id: string): Promise<void> {
    let isOver = true;
    await this.#inTurn(async () => {
      const { logger } = this.#options;
      const run = new QueryRun(id, this.#options);
      try {
        isOver = await run.run();
      } catch (error) {
        logger.error({ query: id, err: error }, 'query cannot be run');
        await run.giveUp('internal_error', 'the query could not be run').catch((err: unknown) => {
          logger.error({ query: id, err }, 'query cannot be ended');
        });
      }
    });
    if (this.#stop.signal.aborted) return; // whoever takes over is handed it again
    this.#inHand.delete(seq);
    // whoever has overtaken us has taken up the consumer, too: we are handed it again when it is ours
    if (isOver) this.#queries.done(seq);
    else this.#options.logger.warn({ query: id }, 'another worker runs the query');
    this.#queries.refill();
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    while (this.#runs >= maxRuns && !signal.aborted)
      await new Promise<void>((resolve) => this.#turns.push(resolve));
    if (signal.aborted) return;
    this.#runs += 1;
    try {
      await work();
    } finally {
      this.#runs -= 1;
      this.#turns.shift()?.();
    }
  }
}
