import type { Logger } from 'pino';
import { type Log, newId } from '../../streams/core/index.js';
import {
  type ConfirmedLine,
  confirmationsSubject,
  type DeliveryFact,
  delivery,
} from '../../streams/delivery/index.js';

const maxLinesPerFact = 500;
/** Facts on their way at most: thousands of events may expire in the same moment. */
const maxAppends = 64;
const retryMs = 250;

/** Appends delivery facts until they are on the log, however long it is away. */
export class Recorder {
  readonly #log: Log;
  readonly #logger: Logger;
  #waiting: { line: ConfirmedLine; recorded: () => void }[] = [];
  #flushing: Promise<void> | undefined;
  #appends = 0;
  readonly #turns: (() => void)[] = [];
  #stopping = false;
  #troubled = false;

  constructor(log: Log, logger: Logger) {
    this.#log = log;
    this.#logger = logger;
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
  async record(subject: string, fact: DeliveryFact): Promise<boolean> {
    while (this.#appends >= maxAppends) await new Promise<void>((resolve) => this.#turns.push(resolve));
    this.#appends += 1;
    const stored = await this.#append(subject, fact);
    this.#appends -= 1;
    this.#turns.shift()?.();
    return stored;
  }

  /** From now on a log that is away is not waited for. */
  stopping(): void {
    this.#stopping = true;
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
    const id = newId();
    for (let tries = 1; ; tries++) {
      try {
        // the log knows a repeated id for minutes only, and may have been away for longer
        const stored = tries > 1 && (await this.#log.last(delivery, subject))?.id === id;
        if (!stored) await this.#log.append(delivery, subject, fact, { by: 'deliver-to-irc', id });
        this.#troubled = false;
        return true;
      } catch (error) {
        if (this.#stopping) return false;
        if (!this.#troubled) this.#logger.warn({ err: error }, 'delivery facts wait for the log');
        this.#troubled = true;
        await new Promise((resolve) => {
          setTimeout(resolve, retryMs);
        });
      }
    }
  }
}
