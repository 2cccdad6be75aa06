import { setMaxListeners } from 'node:events';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Logger } from 'pino';
import { atMost, clock } from '../../streams/core/clock.js';
import {
  backoff,
  type FactOf,
  isExpected,
  type Log,
  type PulledMessage,
  type Recorded,
  requireFact,
  retry,
  type StreamDefinition,
} from '../../streams/core/index.js';
import { FactConsumer, type Takeover } from './fact-consumer.js';
import type { HaltedAt } from './halted-facts.js';
import { done, KeyedQueue, type Verdict as QueueVerdict } from './keyed-queue.js';
import { Recorder, type ToRecord } from './record.js';

/**
 * The outcome of one attempt at a piece of work. If it names a fact, that is recorded before other work of
 * the key begins.
 */
export type Verdict =
  | Exclude<QueueVerdict, { is: 'done' }>
  | { is: 'done'; fact?: ToRecord }
  /** Given up; the fact says so, if there is one. */
  | { is: 'dead'; reason: string; fact?: ToRecord }
  /** Somebody else does it now. */
  | { is: 'left' };

/** Work that a fact asks for. Work of one key is done in order, that of different keys in parallel. */
export interface Task<Item> {
  key: string;
  item: Item;
}

/** What a handler knows of its attempt. */
export interface Try {
  /** How many tries have failed before. */
  tries: number;
  /** Why the last one did. */
  reason: string | undefined;
  /** When the work was taken in hand, in milliseconds. */
  since: number;
}

/** What is consumed, and what is done about it. */
export interface ReactorOptions<S extends StreamDefinition, Item> {
  log: Log;
  logger: Logger;
  stream: S;
  /** Name of the durable consumer on the log. */
  durable: string;
  filter?: string;
  /** Facts in hand at most. */
  maxInHand: number;
  /** Tries under way at most. */
  atOnce: number;
  /** How long a stop waits for attempts under way, in milliseconds. */
  stopBoundMs?: number;
  takeOver?(place: Takeover): Promise<void>;
  /** Whether a message needs work; asked before it is decoded. */
  concerns?(message: PulledMessage): boolean;
  /** The work that a fact asks for. Called for facts in the order of the stream; again when it throws `Unavailable`. */
  plan(fact: Recorded<FactOf<S>>): Task<Item>[] | Promise<Task<Item>[]>;
  /**
   * One attempt. An error that it throws is no verdict. `Unavailable` means that nothing was attempted,
   * because something is down. Any other error is a fault of ours. A fact that causes a fault again and again
   * halts the worker.
   */
  handle(item: Item, attempt: Try): Verdict | Promise<Verdict>;
}

interface Work<Item> extends Try {
  seq: number;
  item: Item;
  key: string;
  /** How many pieces of work of the same fact are not done yet. */
  rest: { count: number };
  waits: number;
  faults: number;
}

const pauses = { first: 100, longest: 5_000 };
/** Between two lines about work that has to wait. */
const quietMs = 10_000;
/** After so many faults in a row a fact halts the worker. */
const mostFaults = 5;
const usualStopBoundMs = 3_000;
const notBegun: Verdict = { is: 'wait', afterMs: 0 };

/**
 * Lets a handler do the work that the facts of a stream ask for. Work of each key is done in order, until
 * each piece is done or given up.
 */
export class Reactor<S extends StreamDefinition, Item> {
  readonly #options: ReactorOptions<S, Item>;
  readonly #stop = new AbortController();
  readonly #facts: FactConsumer<S>;
  readonly #queue: KeyedQueue<Work<Item>>;
  readonly #limit: LimitFunction;
  readonly #recorder: Recorder;
  #planned = Promise.resolve();
  /** Nobody is told of another wait before, by `clock.elapsed`. */
  #quietUntil = 0;

  constructor(options: ReactorOptions<S, Item>) {
    this.#options = options;
    setMaxListeners(0, this.#stop.signal); // one for each key that waits
    this.#limit = pLimit(options.atOnce);
    this.#queue = new KeyedQueue({
      stopping: this.stopping,
      handle: (work, tries) => this.#try(work, tries),
    });
    const { log, logger, stream, durable, filter, maxInHand, takeOver, concerns } = options;
    this.#recorder = new Recorder(log, logger, this.stopping);
    this.#facts = new FactConsumer({
      log,
      logger,
      stream,
      durable,
      filter,
      maxInHand,
      ...(takeOver ? { takeOver } : {}),
      ...(concerns ? { concerns } : {}),
      take: (fact) => {
        this.#planned = this.#planned.then(() => this.#plan(fact));
      },
    });
  }

  start(): void {
    this.#facts.start();
  }

  /** Aborted by a stop. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  /** Starts nothing more, and lets attempts under way finish. Bounded. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const { stopBoundMs = usualStopBoundMs } = this.#options;
    await atMost(Promise.all([this.#facts.stop(), this.atRest()]), stopBoundMs);
  }

  /** Tries the first work of a key now, if it waits for its next attempt. */
  hurry(key: string): void {
    this.#queue.hurry(key);
  }

  /** Resolves when nothing is under way any more after a stop. */
  async atRest(): Promise<void> {
    await this.#planned;
    await this.#queue.atRest();
  }

  /** The facts that cannot be taken. */
  get halted(): HaltedAt[] {
    return this.#facts.halted;
  }

  /** Sequence up to which all is done, of what was handed over since the last takeover. */
  get position(): number {
    return this.#facts.position;
  }

  /** Whether the work is ours as far as we know: taken over, and not lost since. */
  get reading(): boolean {
    return this.#facts.reading;
  }

  /** Resolves when the work is ours, or after a stop. */
  async whenReading(): Promise<void> {
    await this.#facts.whenReading();
  }

  async #plan(fact: Recorded<FactOf<S>>): Promise<void> {
    const { seq } = fact;
    if (this.stopping.aborted) return;
    const tasks = await this.#tasksOf(fact);
    if (!tasks) return;
    if (tasks.length === 0) {
      this.#facts.done(seq);
      return;
    }
    const rest = { count: tasks.length };
    const since = clock.now();
    for (const { key, item } of tasks) {
      this.#queue.push(key, {
        seq,
        key,
        item,
        rest,
        since,
        tries: 0,
        reason: undefined,
        waits: 0,
        faults: 0,
      });
    }
  }

  /** The work that a fact asks for; none when it halts the worker, or after a stop. */
  async #tasksOf(fact: Recorded<FactOf<S>>): Promise<Task<Item>[] | undefined> {
    const { plan } = this.#options;
    const { seq } = fact;
    const failed = (error: unknown) => {
      if (!isUnavailable(error)) throw error;
      this.#tellOfWait({ seq, err: error }, 'fact has to wait');
    };
    try {
      return await retry(async () => await plan(fact), { pauses, failed, signal: this.stopping });
    } catch (error) {
      this.#facts.halt(seq, error, () => this.#facts.done(seq));
      return undefined;
    }
  }

  /** What is away is away for all work, and some thousand pieces may be in hand: one line tells of all. */
  #tellOfWait(about: { seq: number; key?: string; err: unknown }, what: string): void {
    const { log, logger, durable: worker } = this.#options;
    if (!log.connected || clock.elapsed() < this.#quietUntil) return;
    this.#quietUntil = clock.elapsed() + quietMs;
    logger.warn({ worker, ...about }, what);
  }

  async #try(work: Work<Item>, tries: number): Promise<QueueVerdict> {
    const { logger, durable: worker, handle } = this.#options;
    const { seq } = work;
    work.tries = tries;
    let verdict: Verdict;
    try {
      verdict = await this.#limit(() => (this.stopping.aborted ? notBegun : handle(work.item, work)));
      if ('fact' in verdict && verdict.fact) requireFact(verdict.fact.stream, verdict.fact.fact);
    } catch (error) {
      return await this.#failed(work, error);
    }
    work.waits = 0;
    work.faults = 0;
    switch (verdict.is) {
      case 'retry':
        work.reason = verdict.reason;
        logger.info(
          { worker, seq, key: work.key, tries: tries + 1, error: verdict.reason },
          'work is tried again',
        );
        return verdict;
      case 'wait':
        return verdict;
      case 'left':
        logger.warn({ worker, seq, key: work.key }, 'another process does the work');
        this.#facts.leave(seq);
        return done;
      case 'dead':
        logger.error({ worker, seq, key: work.key, tries, error: verdict.reason }, 'work given up');
    }
    if (!verdict.fact || (await this.#recorder.record(verdict.fact))) this.#settle(work);
    return done;
  }

  async #failed(work: Work<Item>, error: unknown): Promise<QueueVerdict> {
    const { logger, durable: worker } = this.#options;
    const { seq, key } = work;
    if (isUnavailable(error)) {
      work.waits += 1;
      this.#tellOfWait({ seq, key, err: error }, 'work has to wait');
      return { is: 'wait', afterMs: backoff(work.waits, pauses) };
    }
    work.faults += 1;
    if (work.faults < mostFaults) {
      logger.error({ worker, seq, key, err: error }, 'work failed');
      return { is: 'wait', afterMs: backoff(work.faults, pauses) };
    }
    await new Promise<void>((resolve) => {
      const leave = () => resolve();
      this.stopping.addEventListener('abort', leave);
      this.#facts.halt(seq, error, () => {
        this.stopping.removeEventListener('abort', leave);
        this.#settle(work);
        resolve();
      });
    });
    return done;
  }

  #settle({ seq, rest }: Work<Item>): void {
    rest.count -= 1;
    if (rest.count === 0) this.#facts.done(seq);
  }
}

const isUnavailable = (error: unknown): boolean => isExpected(error) && error.kind === 'unavailable';
