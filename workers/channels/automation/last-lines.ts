import type { Logger } from 'pino';
import { clock } from '../../../streams/core/clock.js';
import { factsIn, type Log } from '../../../streams/core/index.js';
import { type DeliveryFact, delivery } from '../../../streams/delivery/index.js';
import type { Takeover } from '../../core/fact-consumer.js';

const batch = 1_000;
/** Clocks of log servers may differ by as much, and each stream is stamped by the clock of its own leader. */
const clockToleranceMs = 60_000;

/**
 * Tells when a room has the line of an event, or will not get it any more. Lines of a channel keep their order, so all
 * before it are there too. Events are named by market sequence.
 */
export class LastLines {
  readonly #log: Log;
  readonly #logger: Logger;
  /** What was shown of events before they were looked at: the channels, or `everywhere` when delivery has ended. */
  readonly #early = new Map<number, Set<string> | 'everywhere'>();
  readonly #expected = new Map<number, { channel: string; end(): void }>();
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

  /** An event whose line nobody waits for. */
  pass(seq: number): void {
    this.#seen = Math.max(this.#seen, seq);
    this.#early.delete(seq);
  }

  /** Resolves when the channel has the event's line, when delivery of the event has ended, or after `ms`. */
  async shown(seq: number, channel: string, ms: number): Promise<void> {
    const early = this.#early.get(seq);
    this.pass(seq);
    if (early === 'everywhere' || early?.has(channel)) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clock.clearTimeout(timer);
        this.#expected.delete(seq);
        resolve();
      };
      const timer = clock.setTimeout(end, ms);
      timer.unref();
      this.#expected.set(seq, { channel, end });
    });
  }

  async #read(after: number, since: Date | undefined, signal: AbortSignal): Promise<void> {
    const options = { after, batch, signal, ...(since ? { since } : {}) };
    for await (const entries of this.#log.follow(delivery, options)) {
      for (const fact of factsIn(delivery, entries, this.#logger)) this.#fold(fact);
    }
  }

  #fold(fact: DeliveryFact): void {
    if (fact.type === 'lines.confirmed') {
      for (const line of fact.data.lines) {
        if (line.completes) this.#ended(line.seq);
        else this.#shownIn(line.channel, line.seq);
      }
    } else if (fact.type === 'event.dead_lettered' || fact.type === 'event.expired') {
      this.#ended(fact.data.seq);
    }
  }

  #shownIn(channel: string, seq: number): void {
    const expected = this.#expected.get(seq);
    if (expected?.channel === channel) expected.end();
    if (expected || seq <= this.#seen) return;
    const early = this.#early.get(seq) ?? new Set();
    if (early !== 'everywhere') this.#early.set(seq, early.add(channel));
  }

  #ended(seq: number): void {
    const expected = this.#expected.get(seq);
    if (expected) expected.end();
    else if (seq > this.#seen) this.#early.set(seq, 'everywhere');
  }
}
