import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { Log } from '../../streams/core/index.js';
import {
  type ConfirmedLine,
  confirmationsSubject,
  type DeliveryFact,
  delivery,
} from '../../streams/delivery/index.js';
import { record } from '../core/record.js';

const maxLinesPerFact = 500;
/** Facts on their way at most: thousands of events may expire in the same moment. */
const maxAppends = 64;

/** Appends delivery facts until they are on the log, however long it is away. */
export class Recorder {
  readonly #log: Log;
  readonly #logger: Logger;
  #waiting: { line: ConfirmedLine; recorded: () => void }[] = [];
  #flushing: Promise<void> | undefined;
  readonly #limit = pLimit(maxAppends);
  readonly #stopping: AbortSignal;
  #troubled = false;

  /** Once `stopping` is aborted, a log that is away is not waited for. */
  constructor(log: Log, logger: Logger, stopping: AbortSignal) {
    this.#log = log;
    this.#logger = logger;
    this.#stopping = stopping;
  }

  /**
   * Records a confirmed line and calls `recorded` when it is on the log. Lines confirmed while an append is
   * under way share the next one, so a fact has one line when little happens and hundreds when much does.
   */
  confirm(line: ConfirmedLine, recorded: () => void): void {
    this.#waiting.push({ line, recorded });
    this.#flushing ??= this.#flush();
  }

  /** Records any other delivery fact; resolves when it is on the log, or with false when a stop came first. */
  record(subject: string, fact: DeliveryFact): Promise<boolean> {
    return this.#limit(() => this.#append(subject, fact));
  }

  /** Resolves when no confirmations wait any more, or none can be recorded. */
  async flushed(): Promise<void> {
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    await undefined; // lines confirmed by the same packet go together
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, maxLinesPerFact);
      const fact = { type: 'lines.confirmed' as const, data: { lines: batch.map((entry) => entry.line) } };
      if (!(await this.#append(confirmationsSubject, fact))) return;
      for (const entry of batch) entry.recorded();
    }
    this.#flushing = undefined;
  }

  /** False when it was given up because of a stop: then the fact may or may not be on the log. */
  async #append(subject: string, fact: DeliveryFact): Promise<boolean> {
    const stored = await record(
      this.#log,
      { stream: delivery, subject, fact, by: 'deliver-to-irc' },
      { stopping: this.#stopping, waits: this.#waits },
    );
    if (stored) this.#troubled = false;
    return stored;
  }

  readonly #waits = (error: unknown): void => {
    if (!this.#troubled) this.#logger.warn({ err: error }, 'delivery facts wait for the log');
    this.#troubled = true;
  };
}
