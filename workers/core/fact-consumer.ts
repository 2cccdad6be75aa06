import type { Logger } from 'pino';
import { clock } from '../../streams/core/clock.js';
import {
  decodeFact,
  type FactOf,
  isEnding,
  type Log,
  type Pull,
  type PulledMessage,
  pause,
  type Recorded,
  type StreamDefinition,
} from '../../streams/core/index.js';
import { DurableConsumer } from './durable-consumer.js';
import { type HaltedAt, HaltedFacts } from './halted-facts.js';

/** Where a consumer takes up its work. */
export interface Takeover {
  /** First sequence that may be handed out, for the first time or again. */
  from: number;
  /** When the first message from there on was stored; `undefined` without such a message. */
  since: Date | undefined;
  /**
   * Last sequence of the stream at this moment: everything up to it may have been handled by somebody before.
   */
  head: number;
  /** Whether only we have held it since our last takeover that came to its end. */
  ours: boolean;
  /** Last sequence that others may have handled: what is handed out up to it is in doubt, also in later takeovers. */
  doubtful: number;
  /** Aborted when the consumer is stopped. */
  signal: AbortSignal;
}

/** What is consumed, and the callbacks of its owner. */
export interface FactConsumerOptions<S extends StreamDefinition> {
  log: Log;
  logger: Logger;
  stream: S;
  /** Name of the durable consumer on the log. */
  durable: string;
  filter?: string | undefined;
  /** How many more facts the owner can hold now; by default, `maxInHand` less those in hand. */
  capacity?(): number;
  maxInHand?: number | undefined;
  /** Called before the first fact of each start: the time to learn what was already done. */
  takeOver?(place: Takeover): Promise<void>;
  /** Whether a message needs work; asked before it is decoded. */
  concerns?(message: PulledMessage): boolean;
  /** A fact that is in hand from now on, until `done`. */
  take(fact: Recorded<FactOf<S>>): void;
}

const againMs = 50;
const pauseMs = 500;
/**
 * Somebody else has taken the work: two that compete for it must not take it from each other all the time.
 */
const politePauseMs = 1_000;
const acknowledgement = new TextEncoder().encode('+ACK');

/**
 * Facts of a stream in order. Each is handed over once, until it is done.
 *
 * A server redelivers what a crashed worker had in hand after newer messages. So each start, and each start
 * after a lost connection, makes the durable consumer again, after the last message up to which all are
 * acknowledged. This delivers two kinds of facts twice. Those that the owner has in hand are not handed over
 * again. Those that were done before `takeOver` was called are: the owner must recognise them.
 *
 * A fact halts the worker if it does not decode, or if its owner says that it cannot be processed. It stays
 * in hand until an operator lets the worker skip it, or until a start that can process it.
 */
export class FactConsumer<S extends StreamDefinition> {
  readonly #options: FactConsumerOptions<S>;
  readonly #consumer: DurableConsumer;
  readonly #halted: HaltedFacts;
  readonly #stop = new AbortController();
  /** Last sequence that the present pull has handed out, and where to acknowledge everything up to it. */
  #position = 0;
  #reply: string | undefined;
  #doubtful = 0;
  /**
   * Sequences that were handed out and are not done, oldest first. Each has where to acknowledge what comes
   * before it.
   */
  readonly #open = new Map<number, string | undefined>();
  /** Done since the takeover began and not handed out again yet: the new consumer does not know of them. */
  readonly #doneMeanwhile = new Set<number>();
  /** Sequences that the owner of the consumer works on, also across takeovers. */
  readonly #inHand = new Set<number>();
  #acknowledged: string | undefined;
  #acknowledging = false;
  #pull: Pull | undefined;
  #reading = false;
  #waiting: (() => void)[] = [];
  #ended = () => {};
  #running: Promise<void> | undefined;

  constructor(options: FactConsumerOptions<S>) {
    const { log, logger, stream, durable, filter } = options;
    this.#options = options;
    this.#consumer = new DurableConsumer({ log, stream, durable, filter });
    this.#halted = new HaltedFacts({
      log,
      logger,
      stream,
      worker: durable,
      signal: this.#stop.signal,
      note: (metadata) => this.#consumer.note(metadata),
    });
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Hands over no more from now on; facts in hand may still be finished. Resolves when all is quiet. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#pull?.stop();
    this.#ended();
    this.#setReading(false);
    await Promise.all([this.#running, this.#halted.atRest()]);
  }

  /**
   * A fact is done. The log is told up to where all are done. If that message is lost, the only cost is a
   * second look after a takeover.
   */
  done(seq: number): void {
    this.#inHand.delete(seq);
    this.#settle(seq);
    this.refill();
  }

  /** A fact is somebody else's now: it is handed over again at the next takeover. */
  leave(seq: number): void {
    this.#inHand.delete(seq);
    this.refill();
  }

  /** A fact cannot be processed. `pass` is called when an operator lets the worker skip it. */
  halt(seq: number, error: unknown, pass: () => void): void {
    this.#halted.add(seq, error, pass);
  }

  /** The facts that cannot be taken. */
  get halted(): HaltedAt[] {
    return this.#halted.list;
  }

  get durable(): string {
    return this.#options.durable;
  }

  /** Sequence up to which all is done, of what was handed over since the last takeover. */
  get position(): number {
    const [oldest] = this.#open.keys();
    return oldest === undefined ? this.#position : oldest - 1;
  }

  /** Whether the work is ours as far as we know: taken over, and not lost since. */
  get reading(): boolean {
    return this.#reading;
  }

  /** Resolves when the work is ours, or after a stop. */
  async whenReading(): Promise<void> {
    if (this.#reading || this.#stop.signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Call this when the owner has room again. */
  refill(): void {
    this.#pull?.refill();
  }

  async #run(): Promise<void> {
    const { log, logger, durable: worker } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const name = await this.#takeOver();
        if (signal.aborted) return;
        const reason = await this.#read(name);
        if (signal.aborted) return;
        logger.info({ worker, reason }, 'consumer is taken up again');
        await pause(/deleted/i.test(reason) ? politePauseMs * (1 + clock.random()) : againMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (log.connected) logger.warn({ worker, err: error }, 'consumer cannot be taken up now');
        await pause(pauseMs, signal);
      }
    }
  }

  async #takeOver(): Promise<string> {
    const { log, stream, filter, takeOver } = this.#options;
    this.#position = 0;
    this.#reply = undefined;
    // a consumer that is made again under a name it had may have the same address for the same message
    this.#acknowledged = undefined;
    this.#open.clear();
    this.#doneMeanwhile.clear();
    const { name, from, ours } = await this.#consumer.renew();
    const first = await log.next(stream, from, filter);
    const head = await log.head(stream);
    this.#halted.unnoted();
    if (!ours) this.#doubtful = head;
    const [since, doubtful, { signal }] = [first?.at, this.#doubtful, this.#stop];
    await takeOver?.({ from, since, head, ours, doubtful, signal });
    this.#consumer.settle();
    return name;
  }

  /** Hands out until the pull breaks. Answers why it did. */
  async #read(name: string): Promise<string> {
    const { log, stream, maxInHand = 1_000 } = this.#options;
    const { capacity = () => maxInHand - this.#inHand.size } = this.#options;
    return await new Promise<string>((resolve) => {
      this.#ended = () => resolve('stopped');
      this.#pull = log.pull({
        stream: stream.name,
        consumer: name,
        capacity,
        message: (message) => this.#handOut(message),
        broken: (why) => {
          this.#setReading(false);
          resolve(why);
        },
      });
      this.#setReading(true);
    });
  }

  #handOut(message: PulledMessage): void {
    const { seq } = message;
    const { stream, concerns, take } = this.#options;
    this.#open.set(seq, this.#reply);
    this.#position = seq;
    this.#reply = message.reply;
    const isDone = this.#doneMeanwhile.delete(seq);
    if (!isDone && this.#inHand.has(seq)) return;
    if (isDone || concerns?.(message) === false) {
      this.#settle(seq);
      return;
    }
    this.#inHand.add(seq);
    let fact: Recorded<FactOf<S>>;
    try {
      fact = decodeFact(stream, message.data, message);
    } catch (error) {
      this.halt(seq, error, () => this.done(seq));
      return;
    }
    take(fact);
  }

  #settle(seq: number): void {
    if (seq > this.#position) this.#doneMeanwhile.add(seq);
    else if (this.#open.delete(seq) && !this.#acknowledging) {
      this.#acknowledging = true;
      this.#options.log.atEndOfTurn(() => this.#acknowledge());
    }
  }

  #acknowledge(): void {
    this.#acknowledging = false;
    const { connection } = this.#options.log;
    const [oldest] = this.#open.values();
    const upTo = this.#open.size === 0 ? this.#reply : oldest;
    if (upTo === undefined || upTo === this.#acknowledged) return;
    if (isEnding(connection)) return; // what is not acknowledged is handed out once more
    this.#acknowledged = upTo;
    connection.publish(upTo, acknowledgement);
  }

  #setReading(reading: boolean): void {
    this.#reading = reading;
    if (!reading && !this.#stop.signal.aborted) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
