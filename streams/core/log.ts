import { AckPolicy, DeliverPolicy, type JetStreamManager, type Msg, type NatsConnection, nanos } from 'nats';
import type { Logger } from 'pino';
import type { Decider } from './decider.js';
import { type Refusal, Unavailable } from './errors.js';
import { connectToNats, ensureStreams, type StreamPlacement } from './nats.js';
import { newId, type PublishAnswer, Publisher } from './publisher.js';
import { Pull, type PulledMessage, type PullOptions } from './pull.js';
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
}

/** What became of an append: where the fact is, and whether an earlier try had already put it there. */
export interface Appended extends Position {
  id: string;
}

/** A message on the log that is not decoded yet. */
export type Entry = Pick<PulledMessage, 'subject' | 'data' | 'seq' | 'at' | 'pending'>;

/** Bound of one append with its retries, in milliseconds. */
const appendBoundMs = 4_000;
/** After this time without an acknowledgement the same message is sent again, with the same id. */
const acknowledgeMs = 2_000;
/** Bound of one command with all its conflicts, in milliseconds. */
const commandBoundMs = 5_000;
const cachedStates = 10_000;
const drainBoundMs = 2_000;

type DirectQuery = { seq: number } | { last_by_subj: string } | { seq: number; next_by_subj: string };

interface CachedState {
  state: unknown;
  seq: number;
}

/**
 * The event log: appends facts, runs commands through deciders with optimistic concurrency, and reads
 * streams back. An append that returns is on disk.
 */
export class Log {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly #publisher: Publisher;
  readonly #options: LogOptions;
  readonly #states = new Map<string, CachedState>();
  readonly #pulls = new Set<Pull>();
  #connected = true;
  #clockOffsetMs = 0;

  private constructor(connection: NatsConnection, manager: JetStreamManager, options: LogOptions) {
    this.connection = connection;
    this.manager = manager;
    this.#publisher = new Publisher(connection);
    this.#options = options;
    void this.#watchConnection();
  }

  /** Connects, creates missing streams, and learns the log server's clock. */
  static async open(options: LogOptions): Promise<Log> {
    const connection = await connectToNats(options.urls, options.name);
    try {
      const manager = await connection.jetstreamManager();
      await ensureStreams(manager, options.streams, options);
      const log = new Log(connection, manager, options);
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

  /** The time by the log server's clock, which also stamps every fact. */
  now(): Date {
    return new Date(Date.now() + this.#clockOffsetMs);
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
    const id = origin.id ?? newId();
    const answer = await this.#publish(stream, subject, fact as AnyFact, { ...origin, id }, 0);
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
    const now = context.now ?? this.now();
    const deadline = Date.now() + commandBoundMs;
    for (;;) {
      const cached = await this.#fold(stream, decider, subject);
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
  async next(stream: StreamDefinition, seq: number): Promise<{ seq: number; at: Date } | undefined> {
    const message = await this.#directMessage(stream, { seq, next_by_subj: '>' });
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
    return (await this.manager.streams.info(stream.name)).state.last_seq;
  }

  /**
   * Reads a stream from a place on, for ever, in batches of what is there up to `batch` entries. Survives
   * lost connections and lost consumers; ends when `signal` aborts. An empty batch says that the reader has
   * seen everything there was.
   */
  async *follow(
    stream: StreamDefinition,
    options: { after: number; since?: Date; filter?: string[]; batch: number; signal: AbortSignal },
  ): AsyncGenerator<Entry[]> {
    let after = options.after;
    let since = options.since;
    const { signal, batch } = options;
    while (!signal.aborted) {
      const queue: Entry[] = [];
      let wake = () => {};
      let broken: string | undefined;
      let expected = 1;
      let pull: Pull | undefined;
      const onAbort = () => wake();
      signal.addEventListener('abort', onAbort);
      try {
        const consumer = await this.manager.consumers.add(stream.name, {
          ack_policy: AckPolicy.None,
          ...(since && after === 0
            ? { deliver_policy: DeliverPolicy.StartTime, opt_start_time: since.toISOString() }
            : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: after + 1 }),
          ...(options.filter ? { filter_subjects: options.filter } : {}),
          inactive_threshold: nanos(30_000),
          mem_storage: true,
          num_replicas: 1,
        });
        if (consumer.num_pending === 0) yield [];
        pull = this.pull({
          stream: stream.name,
          consumer: consumer.name,
          capacity: () => batch * 2 - queue.length,
          message: (message) => {
            if (message.deliverySeq !== expected++) {
              broken ??= 'a gap in the deliveries';
              pull?.stop();
            } else queue.push(message);
            wake();
          },
          broken: (reason) => {
            broken ??= reason;
            wake();
          },
        });
        while (!signal.aborted) {
          if (queue.length > 0) {
            const entries = queue.splice(0, batch);
            const last = entries[entries.length - 1]!;
            pull.refill();
            yield entries;
            after = last.seq;
            since = undefined;
            if (last.pending === 0 && queue.length === 0) yield [];
          } else if (broken) break;
          else {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
            wake = () => {};
          }
        }
        if (broken)
          this.#options.logger.debug({ stream: stream.name, after, reason: broken }, 'reading again');
      } catch (error) {
        if (signal.aborted) return;
        this.#options.logger.warn({ stream: stream.name, after, err: error }, 'stream cannot be read now');
        await delay(500);
      } finally {
        signal.removeEventListener('abort', onAbort);
        pull?.stop();
      }
    }
  }

  /** Reads a consumer; broken at once when the connection is lost, without waiting for missing heartbeats. */
  pull(options: PullOptions): Pull {
    for (const pull of this.#pulls) if (pull.ended) this.#pulls.delete(pull);
    const pull = new Pull(this.connection, options);
    this.#pulls.add(pull);
    return pull;
  }

  /** Stops taking appends, sends what is buffered and closes the connection. */
  async close(): Promise<void> {
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
    const deadline = Date.now() + appendBoundMs;
    for (let attempt = 1; ; attempt++) {
      try {
        // while disconnected the client would buffer without bound
        if (!this.#connected)
          throw new Unavailable('log_unavailable', 503, 'The event log is not connected', 2);
        const answer = await this.#publisher.publish(subject, bytes, {
          id: origin.id,
          timeoutMs: Math.min(acknowledgeMs, deadline - Date.now()),
          ...(expectedLastSubjectSequence === undefined ? {} : { expectedLastSubjectSequence }),
        });
        if (answer.is === 'conflict' && attempt > 1) {
          // the try before may have been stored although its answer was lost
          const last = await this.last(stream, subject);
          if (last?.id === origin.id) return { is: 'stored', seq: last.seq, duplicate: true };
        }
        return answer;
      } catch (error) {
        if (Date.now() + 100 >= deadline) throw error;
        await delay(50);
      }
    }
  }

  async #fold<S extends StreamDefinition, State, Command>(
    stream: S,
    decider: Decider<State, Command, FactOf<S>>,
    subject: string,
  ): Promise<CachedState> {
    const key = `${stream.name} ${subject}`;
    const cached = this.#states.get(key) ?? { state: decider.initial(), seq: 0 };
    this.#states.delete(key); // and set again: the map's order is the order of use
    this.#states.set(key, cached);
    if (this.#states.size > cachedStates) this.#states.delete(this.#states.keys().next().value!);
    for await (const fact of this.subject(stream, subject, cached.seq + 1)) {
      if (fact.seq <= cached.seq) continue; // another command on the same state was faster
      decider.evolve(cached.state as State, fact);
      cached.seq = fact.seq;
    }
    return cached;
  }

  async #direct<S extends StreamDefinition>(
    stream: S,
    query: DirectQuery,
  ): Promise<Recorded<FactOf<S>> | undefined> {
    const message = await this.#directMessage(stream, query);
    return message && decodeFact(stream, message.data, message);
  }

  async #directMessage(
    stream: StreamDefinition,
    query: DirectQuery,
  ): Promise<{ subject: string; seq: number; at: Date; data: Uint8Array } | undefined> {
    let message: Msg;
    try {
      message = await this.connection.request(`$JS.API.DIRECT.GET.${stream.name}`, JSON.stringify(query), {
        timeout: acknowledgeMs,
      });
    } catch (error) {
      const reason = (error as Error).message;
      throw new Unavailable('log_unavailable', 503, `The event log did not answer: ${reason}`, 2);
    }
    const { headers } = message;
    if (!headers || headers.code === 404) return undefined;
    if (headers.code) {
      throw new Unavailable(
        'log_unavailable',
        503,
        `The event log refused a read: ${headers.description}`,
        2,
      );
    }
    return {
      subject: headers.get('Nats-Subject'),
      seq: Number(headers.get('Nats-Sequence')),
      at: new Date(headers.get('Nats-Time-Stamp')),
      data: message.data,
    };
  }

  async #watchConnection(): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === 'disconnect') {
        this.#connected = false;
        this.#publisher.abandon('the connection was lost');
        this.#options.logger.warn('log connection lost');
      } else if (status.type === 'reconnect') {
        this.#connected = true;
        this.#options.logger.info('log connection is back');
        for (const pull of this.#pulls) pull.fail('the connection was lost');
        this.#measureClock().catch(() => {});
      }
    }
  }

  async #measureClock(): Promise<void> {
    const [first] = this.#options.streams;
    if (!first) return;
    const before = Date.now();
    const info = (await this.manager.streams.info(first.name)) as { ts?: string };
    if (info.ts) this.#clockOffsetMs = Math.round(Date.parse(info.ts) - (before + Date.now()) / 2);
  }
}

function refusedByLog(answer: PublishAnswer): Refusal | Unavailable {
  const reason = answer.is === 'refused' ? answer.error : 'the subject changed meanwhile';
  return new Unavailable('log_unavailable', 503, `The event log refused the append: ${reason}`, 5);
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
