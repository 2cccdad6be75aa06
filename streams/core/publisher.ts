import { createInbox, type MsgHdrs, type NatsConnection, nuid } from 'nats';
import { clock, type Timer } from './clock.js';
import type { EndOfTurn } from './end-of-turn.js';
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

/** What is appended, and where. */
export interface Message {
  subject: string;
  data: Uint8Array;
  options: Pick<PublishOptions, 'id' | 'expectedLastSubjectSequence'>;
}

interface Pending {
  resolve(answer: PublishAnswer): void;
  reject(error: Error): void;
  deadline: number;
  /** How many messages wait for this answer. */
  count: number;
}

const wrongLastSequence = [10071, 10164];
const sweepMs = 50;
/** Appends that may wait. More are refused at once, which bounds the memory of a stall. */
export const maxPending = 20_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Publishes to JetStream with one inbox subscription for the whole process. The client library's own
 * `publish` makes a subscription entry, a timer and an `Error` with a stack for each message. That costs
 * several times what the server needs to store it.
 */
export class Publisher {
  readonly #connection: NatsConnection;
  readonly #inbox = createInbox();
  /** Begins the names of groups: no other process has it. */
  readonly #groups = nuid.next();
  readonly #pending = new Map<string, Pending>();
  readonly #endOfTurn: EndOfTurn;
  /** Runs while appends wait. */
  #sweeper: Timer | undefined;
  #next = 0;
  #closed = false;

  constructor(connection: NatsConnection, endOfTurn: EndOfTurn) {
    this.#connection = connection;
    this.#endOfTurn = endOfTurn;
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
  }

  /**
   * Appends bytes and resolves with the log's answer. Rejects with `Unavailable` when none came. The message
   * may or may not be stored then: repeat it with the same id.
   */
  publish(subject: string, data: Uint8Array, options: PublishOptions): Promise<PublishAnswer> {
    return this.#publish([{ subject, data, options }], options.timeoutMs);
  }

  /**
   * The same for messages of one stream that are stored together, one after the other, or not at all. The
   * sequence in the answer is the last one's.
   */
  publishGroup(messages: readonly Message[], timeoutMs: number): Promise<PublishAnswer> {
    return this.#publish(messages, timeoutMs);
  }

  /** Fails everything that still waits: its answer can no longer arrive on this connection. */
  abandon(reason: string): void {
    for (const pending of this.#pending.values()) pending.reject(noAnswer(reason));
    this.#pending.clear();
  }

  close(): void {
    this.#closed = true;
    this.#rest();
    this.abandon('the publisher is closed');
  }

  #publish(messages: readonly Message[], timeoutMs: number): Promise<PublishAnswer> {
    if (this.#closed) return Promise.reject(noAnswer('the publisher is closed'));
    if (this.#pending.size >= maxPending) return Promise.reject(tooMany());
    if (!this.#sweeper) {
      this.#sweeper = clock.setInterval(() => this.#expire(), sweepMs);
      this.#sweeper.unref();
    }
    const token = (this.#next++).toString(36);
    const deadline = clock.elapsed() + timeoutMs;
    return new Promise((resolve, reject) => {
      this.#pending.set(token, { resolve, reject, deadline, count: messages.length });
      this.#endOfTurn.run(() => this.#send(token, messages));
    });
  }

  #send(token: string, messages: readonly Message[]): void {
    const pending = this.#pending.get(token);
    if (!pending) return; // abandoned before it could leave
    const reply = { reply: `${this.#inbox}.${token}` };
    const end = messages.length;
    try {
      for (const [n, { subject, data, options }] of messages.entries()) {
        const place = end === 1 ? '' : placeInGroup(`${this.#groups}-${token}`, n + 1, end);
        const headers = encodedHeaders(options, place);
        // only the last one of a group is answered
        this.#connection.publish(subject, data, n + 1 === end ? { ...reply, headers } : { headers });
      }
    } catch (error) {
      this.#pending.delete(token);
      pending.reject(noAnswer((error as Error).message));
    }
  }

  #expire(): void {
    const now = clock.elapsed();
    for (const [token, pending] of this.#pending) {
      if (pending.deadline > now) continue;
      this.#pending.delete(token);
      pending.reject(noAnswer('no acknowledgement in time'));
    }
    if (this.#pending.size === 0) this.#rest();
  }

  #rest(): void {
    clock.clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}

/** A message id that no other process makes. */
export function newId(): string {
  return nuid.next();
}

/**
 * The client only calls `encode()` of what it is given. Its own header object validates and canonicalises
 * every value, which is wasted time on two headers that we write ourselves.
 */
function encodedHeaders(options: Message['options'], place: string): MsgHdrs {
  const expected =
    options.expectedLastSubjectSequence === undefined
      ? ''
      : `Nats-Expected-Last-Subject-Sequence: ${options.expectedLastSubjectSequence}\r\n`;
  const bytes = encoder.encode(`NATS/1.0\r\nNats-Msg-Id: ${options.id}\r\n${expected}${place}\r\n`);
  return { encode: () => bytes } as unknown as MsgHdrs;
}

/** The headers of one message of an atomic batch. */
function placeInGroup(group: string, place: number, end: number): string {
  const commit = place === end ? 'Nats-Batch-Commit: 1\r\n' : '';
  return `Nats-Batch-Id: ${group}\r\nNats-Batch-Sequence: ${place}\r\n${commit}`;
}

interface PubAck {
  seq?: number;
  duplicate?: boolean;
  /** How many messages were stored together. */
  count?: number;
  error?: { code: number; err_code: number; description: string };
}

function settle(pending: Pending, text: string): void {
  const ack = JSON.parse(text) as PubAck;
  // a server that does not know groups has taken the messages one by one, and acknowledges only the last one
  if (!ack.error && (ack.count ?? 1) !== pending.count)
    pending.reject(noAnswer('the server stores no groups'));
  else if (!ack.error) pending.resolve({ is: 'stored', seq: ack.seq!, duplicate: ack.duplicate === true });
  else if (wrongLastSequence.includes(ack.error.err_code)) pending.resolve({ is: 'conflict' });
  else pending.resolve({ is: 'refused', code: ack.error.err_code, error: ack.error.description });
}

/** The error of an append that is refused because too many wait already. */
export function tooMany(): Unavailable {
  return noAnswer('too many appends wait already');
}

/** The error of an append that may or may not be stored. */
export function noAnswer(reason: string): Unavailable {
  return new Unavailable('log_unavailable', `The event log did not acknowledge: ${reason}`);
}
