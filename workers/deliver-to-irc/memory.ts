import { decodeFact, type Log } from '../../streams/core/index.js';
import {
  confirmLine,
  type DeliveryFact,
  type DeliveryLimits,
  type DeliveryState,
  delivery,
  deliveryDecider,
} from '../../streams/delivery/index.js';

/**
 * What is recorded about events whose messages may be handed out a second time, by market sequence. Delivery
 * reads it from the log and not from a read model: lines go on while a read model is rebuilt or broken.
 */
export class RecordedOutcomes {
  readonly #decider;
  /** Events that need nothing more: the many, so only their sequences are kept. */
  readonly #settled = new Set<number>();
  readonly #open = new Map<number, DeliveryState>();

  constructor(limits: DeliveryLimits) {
    this.#decider = deliveryDecider(limits);
  }

  /** Folds everything recorded since a time: no fact about an event is older than the event. */
  static async since(log: Log, since: Date | undefined, limits: DeliveryLimits): Promise<RecordedOutcomes> {
    const outcomes = new RecordedOutcomes(limits);
    if (!since) return outcomes;
    const reading = new AbortController();
    for await (const entries of log.follow(delivery, {
      after: 0,
      since,
      batch: 5_000,
      signal: reading.signal,
    })) {
      if (entries.length === 0) break; // the end of the stream as of now
      for (const entry of entries) outcomes.fold(decodeFact(delivery, entry.data, entry));
    }
    reading.abort();
    return outcomes;
  }

  fold(fact: DeliveryFact): void {
    if (fact.type === 'lines.confirmed') {
      for (const line of fact.data.lines) {
        if (line.completes) this.#settle(line.seq);
        else confirmLine(this.#stateOf(line.seq), line);
      }
      return;
    }
    const { seq } = fact.data;
    if (fact.type === 'event.dead_lettered' || fact.type === 'event.expired') {
      this.#settle(seq);
      return;
    }
    if (fact.type === 'event.redriven') this.#settled.delete(seq);
    this.#decider.evolve(this.#stateOf(seq), fact);
  }

  /** Whether the event was delivered, dead-lettered or expired, and not redriven since. */
  isSettled(seq: number): boolean {
    return this.#settled.has(seq);
  }

  /** What was recorded about an event that is still open; `undefined` when nothing was. */
  open(seq: number): DeliveryState | undefined {
    return this.#open.get(seq);
  }

  #settle(seq: number): void {
    this.#settled.add(seq);
    this.#open.delete(seq);
  }

  #stateOf(seq: number): DeliveryState {
    let state = this.#open.get(seq);
    if (!state) {
      state = this.#decider.initial();
      this.#open.set(seq, state);
    }
    return state;
  }
}
