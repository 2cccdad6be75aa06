import { AckPolicy, DeliverPolicy, NatsError, nanos } from 'nats';
import type { Logger } from 'pino';
import type { Log, Pull, PulledMessage, StreamDefinition } from '../../streams/core/index.js';

/** Where a consumer takes up its work. */
export interface Takeover {
  /** When the first message that is not acknowledged was stored; `undefined` when all are. */
  since: Date | undefined;
  /** Last sequence of the stream at this moment: everything up to it may have been in somebody's hands before. */
  head: number;
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
const maxAckPending = 100_000;
const encoder = new TextEncoder();
const acknowledgement = encoder.encode('+ACK');

/**
 * A durable consumer that always hands out the stream in its order. A server redelivers what was in the hands
 * of a crashed worker after newer messages; so each start, and each start after a lost connection, makes the
 * consumer anew behind the last message up to which all are acknowledged. Messages that are handed out twice
 * this way are the owner's to recognise. The position lives on the server under one of two names, so that a
 * crash between making one and deleting the other loses nothing.
 */
export class InOrderConsumer {
  readonly #options: InOrderOptions;
  #pull: Pull | undefined;
  #stopped = false;
  #wake = () => {};
  #done: Promise<void> | undefined;

  constructor(options: InOrderOptions) {
    this.#options = options;
  }

  start(): void {
    this.#done = this.#run();
  }

  /** Hands out no more; what was handed out may still be acknowledged. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#pull?.stop();
    this.#wake();
    await this.#done;
  }

  /** Tells the log that a message is dealt with. A lost acknowledgement only costs a second look after a takeover. */
  acknowledge(reply: string): void {
    if (!this.#options.log.connection.isClosed())
      this.#options.log.connection.publish(reply, acknowledgement);
  }

  /** To be called when the owner has room again. */
  refill(): void {
    this.#pull?.refill();
  }

  async #run(): Promise<void> {
    const { log, stream, durable, logger } = this.#options;
    while (!this.#stopped) {
      try {
        const { name, ackFloor } = await this.#renew();
        const first = await log.next(stream, ackFloor + 1);
        await this.#options.takeOver({ since: first?.at, head: await log.head(stream) });
        if (this.#stopped) return;
        const reason = await this.#read(name);
        if (!this.#stopped) logger.info({ worker: durable, reason }, 'consumer is taken up again');
      } catch (error) {
        if (this.#stopped) return;
        logger.warn({ worker: durable, err: error }, 'consumer cannot be taken up now');
        await this.#pause(500);
      }
    }
  }

  #read(name: string): Promise<string> {
    return new Promise((resolve) => {
      this.#wake = () => resolve('stopped');
      this.#pull = this.#options.log.pull({
        stream: this.#options.stream.name,
        consumer: name,
        capacity: this.#options.capacity,
        message: this.#options.message,
        broken: resolve,
      });
    });
  }

  /** Makes the durable consumer anew behind its acknowledged part, under the name that is free. */
  async #renew(): Promise<{ name: string; ackFloor: number }> {
    const { stream, durable, filter, log } = this.#options;
    const { consumers } = log.manager;
    const names = [`${durable}-1`, `${durable}-2`];
    const found = await Promise.all(names.map((name) => this.#floor(name)));
    const current = (found[1] ?? -1) > (found[0] ?? -1) ? 1 : 0;
    const next = 1 - current;
    if (found[next] !== undefined) await consumers.delete(stream.name, names[next]!);
    const ackFloor = found[current] ?? 0;
    await consumers.add(stream.name, {
      durable_name: names[next]!,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ackWaitMs),
      max_deliver: -1,
      max_ack_pending: maxAckPending,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: ackFloor + 1,
      ...(filter ? { filter_subject: filter } : {}),
    });
    if (found[current] !== undefined) await consumers.delete(stream.name, names[current]!);
    return { name: names[next]!, ackFloor };
  }

  async #floor(name: string): Promise<number | undefined> {
    try {
      const info = await this.#options.log.manager.consumers.info(this.#options.stream.name, name);
      // a consumer that has handed out nothing yet has no floor of its own but the place it was made at
      return Math.max(info.ack_floor.stream_seq, (info.config.opt_start_seq ?? 1) - 1);
    } catch (error) {
      if (error instanceof NatsError && error.code === '404') return undefined;
      throw error;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
