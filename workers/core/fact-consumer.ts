import type { Logger } from 'pino';
import {
  decodeFact,
  type FactOf,
  type Log,
  type PulledMessage,
  pause,
  type Recorded,
  type StreamDefinition,
} from '../../streams/core/index.js';
import { operations, workerSubject } from '../../streams/operations/facts.js';
import { InOrderConsumer, type Takeover } from './in-order.js';

/** What is consumed, and by whom. */
export interface FactConsumerOptions<S extends StreamDefinition> {
  log: Log;
  logger: Logger;
  stream: S;
  /** Name of the durable consumer on the log. */
  durable: string;
  filter?: string | undefined;
  /** How many more facts the owner can hold now; those in hand at most are `maxInHand` where it is not said. */
  capacity?(): number;
  maxInHand?: number | undefined;
  /** Called before the first fact of each start: the time to learn what was already done. */
  takeOver?(place: Takeover): Promise<void>;
  /** Whether anything is to be done about a message; asked before it is decoded. */
  concerns?(message: PulledMessage): boolean;
  /** A fact that is in hand from now on, until `done`. */
  take(fact: Recorded<FactOf<S>>): void;
}

/** A fact that a worker cannot take, as others are told of it. */
export interface HaltedAt {
  seq: number;
  reason: string;
}

/** What is written on the consumer, for whoever looks at it. */
export const haltedKey = 'halted';
const skipPollMs = 1_000;
const mostNamed = 20;
const longestReason = 200;

/**
 * Facts of a stream in their order, each handed over once until it is done. One that cannot be taken, because it does
 * not decode or because its owner says so, is named on the consumer, and stays until an operator's recorded command
 * lets the worker pass over it, or until a start that can take it.
 */
export class FactConsumer<S extends StreamDefinition> {
  readonly #options: FactConsumerOptions<S>;
  readonly #consumer: InOrderConsumer;
  readonly #stop = new AbortController();
  readonly #inHand = new Set<number>();
  readonly #halted = new Map<number, { reason: string; pass(): void }>();
  /** Sequences that operators let the worker pass over, as far as they were read. */
  readonly #skipped = new Set<number>();
  #skipsRead = 0;
  /** What stands on the consumer. */
  #noted: string | undefined;
  #watching: Promise<void> | undefined;

  constructor(options: FactConsumerOptions<S>) {
    const { log, logger, stream, durable, filter, maxInHand = 1_000, takeOver } = options;
    this.#options = options;
    this.#consumer = new InOrderConsumer({
      ...{ log, logger, stream, durable, ...(filter === undefined ? {} : { filter }) },
      capacity: options.capacity ?? (() => maxInHand - this.#inHand.size),
      takeOver: async (place) => {
        this.#noted = undefined;
        await takeOver?.(place);
      },
      message: (message) => this.#receive(message),
    });
  }

  start(): void {
    this.#consumer.start();
  }

  /** Hands over no more from now on. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#consumer.stop(), this.#watching]);
  }

  /** A fact is dealt with. */
  done(seq: number): void {
    this.#inHand.delete(seq);
    this.#consumer.done(seq);
    this.#consumer.refill();
  }

  /** A fact is somebody else's now: it is handed over again when the consumer is taken up anew. */
  leave(seq: number): void {
    this.#inHand.delete(seq);
    this.#consumer.refill();
  }

  /** A fact cannot be taken; `pass` is called when an operator lets the worker go on without it. */
  halt(seq: number, error: unknown, pass: () => void): void {
    const { logger, stream, durable: worker } = this.#options;
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

  /** The facts that cannot be taken. */
  get halted(): HaltedAt[] {
    return [...this.#halted].map(([seq, { reason }]) => ({ seq, reason }));
  }

  get durable(): string {
    return this.#options.durable;
  }

  /** Facts in hand now. */
  get inHand(): number {
    return this.#inHand.size;
  }

  /** Sequence up to which all is dealt with, of what was handed over since the last takeover. */
  get position(): number {
    return this.#consumer.position;
  }

  /** Whether the work is ours as far as we know. */
  get reading(): boolean {
    return this.#consumer.reading;
  }

  /** Resolves when the work is ours, or after a stop. */
  async whenReading(): Promise<void> {
    await this.#consumer.whenReading();
  }

  /** To be called when the owner has room again. */
  refill(): void {
    this.#consumer.refill();
  }

  #receive(message: PulledMessage): void {
    const { seq, data } = message;
    const { stream, concerns, take } = this.#options;
    if (this.#inHand.has(seq)) return;
    if (concerns && !concerns(message)) {
      this.#consumer.done(seq);
      return;
    }
    this.#inHand.add(seq);
    let fact: Recorded<FactOf<S>>;
    try {
      fact = decodeFact(stream, data, message);
    } catch (error) {
      this.halt(seq, error, () => this.done(seq));
      return;
    }
    take(fact);
  }

  /** Names what cannot be taken, and looks for commands to pass over it, while there is any. */
  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    const { logger, durable: worker } = this.#options;
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
    const { log, logger, stream, durable: worker } = this.#options;
    for await (const { seq, type, data } of log.subject(
      operations,
      workerSubject(worker),
      this.#skipsRead + 1,
    )) {
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
    const named = this.halted.slice(0, mostNamed).map(({ seq, reason }) => {
      return { seq, reason: reason.slice(0, longestReason) };
    });
    const text = JSON.stringify(named);
    if (text === (this.#noted ?? '[]')) return;
    await this.#consumer.note(named.length > 0 ? { [haltedKey]: text } : {});
    this.#noted = text;
  }
}
