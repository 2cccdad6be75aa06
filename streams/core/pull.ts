import { createInbox, type Msg, type NatsConnection, type Subscription } from 'nats';
import { clock, type Timer } from './clock.js';
import { firstStored } from './imported.js';
import { isEnding } from './nats.js';

/** A message of a stream as a consumer hands it out. */
export interface PulledMessage {
  subject: string;
  data: Uint8Array;
  /** Where to acknowledge; useless on consumers without acknowledgements. */
  reply: string;
  /** Sequence in the stream. */
  seq: number;
  /** Sequence of this delivery in the consumer, from 1. */
  deliverySeq: number;
  at: Date;
  /** Messages that the consumer still has after this one. */
  pending: number;
}

/** What a pull reads, and the callbacks that it calls. */
export interface PullOptions {
  stream: string;
  /** A consumer that has not delivered anything yet: its first message has delivery sequence 1. */
  consumer: string;
  /** How many more messages the owner can hold now. Asked again after each message and on `refill`. */
  capacity(): number;
  message(message: PulledMessage): void;
  /** The consumer is gone or silent: nothing more will come from this pull. Called once, never after `stop`. */
  broken(reason: string): void;
}

const requestExpiresMs = 30_000;
const heartbeatMs = 1_000;
/**
 * Without a message or heartbeat for this long, the request is lost: server restarts and leader changes do
 * that. In milliseconds.
 */
const silenceMs = 3_500;
const maxBatch = 5_000;

const encoder = new TextEncoder();

/**
 * Reads a JetStream pull consumer from its beginning, without gaps, and never asks for more messages than the
 * owner can hold. It does not repair itself: when it breaks, its owner decides where to go on.
 */
export class Pull {
  readonly #connection: NatsConnection;
  readonly #options: PullOptions;
  readonly #importedTo: number;
  readonly #inbox = createInbox();
  readonly #subscription: Subscription;
  readonly #watchdog: Timer;
  /** Messages asked for that have neither come nor been given back. */
  #asked = 0;
  #request = 0;
  #delivered = 0;
  #heard = clock.elapsed();
  #stopped = false;

  /** `importedTo`: up to this sequence messages may carry the time at which they were first stored. */
  constructor(connection: NatsConnection, options: PullOptions, importedTo = 0) {
    this.#connection = connection;
    this.#options = options;
    this.#importedTo = importedTo;
    this.#subscription = connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => (error ? this.fail(error.message) : this.#receive(message)),
    });
    this.#watchdog = clock.setInterval(() => this.#watch(), heartbeatMs);
    this.refill();
  }

  /** Asks for more if the owner has room. Call it when room has become free. */
  refill(): void {
    if (this.#stopped || isEnding(this.#connection)) return;
    const room = Math.min(this.#options.capacity() - this.#asked, maxBatch);
    if (room <= 0 || room < this.#asked / 2) return;
    if (this.#asked === 0) this.#heard = clock.elapsed();
    this.#asked += room;
    const request = { batch: room, expires: requestExpiresMs * 1e6, idle_heartbeat: heartbeatMs * 1e6 };
    this.#connection.publish(
      `$JS.API.CONSUMER.MSG.NEXT.${this.#options.stream}.${this.#options.consumer}`,
      encoder.encode(JSON.stringify(request)),
      { reply: `${this.#inbox}.${(this.#request++).toString(36)}` },
    );
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    clock.clearInterval(this.#watchdog);
    this.#subscription.unsubscribe();
  }

  /** Ends the pull as broken: its requests are lost with the connection they were made on. */
  fail(reason: string): void {
    if (this.#stopped) return;
    this.stop();
    this.#options.broken(reason);
  }

  /** Whether it has ended, by `stop` or because it broke. */
  get ended(): boolean {
    return this.#stopped;
  }

  /** Must not throw: the client would stop reading the connection. */
  #receive(message: Msg): void {
    if (this.#stopped) return;
    this.#heard = clock.elapsed();
    if (!message.reply) {
      this.#status(message);
      return;
    }
    this.#asked -= 1;
    try {
      const pulled = parse(message, this.#importedTo);
      if (pulled.deliverySeq !== ++this.#delivered) throw new Error('a gap in the deliveries');
      this.#options.message(pulled);
      this.refill();
    } catch (error) {
      this.fail((error as Error).message);
    }
  }

  /** Only status messages come on a request's own inbox; a message carries the subject it was stored under. */
  #status(message: Msg): void {
    const code = message.headers?.code ?? 0;
    if (code === 100) return;
    // 408: the request has timed out, and says how many messages it did not get
    const givenBack = message.headers?.get('Nats-Pending-Messages');
    if (code === 408 && givenBack) {
      this.#asked = Math.max(0, this.#asked - Number(givenBack));
      this.refill();
    } else this.fail(`${code} ${message.headers?.description ?? ''}`);
  }

  #watch(): void {
    if (this.#asked === 0) this.refill();
    else if (clock.elapsed() - this.#heard > silenceMs) this.fail('no heartbeat');
  }
}

/** `$JS.ACK.<stream>.<consumer>.<delivered>.<seq>.<delivery seq>.<time>.<pending>`, or with domain and account before the stream. */
function parse(message: Msg, importedTo: number): PulledMessage {
  const tokens = message.reply!.split('.');
  const offset = tokens.length > 9 ? 2 : 0;
  const seq = Number(tokens[5 + offset]);
  const first = seq <= importedTo ? firstStored(message.headers) : undefined;
  return {
    subject: message.subject,
    data: message.data,
    reply: message.reply!,
    seq,
    deliverySeq: Number(tokens[6 + offset]),
    at: first ?? new Date(Number(tokens[7 + offset]!.slice(0, -6))),
    pending: Number(tokens[8 + offset]),
  };
}
