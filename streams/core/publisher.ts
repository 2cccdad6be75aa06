import { createInbox, type MsgHdrs, type NatsConnection, nuid } from 'nats';
import { clock, type Timer } from './clock.js';
import { Unavailable } from './errors.js';

/** The log's answer to an append: where the message is, or why it was not taken. */
export type PublishAnswer =
  | { is: 'stored'; seq: number; duplicate: boolean }
  /** The expected last sequence was not the real one. */
  | { is: 'conflict' }
  | { is: 'refused'; code: number; error: string };

/** What an append may ask of the log. */
export interface PublishOptions {
  /** Unique id: a second message with the same id within the stream's duplicate window is not stored again. */
  id: string;
  /** Append only if the subject's last message has this sequence (0: the subject has none). */
  expectedLastSubjectSequence: number | undefined;
  /** Milliseconds to wait for the answer. */
  timeoutMs: number;
}

interface Outgoing {
  token: string;
  subject: string;
  data: Uint8Array;
  options: PublishOptions;
}

interface Pending {
  resolve(answer: PublishAnswer): void;
  reject(error: Error): void;
  deadline: number;
}

const wrongLastSequence = [10071, 10164];
const sweepMs = 50;
/** Appends that wait for an answer; beyond it new ones are turned away at once, which bounds the memory of a stall. */
const maxPending = 20_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Publishes to JetStream with one inbox subscription for the whole process. The client library's own
 * `publish` makes a subscription entry, a timer and an `Error` with a stack for each message, which costs
 * several times what the server needs to store it. What is published in one turn of the event loop leaves in
 * one write.
 */
export class Publisher {
  readonly #connection: NatsConnection;
  readonly #inbox = createInbox();
  readonly #pending = new Map<string, Pending>();
  readonly #outgoing: Outgoing[] = [];
  readonly #sweeper: Timer;
  #next = 0;
  #closed = false;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
    connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        const token = message.subject.slice(this.#inbox.length + 1);
        const pending = this.#pending.get(token);
        if (!pending) return; // its caller has given up
        this.#pending.delete(token);
        if (error) pending.reject(noAnswer(error.message));
        else if (message.data.length === 0) pending.reject(noAnswer('no stream listens on the subject'));
        else settle(pending, decoder.decode(message.data));
      },
    });
    this.#sweeper = clock.setInterval(() => this.#expire(), sweepMs);
    this.#sweeper.unref();
  }

  /**
   * Appends bytes. Resolves with the log's answer; rejects with `Unavailable` when none came, in which case
   * the message may or may not be stored: repeat it with the same id.
   */
  publish(subject: string, data: Uint8Array, options: PublishOptions): Promise<PublishAnswer> {
    if (this.#closed) return Promise.reject(noAnswer('the publisher is closed'));
    if (this.#pending.size >= maxPending) return Promise.reject(noAnswer('too many appends wait already'));
    const token = (this.#next++).toString(36);
    return new Promise((resolve, reject) => {
      this.#pending.set(token, { resolve, reject, deadline: clock.now() + options.timeoutMs });
      if (this.#outgoing.push({ token, subject, data, options }) === 1)
        clock.setImmediate(() => this.#send());
    });
  }

  /** Fails everything that still waits: its answer can no longer arrive on this connection. */
  abandon(reason: string): void {
    for (const pending of this.#pending.values()) pending.reject(noAnswer(reason));
    this.#pending.clear();
  }

  close(): void {
    this.#closed = true;
    clock.clearInterval(this.#sweeper);
    this.abandon('the publisher is closed');
  }

  #send(): void {
    for (const { token, subject, data, options } of this.#outgoing.splice(0)) {
      const pending = this.#pending.get(token);
      if (!pending) continue; // abandoned before it could leave
      try {
        this.#connection.publish(subject, data, {
          reply: `${this.#inbox}.${token}`,
          headers: encodedHeaders(options),
        });
      } catch (error) {
        this.#pending.delete(token);
        pending.reject(noAnswer((error as Error).message));
      }
    }
  }

  #expire(): void {
    const now = clock.now();
    for (const [token, pending] of this.#pending) {
      if (pending.deadline > now) continue;
      this.#pending.delete(token);
      pending.reject(noAnswer('no acknowledgement in time'));
    }
  }
}

/** A message id that no other process makes. */
export function newId(): string {
  return nuid.next();
}

/**
 * The client only calls `encode()` of what it is given; its own header object validates and canonicalises
 * every value, which is time spent on two headers that we write ourselves.
 */
function encodedHeaders(options: PublishOptions): MsgHdrs {
  const expected =
    options.expectedLastSubjectSequence === undefined
      ? ''
      : `Nats-Expected-Last-Subject-Sequence: ${options.expectedLastSubjectSequence}\r\n`;
  const bytes = encoder.encode(`NATS/1.0\r\nNats-Msg-Id: ${options.id}\r\n${expected}\r\n`);
  return { encode: () => bytes } as unknown as MsgHdrs;
}

interface PubAck {
  seq?: number;
  duplicate?: boolean;
  error?: { code: number; err_code: number; description: string };
}

function settle(pending: Pending, text: string): void {
  const ack = JSON.parse(text) as PubAck;
  if (!ack.error) pending.resolve({ is: 'stored', seq: ack.seq!, duplicate: ack.duplicate === true });
  else if (wrongLastSequence.includes(ack.error.err_code)) pending.resolve({ is: 'conflict' });
  else pending.resolve({ is: 'refused', code: ack.error.err_code, error: ack.error.description });
}

function noAnswer(reason: string): Unavailable {
  return new Unavailable('log_unavailable', `The event log did not acknowledge: ${reason}`);
}
