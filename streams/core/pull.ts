import { createInbox, type Msg, type NatsConnection, type Subscription } from 'nats';

/** A message of a stream as a consumer hands it out. */
export interface PulledMessage {
  subject: string;
  data: Uint8Array;
  /** Where to acknowledge; of no use on consumers without acknowledgements. */
  reply: string;
  /** Sequence in the stream. */
  seq: number;
  /** Sequence of this delivery in the consumer: a gap means that messages were lost on the way. */
  deliverySeq: number;
  at: Date;
  /** Messages that the consumer still has after this one. */
  pending: number;
}

/** What a pull is to read and whom it tells. */
export interface PullOptions {
  stream: string;
  consumer: string;
  /** How many more messages the owner can hold now. Asked again after each message and on `refill`. */
  capacity(): number;
  message(message: PulledMessage): void;
  /** The consumer is gone or silent: nothing more will come from this pull. Called once, never after `stop`. */
  broken(reason: string): void;
}

const requestExpiresMs = 30_000;
const heartbeatMs = 1_000;
/** Without a message or heartbeat for this long, the request is lost: server restarts and moved leaders do that. */
const silenceMs = 3_500;
const maxBatch = 5_000;

const encoder = new TextEncoder();

/**
 * Reads a JetStream pull consumer with at most two requests outstanding and no more messages asked for than
 * the owner can hold. It does not repair itself: when it breaks, its owner decides where to go on.
 */
export class Pull {
  readonly #connection: NatsConnection;
  readonly #options: PullOptions;
  readonly #inbox = createInbox();
  readonly #subscription: Subscription;
  readonly #watchdog: NodeJS.Timeout;
  /** Messages still expected, by request, oldest first. */
  readonly #requests = new Map<string, number>();
  #asked = 0;
  #next = 0;
  #heard = Date.now();
  #stopped = false;

  constructor(connection: NatsConnection, options: PullOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#subscription = connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => (error ? this.#break(error.message) : this.#receive(message)),
    });
    this.#watchdog = setInterval(() => this.#watch(), heartbeatMs);
    this.refill();
  }

  /** Asks for more if the owner has room: call when it has come to have some. */
  refill(): void {
    if (this.#stopped || this.#requests.size >= 2) return;
    const room = Math.min(this.#options.capacity() - this.#asked, maxBatch);
    if (room <= 0 || (this.#asked > 0 && room < this.#asked / 2)) return;
    const token = (this.#next++).toString(36);
    if (this.#requests.size === 0) this.#heard = Date.now();
    this.#requests.set(token, room);
    this.#asked += room;
    const request = { batch: room, expires: requestExpiresMs * 1e6, idle_heartbeat: heartbeatMs * 1e6 };
    this.#connection.publish(
      `$JS.API.CONSUMER.MSG.NEXT.${this.#options.stream}.${this.#options.consumer}`,
      encoder.encode(JSON.stringify(request)),
      { reply: `${this.#inbox}.${token}` },
    );
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    clearInterval(this.#watchdog);
    this.#subscription.unsubscribe();
  }

  #receive(message: Msg): void {
    if (this.#stopped) return;
    this.#heard = Date.now();
    if (!message.reply) {
      this.#status(message);
      return;
    }
    this.#fulfil(1);
    this.#options.message(parse(message));
    this.refill();
  }

  /** Only status messages come on a request's own inbox; a message carries the subject it was stored under. */
  #status(message: Msg): void {
    const code = message.headers?.code ?? 0;
    if (code === 100) return;
    // 408: the request ran its time; 404: nothing there; 409 is fatal unless it is about the request's size
    const description = message.headers?.description ?? '';
    if (code === 408 || code === 404 || (code === 409 && /exceeded/i.test(description))) {
      const token = message.subject.slice(this.#inbox.length + 1);
      this.#asked -= this.#requests.get(token) ?? 0;
      this.#requests.delete(token);
      this.refill();
    } else this.#break(`${code} ${description}`);
  }

  /** The server serves requests in the order they came. */
  #fulfil(received: number): void {
    for (const [token, expected] of this.#requests) {
      this.#asked -= received;
      if (expected <= received) this.#requests.delete(token);
      else this.#requests.set(token, expected - received);
      return;
    }
  }

  /** Ends the pull as broken: its requests are lost with the connection they were made on. */
  fail(reason: string): void {
    this.#break(reason);
  }

  /** Whether it has ended, by `stop` or because it broke. */
  get ended(): boolean {
    return this.#stopped;
  }

  #watch(): void {
    if (this.#requests.size === 0) this.refill();
    else if (Date.now() - this.#heard > silenceMs) this.#break('no heartbeat');
  }

  #break(reason: string): void {
    if (this.#stopped) return;
    this.stop();
    this.#options.broken(reason);
  }
}

/** `$JS.ACK.<stream>.<consumer>.<delivered>.<seq>.<delivery seq>.<time>.<pending>`, or with domain and account before the stream. */
function parse(message: Msg): PulledMessage {
  const tokens = message.reply!.split('.');
  const offset = tokens.length > 9 ? 2 : 0;
  return {
    subject: message.subject,
    data: message.data,
    reply: message.reply!,
    seq: Number(tokens[5 + offset]),
    deliverySeq: Number(tokens[6 + offset]),
    at: new Date(Number(tokens[7 + offset]!.slice(0, -6))),
    pending: Number(tokens[8 + offset]),
  };
}
