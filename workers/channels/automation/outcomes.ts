import type { Logger } from 'pino';
import { decodeFact, type Log } from '../../../streams/core/index.js';
import { type DeliveryFact, delivery } from '../../../streams/delivery/index.js';
import type { Takeover } from '../../core/in-order.js';

const batch = 1_000;
/** Clocks of log servers may differ by as much, and each stream is stamped by the clock of its own leader. */
const clockToleranceMs = 60_000;

/** Tells when the delivery of an event has come to its end, whatever that was. Events are named by market sequence. */
export class Outcomes {
  readonly #log: Log;
  readonly #logger: Logger;
  /** Ended before they were looked at. */
  readonly #ended = new Set<number>();
  readonly #expected = new Map<number, () => void>();
  /** Events up to here have been looked at: of them only the expected ones matter. */
  #seen = 0;
  #following = new AbortController();

  constructor(log: Log, logger: Logger) {
    this.#log = log;
    this.#logger = logger;
  }

  /** Follows what is recorded, from a takeover's oldest message on, and no longer what was followed before. */
  async follow({ from, since, signal }: Takeover): Promise<void> {
    this.#following.abort();
    this.#following = new AbortController();
    this.#seen = from - 1;
    const after = since ? 0 : await this.#log.head(delivery);
    const start = since && new Date(since.getTime() - clockToleranceMs);
    void this.#read(after, start, AbortSignal.any([signal, this.#following.signal]));
  }

  /** An event whose outcome nobody waits for. */
  pass(seq: number): void {
    this.#seen = Math.max(this.#seen, seq);
    this.#ended.delete(seq);
  }

  /** Resolves when the event's delivery has ended, or with `false` after `ms`. Asked once for an event. */
  async ended(seq: number, ms: number): Promise<boolean> {
    this.#seen = Math.max(this.#seen, seq);
    if (this.#ended.delete(seq)) return true;
    return await new Promise<boolean>((resolve) => {
      const end = (inTime: boolean) => {
        clearTimeout(timer);
        this.#expected.delete(seq);
        resolve(inTime);
      };
      const timer = setTimeout(() => end(false), ms);
      timer.unref();
      this.#expected.set(seq, () => end(true));
    });
  }

  async #read(after: number, since: Date | undefined, signal: AbortSignal): Promise<void> {
    const options = { after, batch, signal, ...(since ? { since } : {}) };
    for await (const entries of this.#log.follow(delivery, options)) {
      for (const entry of entries) {
        try {
          this.#fold(decodeFact(delivery, entry.data, entry));
        } catch (error) {
          this.#logger.error({ seq: entry.seq, err: error }, 'delivery fact cannot be read: passed over');
        }
      }
    }
  }

  #fold(fact: DeliveryFact): void {
    if (fact.type === 'lines.confirmed') {
      for (const line of fact.data.lines) if (line.completes) this.#end(line.seq);
    } else if (fact.type === 'event.dead_lettered' || fact.type === 'event.expired') {
      this.#end(fact.data.seq);
    }
  }

  #end(seq: number): void {
    const expected = this.#expected.get(seq);
    if (expected) expected();
    else if (seq > this.#seen) this.#ended.add(seq);
  }
}
