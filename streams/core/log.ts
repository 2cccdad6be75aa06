import type { JetStreamManager, NatsConnection } from 'nats';
import type { Logger } from 'pino';
import { Appender, type ObservedAppend, refusedByLog } from './appender.js';
import { clock, pause } from './clock.js';
import type { Decider } from './decider.js';
import { type DirectQuery, readDirect, type StoredMessage } from './direct.js';
import { Unavailable } from './errors.js';
import { type Entry, type FollowOptions, follow } from './follow.js';
import { importedParts } from './imported.js';
import { LogServer } from './log-server.js';
import { connectToNats, type OpenedStreams, openStreams, type StreamPlacement } from './nats.js';
import { newId } from './publisher.js';
import type { Pull, PullOptions } from './pull.js';
import { StateCache } from './state-cache.js';
import {
  type AnyFact,
  decodeFact,
  type FactOf,
  type Origin,
  type Position,
  type Recorded,
  type StreamDefinition,
} from './stream.js';
import { readSubject } from './subject.js';

/** How to open the log. */
export interface LogOptions extends StreamPlacement {
  /** Comma-separated server URLs. */
  urls: string;
  /** Name of this connection, shown by the log server. */
  name: string;
  streams: StreamDefinition[];
  logger: Logger;
  /** Makes the connection. By default it goes to the servers at `urls`. */
  connect?: (name: string) => Promise<NatsConnection>;
  /** Opens it for an import: facts can be removed, and streams with an unfinished import are not refused. */
  importing?: boolean;
  /** Told what became of each append, its retries included. */
  observe?: (append: ObservedAppend) => void;
}

/** What became of an append: where the fact is, and whether an earlier attempt had already stored it. */
export interface Appended extends Position {
  id: string;
}

/** Bound of one read past all consumers, in milliseconds. */
const readBoundMs = 2_000;
/** Bound of one command with all its conflicts, in milliseconds. */
const commandBoundMs = 5_000;

/**
 * The event log: appends facts, runs commands through deciders with optimistic concurrency, and reads
 * streams back. An append that returns is on disk.
 */
export class Log {
  readonly #server: LogServer;
  readonly #appender: Appender;
  readonly #options: LogOptions;
  readonly #states = new StateCache();
  /** Up to which sequence each stream was imported. */
  #imported: ReadonlyMap<string, number> = new Map();

  private constructor(connection: NatsConnection, { manager, grouped }: OpenedStreams, options: LogOptions) {
    const { logger, observe } = options;
    this.#options = options;
    this.#server = new LogServer(connection, manager, {
      logger,
      lost: (reason) => this.#appender.abandon(reason),
    });
    this.#appender = new Appender(this.#server, {
      logger,
      grouped,
      observe,
      idsOf: (stream, subject, from) => this.subject(stream, subject, from),
    });
  }

  /** Connects, creates missing streams, and learns the log server's clock and what was imported. */
  static async open(options: LogOptions): Promise<Log> {
    const { urls, name, connect = () => connectToNats(urls, name) } = options;
    const connection = await connect(name);
    let log: Log | undefined;
    try {
      log = new Log(connection, await openStreams(connection, options.streams, options), options);
      await log.#learnImports();
      if (options.streams[0]) await log.#server.measureClock(options.streams[0].name);
      return log;
    } catch (error) {
      await (log ?? connection).close();
      throw error;
    }
  }

  /** The connection, for what the log does not offer: key-value buckets, requests between processes. */
  get connection(): NatsConnection {
    return this.#server.connection;
  }

  get manager(): JetStreamManager {
    return this.#server.manager;
  }

  /** Whether the log server can be reached now. */
  get connected(): boolean {
    return this.#server.connected;
  }

  /** Whether one of its streams had an unfinished import when the log was opened. */
  get hasUnfinishedImport(): boolean {
    const isOpen = ({ name }: StreamDefinition) => this.#imported.get(name) === Number.POSITIVE_INFINITY;
    return this.#options.streams.some(isOpen);
  }

  /** Why appends do not get through although the server can be reached; `undefined` when they do. */
  get trouble(): string | undefined {
    return this.#appender.trouble;
  }

  /** The same of one stream, whichever it is. */
  troubleOf(stream: StreamDefinition): string | undefined {
    return this.#appender.troubleOf(stream);
  }

  /** The time by the log server's clock, which also stamps every fact. */
  now(): Date {
    return this.#server.now();
  }

  /**
   * One request to the log server. Waits a little for a lost connection to return. An answer on a lost
   * connection can no longer come, so it does not wait for that.
   */
  ask<T>(request: () => Promise<T>): Promise<T> {
    return this.#server.ask(request);
  }

  /** Runs what sends to the log server at the end of this turn of the event loop, with all else that goes there. */
  atEndOfTurn(action: () => void): void {
    this.#server.endOfTurn.run(action);
  }

  /** Appends a fact unconditionally. Throws `Unavailable` when it is not certain that the fact is stored. */
  async append<S extends StreamDefinition>(
    stream: S,
    subject: string,
    fact: FactOf<S>,
    origin: Origin,
  ): Promise<Appended> {
    const known = identified(origin);
    const answer = await this.#appender.append(stream, subject, fact as AnyFact, known);
    if (answer.is !== 'stored') throw refusedByLog(answer);
    return { stream: stream.name, seq: answer.seq, id: known.id };
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

  /**
   * Appends a fact if the last one of its subject has this sequence (0: the subject has none); else
   * `undefined`.
   */
  async appendNext<S extends StreamDefinition>(
    stream: S,
    subject: string,
    fact: FactOf<S>,
    origin: Origin,
    after: number,
  ): Promise<Appended | undefined> {
    const known = identified(origin);
    const answer = await this.#appender.append(stream, subject, fact as AnyFact, known, after);
    if (answer.is === 'conflict') return undefined;
    if (answer.is === 'refused') throw refusedByLog(answer);
    return { stream: stream.name, seq: answer.seq, id: known.id };
  }

  /**
   * Runs a command: folds the facts of its subject, decides, and appends what was decided. If somebody else
   * appended to the subject in between, it decides again. With an `id` of the caller's, the fact is recorded once
   * in the stream's duplicate window: nothing is decided if another subject has it. Throws what the decider throws.
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
    const deadline = clock.elapsed() + commandBoundMs;
    for (let conflictAt = -1; ; ) {
      const cached = await this.#states.fold(decider, key, (from) => this.subject(stream, subject, from));
      const state = cached.state as State;
      const fact = decider.decide(command, state, now);
      if (!fact) return { state, position: { stream: stream.name, seq: cached.seq } };
      const known = identified(context);
      const answer = await this.#appender.append(stream, subject, fact as AnyFact, known, cached.seq);
      if (answer.is === 'stored' && answer.duplicate && context.id !== undefined) {
        // an earlier try stored it, or somebody else did: there, or under another subject
        this.#states.forget(key);
        const stored = await this.at(stream, answer.seq);
        const position = { stream: stream.name, seq: answer.seq };
        return stored?.subject === subject ? { state, fact: stored, position } : { state, position };
      }
      if (answer.is === 'stored') {
        // two commands may share the cached state: only the one that saw the last sequence may move it on
        if (cached.seq < answer.seq) {
          decider.evolve(state, fact, answer.seq);
          cached.seq = answer.seq;
        }
        return { state, fact, position: { stream: stream.name, seq: answer.seq } };
      }
      if (answer.is === 'refused') throw refusedByLog(answer);
      if (clock.elapsed() > deadline) {
        throw new Unavailable('log_contended', `Too many concurrent changes of ${subject}`);
      }
      // nobody appended and yet we are not at its end: the subject is not the one that was folded
      if (cached.seq === conflictAt) this.#states.forget(key);
      conflictAt = cached.seq;
      await pause(clock.random() * 5);
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

  /** Sequence and time of the first message at or after a sequence; `undefined` after the last one. */
  async next(
    stream: StreamDefinition,
    seq: number,
    filter = '>',
  ): Promise<{ seq: number; at: Date } | undefined> {
    const message = await this.#directMessage(stream, { seq, next_by_subj: filter });
    return message && { seq: message.seq, at: message.at };
  }

  /** The facts of one subject in order, from a sequence on: one by one, or in batches when there are many. */
  subject<S extends StreamDefinition>(
    stream: S,
    subject: string,
    fromSeq = 1,
  ): AsyncGenerator<Recorded<FactOf<S>>> {
    const source = {
      next: (seq: number) => this.#direct(stream, { seq, next_by_subj: subject }),
      follow: (options: FollowOptions) => this.follow(stream, options),
    };
    return readSubject(source, stream, subject, fromSeq);
  }

  /** Sequence of the newest fact of a stream; 0 if it has never had one. Throws `log_unavailable` only. */
  async head(stream: StreamDefinition): Promise<number> {
    try {
      return (await this.ask(() => this.manager.streams.info(stream.name))).state.last_seq;
    } catch (error) {
      const reason = (error as Error).message;
      const found = new Unavailable('log_unavailable', `The event log did not answer: ${reason}`);
      found.cause = error;
      throw found;
    }
  }

  /**
   * Reads a stream from a position on, for ever, in batches of what is there, up to `batch` entries. Survives
   * lost connections and lost consumers; ends when `signal` aborts. An empty batch says that the reader has
   * seen everything so far.
   */
  follow(stream: StreamDefinition, options: FollowOptions): AsyncGenerator<Entry[]> {
    return follow(this, stream, options, this.#options.logger);
  }

  /**
   * Reads a new consumer. It breaks at once when the connection is lost, without waiting for missing
   * heartbeats.
   */
  pull(options: PullOptions): Pull {
    return this.#server.pull(options, this.#imported.get(options.stream));
  }

  /** Stops taking appends, sends what is buffered and closes the connection. */
  async close(): Promise<void> {
    this.#appender.close();
    await this.#server.close();
  }

  async #direct<S extends StreamDefinition>(
    stream: S,
    query: DirectQuery,
  ): Promise<Recorded<FactOf<S>> | undefined> {
    const message = await this.#directMessage(stream, query);
    return message && decodeFact(stream, message.data, message);
  }

  #directMessage(stream: StreamDefinition, query: DirectQuery): Promise<StoredMessage | undefined> {
    const timeout = readBoundMs;
    const request = (subject: string, body: string) =>
      this.ask(() => this.connection.request(subject, body, { timeout }));
    return readDirect(request, stream, query);
  }

  async #learnImports(): Promise<void> {
    this.#imported = await importedParts(this.manager);
    if (this.#options.importing || !this.hasUnfinishedImport) return;
    throw new Error('An import into this event log was not finished: run the same "relay import" again');
  }
}

/** The origin of a new fact, with the id that it is recorded under. */
function identified({ by, cause = null, id = newId() }: Origin): Origin & { id: string } {
  return { by, cause, id };
}
