import type { Logger } from 'pino';
import { AppendHealth } from './append-health.js';
import { AppendQueue } from './append-queue.js';
import { clock, pause } from './clock.js';
import { readLastSequences } from './direct.js';
import { Unavailable } from './errors.js';
import { type LogServer, notConnected } from './log-server.js';
import { type PublishAnswer, Publisher } from './publisher.js';
import { type AnyFact, encodeFact, type Origin, type StreamDefinition } from './stream.js';

/** The end of an append: `unavailable` when it is not known to be stored. */
export interface ObservedAppend {
  stream: string;
  outcome: PublishAnswer['is'] | 'unavailable';
  ms: number;
}

/** What appends are made with. */
export interface AppenderOptions {
  logger: Logger;
  /** Names of the streams that take appends in groups. */
  grouped: ReadonlySet<string>;
  /** Told what became of each append, its retries included. */
  observe: ((append: ObservedAppend) => void) | undefined;
  /** The ids of a subject's facts from a sequence on. */
  idsOf(
    stream: StreamDefinition,
    subject: string,
    fromSeq: number,
  ): AsyncIterable<{ id: string; seq: number }>;
}

/** Bound of one append with its retries, in milliseconds. */
const appendBoundMs = 4_000;
/** Bound of looking why a group was refused, in milliseconds. */
const lookMs = 1_000;
/** After this time without an acknowledgement the same message is sent again, with the same id. */
const acknowledgeMs = 2_000;
const refusalNoteMs = 10_000;

/** Brings facts to the log server, and again where the answer was lost; knows whether they get through. */
export class Appender {
  readonly #server: LogServer;
  readonly #options: AppenderOptions;
  readonly #publisher: Publisher;
  readonly #queues = new Map<StreamDefinition, AppendQueue>();
  readonly #health: AppendHealth;
  #refusalNotedAt = Number.NEGATIVE_INFINITY;

  constructor(server: LogServer, options: AppenderOptions) {
    this.#server = server;
    this.#options = options;
    this.#publisher = new Publisher(server.connection, server.endOfTurn);
    this.#health = new AppendHealth(server);
  }

  /** Why appends do not get through although the server can be reached; `undefined` when they do. */
  get trouble(): string | undefined {
    return this.#health.trouble;
  }

  /** The same of one stream, whichever it is. */
  troubleOf(stream: StreamDefinition): string | undefined {
    return this.#health.troubleOf(stream);
  }

  /** Gives up what still waits for an answer on a lost connection. */
  abandon(reason: string): void {
    for (const queue of this.#queues.values()) queue.abandon(reason);
    this.#publisher.abandon(reason);
  }

  close(): void {
    this.abandon('the log is closed');
    this.#publisher.close();
  }

  /**
   * Appends a fact; `after` is the sequence that its subject's last fact must have (0: there must be none). Throws
   * `Unavailable` when it is not known to be stored.
   */
  async append(
    stream: StreamDefinition,
    subject: string,
    fact: AnyFact,
    origin: Origin & { id: string },
    after?: number,
  ): Promise<PublishAnswer> {
    const bytes = encodeFact(stream, fact, origin, this.#server.now());
    const started = clock.elapsed();
    let outcome: ObservedAppend['outcome'] = 'unavailable';
    try {
      const answer = await this.#send(stream, subject, bytes, origin.id, after);
      outcome = answer.is;
      if (answer.is === 'stored' && !answer.duplicate) this.#health.stored(stream);
      else if (answer.is === 'refused') this.#health.failed(stream, bytes.length, answer);
      return answer;
    } catch (error) {
      if (this.#server.connected) this.#health.failed(stream, bytes.length);
      throw error;
    } finally {
      this.#options.observe?.({ stream: stream.name, outcome, ms: clock.elapsed() - started });
    }
  }

  async #send(
    stream: StreamDefinition,
    subject: string,
    bytes: Uint8Array,
    id: string,
    after: number | undefined,
  ): Promise<PublishAnswer> {
    const deadline = clock.elapsed() + appendBoundMs;
    for (let attempt = 1; ; attempt++) {
      try {
        // while disconnected the client would buffer without bound
        if (!this.#server.connected) throw notConnected();
        // what is repeated goes alone: all that it came with may be stored already
        const way = attempt === 1 ? this.#wayTo(stream) : this.#publisher;
        const answer = await way.publish(subject, bytes, {
          id,
          timeoutMs: Math.min(acknowledgeMs, deadline - clock.elapsed()),
          expectedLastSubjectSequence: after,
        });
        if (answer.is === 'refused') this.#noteRefusal(stream, answer);
        if (answer.is === 'conflict' && attempt > 1) {
          // the try before may have been stored although its answer was lost
          for await (const fact of this.#options.idsOf(stream, subject, (after ?? 0) + 1)) {
            if (fact.id === id) return { is: 'stored', seq: fact.seq, duplicate: true };
          }
        }
        return answer;
      } catch (error) {
        if (this.#server.closed || clock.elapsed() + 100 >= deadline) throw error;
        await pause(50);
      }
    }
  }

  #wayTo(stream: StreamDefinition): Pick<Publisher, 'publish'> {
    if (!this.#options.grouped.has(stream.name)) return this.#publisher;
    let queue = this.#queues.get(stream);
    if (!queue) {
      const { connection, endOfTurn } = this.#server;
      queue = new AppendQueue(this.#publisher, endOfTurn, (subjects) =>
        this.#server.ask(() => readLastSequences(connection, stream, subjects, lookMs)),
      );
      this.#queues.set(stream, queue);
    }
    return queue;
  }

  /** Says once in a while why appends are refused: a full disk refuses thousands a second. */
  #noteRefusal(stream: StreamDefinition, answer: { code: number; error: string }): void {
    if (clock.elapsed() - this.#refusalNotedAt < refusalNoteMs) return;
    this.#refusalNotedAt = clock.elapsed();
    const { code, error } = answer;
    this.#options.logger.error({ stream: stream.name, code, reason: error }, 'the log refuses appends');
  }
}

/** The error of an append that was refused. The reason is for the operators' log: it may name places on the server. */
export function refusedByLog(answer: PublishAnswer): Unavailable {
  const code = answer.is === 'refused' ? ` (${answer.code})` : '';
  return new Unavailable('log_unavailable', `The event log refused the append${code}`, 5);
}
