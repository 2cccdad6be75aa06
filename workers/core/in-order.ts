import { AckPolicy, type ConsumerInfo, DeliverPolicy, NatsError, nanos } from 'nats';
import type { Logger } from 'pino';
import {
  type Log,
  newId,
  type Pull,
  type PulledMessage,
  pause,
  type StreamDefinition,
} from '../../streams/core/index.js';

/** Where a consumer takes up its work. */
export interface Takeover {
  /** First sequence that may be handed out, whether for the first time or again. */
  from: number;
  /** When the first message from there on was stored; `undefined` when there is none. */
  since: Date | undefined;
  /** Last sequence of the stream at this moment: everything up to it may have been in somebody's hands before. */
  head: number;
  /** Whether it was nobody's hands but ours since this consumer was started. */
  ours: boolean;
  /** Aborted when the consumer is stopped. */
  signal: AbortSignal;
}

/** What an in-order consumer reads and whom it tells. */
export interface InOrderOptions {
  log: Log;
  stream: StreamDefinition;
  /** Name of the durable consumer on the log. */
  durable: string;
  filter?: string;
  /** How many more messages the owner can hold now. */
  capacity(): number;
  /** Called before the first message of each start: the time to learn what was already done. */
  takeOver(place: Takeover): Promise<void>;
  message(message: PulledMessage): void;
  logger: Logger;
}

/** Longer than anything stays in hand: redelivery is done by taking over, never by the server's clock. */
const ackWaitMs = 24 * 3_600_000;
/** Messages behind the oldest one in hand; the server keeps some bytes for each. */
const maxAckPending = 1_000_000;
const againMs = 50;
const pauseMs = 500;
/** Somebody else has taken the work: two that are at it must not snatch it from each other all the time. */
const politePauseMs = 1_000;
const encoder = new TextEncoder();
const acknowledgement = encoder.encode('+ACK');

/**
 * A durable consumer that always hands out the stream in its order. A server redelivers what was in the hands
 * of a crashed worker after newer messages; so each start, and each start after a lost connection, makes the
 * consumer anew behind the last message up to which all are acknowledged. What is handed out twice this way
 * are messages that the owner has in hand, and those it dealt with before `takeOver` was called; it is the
 * owner's part to recognise them. The position lives on the server under one of two names, so that a
 * crash between making one and deleting the other loses nothing.
 */
export class InOrderConsumer {
  readonly #options: InOrderOptions;
  readonly #stop = new AbortController();
  /** Last sequence that the present pull has handed out, and where to acknowledge everything up to it. */
  #position = 0;
  #reply: string | undefined;
  /** Sequences that were handed out and are not done, oldest first, with where to acknowledge what comes before. */
  readonly #open = new Map<number, string | undefined>();
  /** Done since the takeover began and not handed out again yet: the new consumer does not know. */
  readonly #doneMeanwhile = new Set<number>();
  #acknowledged: string | undefined;
  #acknowledging = false;
  /** Under which of its two names it is on the server now. */
  #name: string | undefined;
  /** Stands on the consumers that we make, and tells them from anybody else's. */
  readonly #holder = newId();
  #pull: Pull | undefined;
  #reading = false;
  #waiting: (() => void)[] = [];
  #wake = () => {};
  #done: Promise<void> | undefined;

  constructor(options: InOrderOptions) {
    this.#options = options;
  }

  start(): void {
    this.#done = this.#run();
  }

  /** Hands out no more from now on; what was handed out may still come to its end. Resolves when all is quiet. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#pull?.stop();
    this.#wake();
    this.#setReading(false);
    await this.#done;
  }

  /** Name of the durable consumer on the log, as the options gave it. */
  get durable(): string {
    return this.#options.durable;
  }

  /** Whether the work is ours as far as we know: taken over, and not lost since. */
  get reading(): boolean {
    return this.#reading;
  }

  /** Resolves when the work is ours, or when the consumer is stopped. */
  async whenReading(): Promise<void> {
    if (this.#reading || this.#stop.signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /**
   * Takes note that the message at a sequence is dealt with. The log is told how far all are: a word that is
   * lost on the way only costs a second look after a takeover.
   */
  done(seq: number): void {
    if (seq > this.#position) this.#doneMeanwhile.add(seq);
    else if (this.#open.delete(seq) && !this.#acknowledging) {
      this.#acknowledging = true;
      setImmediate(() => this.#acknowledge());
    }
  }

  /** Sequence up to which all is dealt with, of what was handed out since the last takeover. */
  get position(): number {
    const [oldest] = this.#open.keys();
    return oldest === undefined ? this.#position : oldest - 1;
  }

  /** Writes on the consumer what whoever looks at it is to know, until it is made anew. */
  async note(metadata: Record<string, string>): Promise<void> {
    const { log, stream } = this.#options;
    const name = this.#name;
    if (name === undefined) throw new Error(`${this.durable} is not taken up yet`);
    await log.ask(() =>
      log.manager.consumers.update(stream.name, name, { metadata: { holder: this.#holder, ...metadata } }),
    );
  }

  /** To be called when the owner has room again. */
  refill(): void {
    this.#pull?.refill();
  }

  async #run(): Promise<void> {
    const { log, durable, logger } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const name = await this.#takeOver();
        if (signal.aborted) return;
        const reason = await this.#read(name);
        if (signal.aborted) return;
        logger.info({ worker: durable, reason }, 'consumer is taken up again');
        await pause(/deleted/i.test(reason) ? politePauseMs * (1 + Math.random()) : againMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (log.connected) logger.warn({ worker: durable, err: error }, 'consumer cannot be taken up now');
        await pause(pauseMs, signal);
      }
    }
  }

  async #takeOver(): Promise<string> {
    const { log, stream, filter, takeOver } = this.#options;
    this.#position = 0;
    this.#reply = undefined;
    this.#open.clear();
    this.#doneMeanwhile.clear();
    const { name, from, ours } = await this.#renew();
    this.#name = name;
    const first = await log.next(stream, from, filter);
    const head = await log.head(stream);
    await takeOver({ from, since: first?.at, head, ours, signal: this.#stop.signal });
    return name;
  }

  async #read(name: string): Promise<string> {
    const { log, stream, capacity } = this.#options;
    const reason = await new Promise<string>((resolve) => {
      this.#wake = () => resolve('stopped');
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
    return reason;
  }

  #handOut(message: PulledMessage): void {
    const { seq } = message;
    this.#open.set(seq, this.#reply);
    this.#position = seq;
    this.#reply = message.reply;
    if (this.#doneMeanwhile.delete(seq)) this.done(seq);
    else this.#options.message(message);
  }

  #acknowledge(): void {
    this.#acknowledging = false;
    const { connection } = this.#options.log;
    const [oldest] = this.#open.values();
    const upTo = this.#open.size === 0 ? this.#reply : oldest;
    if (upTo === undefined || upTo === this.#acknowledged || connection.isClosed()) return;
    this.#acknowledged = upTo;
    connection.publish(upTo, acknowledgement);
  }

  #setReading(reading: boolean): void {
    this.#reading = reading;
    if (!reading && !this.#stop.signal.aborted) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Makes the durable consumer anew behind its acknowledged part, under the name that is free. */
  async #renew(): Promise<{ name: string; from: number; ours: boolean }> {
    const { stream, durable, filter, log } = this.#options;
    const { consumers } = log.manager;
    const names = namesOf(durable);
    const found = await Promise.all(names.map((name) => this.#find(name)));
    const floors = found.map((info) => (info ? floorOf(info) : -1));
    const current = floors[1]! > floors[0]! ? 1 : 0;
    const next = 1 - current;
    const ours = found.some((info) => info?.config.metadata?.holder === this.#holder);
    if (found[next]) await log.ask(() => consumers.delete(stream.name, names[next]!));
    const from = Math.max(0, floors[current]!) + 1;
    await log.ask(() =>
      consumers.add(stream.name, {
        durable_name: names[next]!,
        ack_policy: AckPolicy.All,
        ack_wait: nanos(ackWaitMs),
        max_deliver: -1,
        max_ack_pending: maxAckPending,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: from,
        metadata: { holder: this.#holder },
        ...(filter ? { filter_subject: filter } : {}),
      }),
    );
    if (found[current]) await log.ask(() => consumers.delete(stream.name, names[current]!));
    return { name: names[next]!, from, ours };
  }

  async #find(name: string): Promise<ConsumerInfo | undefined> {
    const { log, stream } = this.#options;
    try {
      return await log.ask(() => log.manager.consumers.info(stream.name, name));
    } catch (error) {
      if (error instanceof NatsError && error.code === '404') return undefined;
      throw error;
    }
  }
}

/** The names under which the position of a consumer lies on the server, one of them at a time. */
export function namesOf(durable: string): string[] {
  return [`${durable}-1`, `${durable}-2`];
}

/** Sequence up to which all is acknowledged. A consumer that has handed out nothing yet has no floor of its own but the place it was made at. */
export function floorOf(info: ConsumerInfo): number {
  return Math.max(info.ack_floor.stream_seq, (info.config.opt_start_seq ?? 1) - 1);
}
