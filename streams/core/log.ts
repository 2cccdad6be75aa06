import type { JetStreamManager, NatsConnection } from 'nats';
import type { Logger } from 'pino';
import type { Decider } from './decider.js';
import { type DirectQuery, readDirect, type StoredMessage } from './direct.js';
import { Unavailable } from './errors.js';
import { type Entry, type FollowOptions, follow } from './follow.js';
import { importedParts } from './imported.js';
import { Intake } from './intake.js';
import { connectToNats, openStreams, type StreamPlacement } from './nats.js';
import { newId, type PublishAnswer, Publisher } from './publisher.js';
import { Pull, type PullOptions } from './pull.js';
import { StateCache } from './state-cache.js';
import {
  type AnyFact,
  decodeFact,
  encodeFact,
  type FactOf,
  type Origin,
  type Position,
  type Recorded,
  type StreamDefinition,
} from './stream.js';

/** How to open the log. */
export interface LogOptions extends StreamPlacement {
  /** Comma-separated server URLs. */
  urls: string;
  /** Name of this connection, shown by the log server. */
  name: string;
  streams: StreamDefinition[];
  logger: Logger;
  /** Open it for an import; otherwise streams whose import was not finished are refused. */
  importing?: boolean;
  /** Told what became of each append, its retries included. */
  observe?: (append: ObservedAppend) => void;
}

/** The end of an append: `unavailable` when it is not known to be stored. */
export interface ObservedAppend {
  stream: string;
  outcome: PublishAnswer['is'] | 'unavailable';
  ms: number;
}

/** What became of an append: where the fact is, and whether an earlier try had already put it there. */
export interface Appended extends Position {
  id: string;
}

/** Bound of one append with its retries, in milliseconds. */
const appendBoundMs = 4_000;
/** After this time without an acknowledgement the same message is sent again, with the same id. */
const acknowledgeMs = 2_000;
/** Bound of one command with all its conflicts, in milliseconds. */
const commandBoundMs = 5_000;
const drainBoundMs = 2_000;
const refusalNoteMs = 10_000;

/**
 * The event log: appends facts, runs commands through deciders with optimistic concurrency, and reads
 * streams back. An append that returns is on disk.
 */
export class Log {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly #publisher: Publisher;
  readonly #intake: Intake;
  readonly #options: LogOptions;
  readonly #states = new StateCache();
  readonly #pulls = new Set<Pull>();
  readonly #asked = new Set<(error: Error) => void>();
  /** Up to which sequence streams were imported. */
  #imported: ReadonlyMap<string, number> = new Map();
  #connected = true;
  #closed = false;
  #clockOffsetMs = 0;
  #refusalNotedAt = 0;

  private constructor(connection: NatsConnection, manager: JetStreamManager, options: LogOptions) {
    this.connection = connection;
    this.manager = manager;
    this.#publisher = new Publisher(connection);
    this.#intake = new Intake(this);
    this.#options = options;
    void this.#watchConnection();
  }

  /** Connects, creates missing streams, and learns the log server's clock and what was imported. */
  static async open(options: LogOptions): Promise<Log> {
    const connection = await connectToNats(options.urls, options.name);
    try {
      const manager = await openStreams(connection, options.streams, options);
      const log = new Log(connection, manager, options);
      await log.#learnImports();
      await log.#measureClock();
      return log;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** Whether the log server can be reached now. */
  get connected(): boolean {
    return this.#connected;
  }

  /** Whether an import into one of its streams had not been finished when it was opened. */
  get hasUnfinishedImport(): boolean {
    const isOpen = ({ name }: StreamDefinition) => this.#imported.get(name) === Number.POSITIVE_INFINITY;
    return this.#options.streams.some(isOpen);
  }

  /** Why appends do not get through although the server can be reached; `undefined` when they do. */
  get trouble(): string | undefined {
    return this.#intake.trouble;
  }

  /** The time by the log server's clock, which also stamps every fact. */
  now(): Date {
    return new Date(steadyNow() + this.#clockOffsetMs);
  }

  /**
   * One request to the log server. Waits a little for a connection that was lost, but not for an answer on it:
   * that one can no longer come.
   */
  async ask<T>(request: () => Promise<T>): Promise<T> {
    for (const deadline = Date.now() + acknowledgeMs; !this.#connected; await delay(20)) {
      if (this.#closed || Date.now() > deadline) throw notConnected();
    }
    return await new Promise<T>((resolve, reject) => {
      this.#asked.add(reject);
      request()
        .then(resolve, reject)
        .finally(() => this.#asked.delete(reject));
    });
  }

  /** Appends a fact unconditionally. Throws `Unavailable` when it cannot be made sure that it is stored. */
  async append<S extends StreamDefinition>(
    stream: S,
    subject: string,
    fact: FactOf<S>,
    origin: Origin,
  ): Promise<Appended> {
    const id = origin.id ?? newId();
    const answer = await this.#publish(stream, subject, fact as AnyFact, { ...origin, id });
    if (answer.is !== 'stored') throw refusedByLog(answer);
    return { stream: stream.name, seq: answer.seq, id };
  }

  /** Appends the only fact that its subject may ever have; `undefined` when it has one already. */
  async appendOnce<S extends StreamDefinition>(
    stream: S,
    subject: string,
    fact: FactOf<S>,
    origin: Origin,
  ): Promise<Appended | undefined> {
    return await this.appendNext(stream, subject, fact, origin, 0);
  }

  /** Appends a fact if the last one of its subject has this sequence (0: there is none); else `undefined`. */
  async appendNext<S extends StreamDefinition>(
    stream: S,
    subject: string,
    fact: FactOf<S>,
    origin: Origin,
    after: number,
  ): Promise<Appended | undefined> {
    const id = origin.id ?? newId();
    const answer = await this.#publish(stream, subject, fact as AnyFact, { ...origin, id }, after);
    if (answer.is === 'conflict') return undefined;
    if (answer.is === 'refused') throw refusedByLog(answer);
    return { stream: stream.name, seq: answer.seq, id };
  }

  /**
   * Runs a command: folds the facts of its subject, decides, and appends what was decided if nobody else
   * appended to the subject in between; otherwise decides again. Throws what the decider throws.
   */
  async handle<S extends StreamDefinition, State, Command>(
    stream: S,
    decider: Decider<State, Command, FactOf<S>>,
    command: Command,
    context: Origin & { now?: Date },
  ): Promise<{ state: State; fact?: FactOf<S>; position: Position }> {
    const subject = decider.subject(command);
    const key = `${stream.name} ${subject}`;
    const now = context.now ?? this.now();
    const deadline = Date.now() + commandBoundMs;
    for (let conflictAt = -1; ; ) {
      const cached = await this.#states.fold(decider, key, (from) => this.subject(stream, subject, from));
      const state = cached.state as State;
      const fact = decider.decide(command, state, now);
      if (!fact) return { state, position: { stream: stream.name, seq: cached.seq } };
      const id = context.id ?? newId();
      const answer = await this.#publish(stream, subject, fact as AnyFact, { ...context, id }, cached.seq);
      if (answer.is === 'stored') {
        // two commands may share the cached state: only the one that saw the last sequence may move it on
        if (cached.seq < answer.seq) {
          decider.evolve(state, fact);
          cached.seq = answer.seq;
        }
        return { state, fact, position: { stream: stream.name, seq: answer.seq } };
      }
      if (answer.is === 'refused') throw refusedByLog(answer);
      if (Date.now() > deadline) {
        throw new Unavailable('log_contended', 503, `Too many concurrent changes of ${subject}`, 1);
      }
      // nobody appended and yet we are not at its end: the subject is not the one that was folded
      if (cached.seq === conflictAt) this.#states.forget(key);
      conflictAt = cached.seq;
      await delay(Math.random() * 5);
    }
  }

  /** The last fact of a subject, if it has any. */
  async last<S extends StreamDefinition>(
    stream: S,
    subject: string,
  ): Promise<Recorded<FactOf<S>> | undefined> {
    return await this.#direct(stream, { last_by_subj: subject });
  }

  /** The fact at a sequence, if it is still kept. */
  async at<S extends StreamDefinition>(stream: S, seq: number): Promise<Recorded<FactOf<S>> | undefined> {
    return await this.#direct(stream, { seq });
  }

  /** When the first message at or after a sequence was stored, and its sequence; `undefined` behind the last one. */
  async next(
    stream: StreamDefinition,
    seq: number,
    filter = '>',
  ): Promise<{ seq: number; at: Date } | undefined> {
    const message = await this.#directMessage(stream, { seq, next_by_subj: filter });
    return message && { seq: message.seq, at: message.at };
  }

  /** The facts of one subject in order, from a sequence on. Meant for subjects with few facts. */
  async *subject<S extends StreamDefinition>(
    stream: S,
    subject: string,
    fromSeq = 1,
  ): AsyncGenerator<Recorded<FactOf<S>>> {
    for (let seq = fromSeq; ; seq++) {
      const fact = await this.#direct(stream, { seq, next_by_subj: subject });
      if (!fact) return;
      yield fact;
      seq = fact.seq;
    }
  }

  /** Sequence of the newest fact of a stream; 0 when it has never had one. */
  async head(stream: StreamDefinition): Promise<number> {
    return (await this.ask(() => this.manager.streams.info(stream.name))).state.last_seq;
  }

  /**
   * Reads a stream from a place on, for ever, in batches of what is there up to `batch` entries. Survives
   * lost connections and lost consumers; ends when `signal` aborts. An empty batch says that the reader has
   * seen everything there was.
   */
  follow(stream: StreamDefinition, options: FollowOptions): AsyncGenerator<Entry[]> {
    return follow(this, stream, options, this.#options.logger);
  }

  /** Reads a new consumer; broken at once when the connection is lost, without waiting for missing heartbeats. */
  pull(options: PullOptions): Pull {
    for (const pull of this.#pulls) if (pull.ended) this.#pulls.delete(pull);
    const pull = new Pull(this.connection, options, this.#imported.get(options.stream));
    this.#pulls.add(pull);
    return pull;
  }

  /** Stops taking appends, sends what is buffered and closes the connection. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#publisher.close();
    if (this.connection.isClosed()) return;
    // draining waits for the server, which may be the reason why we stop
    const drained = this.connection.drain().catch(() => {});
    await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, drainBoundMs).unref())]);
    await this.connection.close();
  }

  async #publish(
    stream: StreamDefinition,
    subject: string,
    fact: AnyFact,
    origin: Origin & { id: string },
    expectedLastSubjectSequence?: number,
  ): Promise<PublishAnswer> {
    const bytes = encodeFact(stream, fact, origin);
    const started = performance.now();
    let outcome: ObservedAppend['outcome'] = 'unavailable';
    try {
      const answer = await this.#send(stream, subject, bytes, origin.id, expectedLastSubjectSequence);
      outcome = answer.is;
      if (answer.is === 'stored' && !answer.duplicate) this.#intake.stored(stream);
      else if (answer.is === 'refused') this.#intake.failed(stream, bytes.length, answer);
      return answer;
    } catch (error) {
      if (this.#connected) this.#intake.failed(stream, bytes.length);
      throw error;
    } finally {
      this.#options.observe?.({ stream: stream.name, outcome, ms: performance.now() - started });
    }
  }

  async #send(
    stream: StreamDefinition,
    subject: string,
    bytes: Uint8Array,
    id: string,
    expectedLastSubjectSequence?: number,
  ): Promise<PublishAnswer> {
    const deadline = Date.now() + appendBoundMs;
    for (let attempt = 1; ; attempt++) {
      try {
        // while disconnected the client would buffer without bound
        if (!this.#connected) throw notConnected();
        const answer = await this.#publisher.publish(subject, bytes, {
          id,
          timeoutMs: Math.min(acknowledgeMs, deadline - Date.now()),
          expectedLastSubjectSequence,
        });
        if (answer.is === 'refused') this.#noteRefusal(stream, answer);
        if (answer.is === 'conflict' && attempt > 1) {
          // the try before may have been stored although its answer was lost
          for await (const fact of this.subject(stream, subject, (expectedLastSubjectSequence ?? 0) + 1)) {
            if (fact.id === id) return { is: 'stored', seq: fact.seq, duplicate: true };
          }
        }
        return answer;
      } catch (error) {
        if (this.#closed || Date.now() + 100 >= deadline) throw error;
        await delay(50);
      }
    }
  }

  /** Says once in a while why appends are refused: a full disk refuses thousands a second. */
  #noteRefusal(stream: StreamDefinition, answer: { code: number; error: string }): void {
    if (Date.now() - this.#refusalNotedAt < refusalNoteMs) return;
    this.#refusalNotedAt = Date.now();
    const { code, error } = answer;
    this.#options.logger.error({ stream: stream.name, code, reason: error }, 'the log refuses appends');
  }

  async #direct<S extends StreamDefinition>(
    stream: S,
    query: DirectQuery,
  ): Promise<Recorded<FactOf<S>> | undefined> {
    const message = await this.#directMessage(stream, query);
    return message && decodeFact(stream, message.data, message);
  }

  #directMessage(stream: StreamDefinition, query: DirectQuery): Promise<StoredMessage | undefined> {
    const timeout = acknowledgeMs;
    const request = (subject: string, body: string) =>
      this.ask(() => this.connection.request(subject, body, { timeout }));
    return readDirect(request, stream, query);
  }

  async #watchConnection(): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === 'disconnect') {
        this.#connected = false;
        this.#publisher.abandon('the connection was lost');
        for (const reject of this.#asked) reject(notConnected());
        for (const pull of this.#pulls) pull.fail('the connection was lost');
        this.#options.logger.warn('log connection lost');
      } else if (status.type === 'reconnect') {
        this.#connected = true;
        this.#options.logger.info('log connection is back');
        this.#measureClock().catch(() => {});
      }
    }
  }

  async #learnImports(): Promise<void> {
    this.#imported = await importedParts(this.manager);
    if (this.#options.importing || !this.hasUnfinishedImport) return;
    throw new Error('An import into this event log was not finished: run the same "relay import" again');
  }

  async #measureClock(): Promise<void> {
    const [first] = this.#options.streams;
    if (!first) return;
    const before = steadyNow();
    const info = (await this.manager.streams.info(first.name)) as { ts?: string };
    if (info.ts) this.#clockOffsetMs = Math.round(Date.parse(info.ts) - (before + steadyNow()) / 2);
  }
}

/** This machine's clock in milliseconds, as it would be if nobody had set it since the process began. */
function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}

function notConnected(): Unavailable {
  return new Unavailable('log_unavailable', 503, 'The event log is not connected', 2);
}

/** The reason is for the operators' log: it may name places on the log server. */
function refusedByLog(answer: PublishAnswer): Unavailable {
  const code = answer.is === 'refused' ? ` (${answer.code})` : '';
  return new Unavailable('log_unavailable', 503, `The event log refused the append${code}`, 5);
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
