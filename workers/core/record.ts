import pLimit from 'p-limit';
import type { Logger } from 'pino';
import {
  type AnyFact,
  type Log,
  newId,
  requireFact,
  retry,
  type StreamDefinition,
} from '../../streams/core/index.js';

/** A fact to record, and its author. */
export interface ToRecord {
  stream: StreamDefinition;
  subject: string;
  fact: AnyFact;
  by: string;
  /** Its id, where another process may record the same: the log takes it once within the stream's duplicate window. */
  id?: string;
}

/** Facts on their way at most: thousands of events may expire in the same moment. */
const maxAppends = 64;
const pauses = { first: 250, longest: 250 };

/** Appends facts until they are on the log, however long the log is away. */
export class Recorder {
  readonly #log: Log;
  readonly #logger: Logger;
  readonly #stopping: AbortSignal;
  readonly #limit = pLimit(maxAppends);
  /** Sequences that streams have reached. */
  readonly #reached = new Map<string, number>();
  #troubled = false;

  /** Once `stopping` is aborted, a log that is away is not waited for. */
  constructor(log: Log, logger: Logger, stopping: AbortSignal) {
    this.#log = log;
    this.#logger = logger;
    this.#stopping = stopping;
  }

  /**
   * True when the fact is on the log. False when it was given up because of a stop: it may or may not be on
   * the log. Throws on a fact that the stream's schema does not take.
   */
  record(fact: ToRecord): Promise<boolean> {
    return this.#limit(() => this.recordNow(fact));
  }

  /** The same, ahead of facts that wait for their turn. */
  async recordNow({ stream, subject, fact, by, id = newId() }: ToRecord): Promise<boolean> {
    let after = this.#reached.get(stream.name);
    const append = async (tries: number) => {
      after ??= await this.#log.head(stream);
      // the log recognises a repeated id for minutes only, and may have been away for longer
      if (tries === 0 || !(await this.#isStored(stream, subject, id, after))) {
        const { seq } = await this.#log.append(stream, subject, fact as never, { by, id });
        this.#reached.set(stream.name, Math.max(seq, this.#reached.get(stream.name) ?? 0));
      }
      this.#troubled = false;
      return true;
    };
    const failed = (error: unknown) => {
      requireFact(stream, fact); // no other try would end otherwise
      if (!this.#troubled) this.#logger.warn({ worker: by, err: error }, 'facts wait for the log');
      this.#troubled = true;
    };
    return (await retry(append, { pauses, failed, signal: this.#stopping })) ?? false;
  }

  async #isStored(stream: StreamDefinition, subject: string, id: string, after: number): Promise<boolean> {
    for await (const fact of this.#log.subject(stream, subject, after + 1)) if (fact.id === id) return true;
    return false;
  }
}
