import type { Logger } from 'pino';
import { type Log, pause, type StreamDefinition } from '../../streams/core/index.js';
import { operations, workerSubject } from '../../streams/operations/facts.js';

/** A fact that a worker cannot process, in the form in which others are told of it. */
export interface HaltedAt {
  seq: number;
  reason: string;
}

/** Key of the note on the consumer that names it. */
export const haltedKey = 'halted';
const skipPollMs = 1_000;
const mostNamed = 20;
const longestReason = 200;

/** Who has facts that it cannot take. */
export interface HaltedFactsOptions {
  log: Log;
  logger: Logger;
  stream: StreamDefinition;
  worker: string;
  /** Writes on the worker's consumer. */
  note(metadata: Record<string, string>): Promise<void>;
  signal: AbortSignal;
}

/**
 * The facts that a worker cannot process. Its consumer names them. They stay until an operator's recorded
 * command lets the worker skip them.
 */
export class HaltedFacts {
  readonly #options: HaltedFactsOptions;
  readonly #halted = new Map<number, { reason: string; pass(): void }>();
  /** Sequences that operators let the worker skip, as far as they were read. */
  readonly #skipped = new Set<number>();
  #skipsRead = 0;
  /** What is stored with the consumer. */
  #noted: string | undefined;
  #watching: Promise<void> | undefined;

  constructor(options: HaltedFactsOptions) {
    this.#options = options;
  }

  get list(): HaltedAt[] {
    return [...this.#halted].map(([seq, { reason }]) => ({ seq, reason }));
  }

  /** `pass` is called when an operator lets the worker go on without the fact. */
  add(seq: number, error: unknown, pass: () => void): void {
    const { logger, stream, worker } = this.#options;
    const reason = error instanceof Error ? error.message : String(error);
    logger.error({ worker, stream: stream.name, seq, err: error }, 'fact cannot be taken');
    const before = this.#halted.get(seq);
    this.#halted.set(seq, {
      reason,
      pass: () => {
        before?.pass();
        pass();
      },
    });
    this.#watching ??= this.#watch();
  }

  /** The consumer was made again: it has no notes. */
  unnoted(): void {
    this.#noted = undefined;
  }

  /** Resolves when it has stopped looking for commands, after the signal. */
  async atRest(): Promise<void> {
    await this.#watching;
  }

  /** Names what cannot be processed, and looks for commands to skip it, while there is any. */
  async #watch(): Promise<void> {
    const { logger, worker, signal } = this.#options;
    while (!signal.aborted) {
      try {
        if (this.#halted.size > 0) await this.#skip();
        await this.#note();
        if (this.#halted.size === 0) break;
      } catch (error) {
        logger.debug({ worker, err: error }, 'what cannot be taken cannot be named now');
      }
      await pause(skipPollMs, signal);
    }
    this.#watching = undefined;
  }

  async #skip(): Promise<void> {
    const { log, logger, stream, worker } = this.#options;
    const commands = log.subject(operations, workerSubject(worker), this.#skipsRead + 1);
    for await (const { seq, type, data } of commands) {
      this.#skipsRead = seq;
      if (type === 'work.skipped' && data.stream === stream.name) this.#skipped.add(data.seq);
    }
    for (const [seq, { pass }] of this.#halted) {
      if (!this.#skipped.has(seq)) continue;
      logger.warn({ worker, stream: stream.name, seq }, 'worker skips a fact, as an operator decided');
      this.#halted.delete(seq);
      pass();
    }
  }

  async #note(): Promise<void> {
    const named = this.list.slice(0, mostNamed).map(({ seq, reason }) => {
      return { seq, reason: reason.slice(0, longestReason) };
    });
    const text = JSON.stringify(named);
    if (text === (this.#noted ?? '[]')) return;
    await this.#options.note(named.length > 0 ? { [haltedKey]: text } : {});
    this.#noted = text;
  }
}
