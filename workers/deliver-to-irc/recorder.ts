import type { Logger } from 'pino';
import { type FactOf, type Log, newId } from '../../streams/core/index.js';
import {
  type ConfirmedLine,
  confirmationsSubject,
  type DeliveryFact,
  delivery,
} from '../../streams/delivery/index.js';

const maxLinesPerFact = 500;
const retryMs = 250;

/** Appends delivery facts until they are on the log, however long it is away. */
export class Recorder {
  readonly #log: Log;
  readonly #logger: Logger;
  #waiting: { line: ConfirmedLine; recorded: () => void }[] = [];
  #flushing: Promise<void> | undefined;
  #stopped = false;

  constructor(log: Log, logger: Logger) {
    this.#log = log;
    this.#logger = logger;
  }

  /**
   * Records a confirmed line; resolves when it is on the log. Lines confirmed while an append is under way
   * share the next one, so a fact has one line when little happens and hundreds when much does.
   */
  confirm(line: ConfirmedLine): Promise<void> {
    return new Promise((recorded) => {
      this.#waiting.push({ line, recorded });
      this.#flushing ??= this.#flush();
    });
  }

  /** Records any other delivery fact; resolves when it is on the log, or with false when a stop came first. */
  record(subject: string, fact: DeliveryFact): Promise<boolean> {
    return this.#append(subject, fact);
  }

  /** Waits for what is under way; gives up on a log that is away. */
  async stop(): Promise<void> {
    this.#stopped = true;
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
  async #append(subject: string, fact: FactOf<typeof delivery>): Promise<boolean> {
    const id = newId();
    for (let tries = 1; ; tries++) {
      try {
        await this.#log.append(delivery, subject, fact, { by: 'deliver-to-irc', id });
        return true;
      } catch (error) {
        if (this.#stopped) return false;
        if (tries === 1) this.#logger.warn({ err: error }, 'delivery facts wait for the log');
        await new Promise((resolve) => {
          setTimeout(resolve, retryMs);
        });
      }
    }
  }
}
