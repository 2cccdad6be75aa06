import type { Logger } from 'pino';
import { factsIn, type Log, type Recorded } from '../../streams/core/index.js';
import {
  confirmLine,
  type DeliveryFact,
  type DeliveryLimits,
  type DeliveryState,
  delivery,
  deliveryDecider,
  isPast,
} from '../../streams/delivery/index.js';
import type { Takeover } from '../core/fact-consumer.js';

/** Clocks of log servers may differ by as much, and each stream is stamped by the clock of its own leader. */
const clockToleranceMs = 60_000;
const batch = 5_000;

/** How far an event had come in one round: its first one, or the one that a redrive or redelivery began. */
interface Progress {
  /** 0, or the sequence of the fact that began it. */
  round: number;
  state: DeliveryState;
}

/**
 * What is recorded about events whose messages may be handed out a second time, by market sequence. Delivery
 * reads it from the log and not from a read model: lines go on while a read model is rebuilt or broken.
 */
export class RecordedOutcomes {
  readonly #decider;
  /** First market sequence that matters; before it, only what was redriven does. */
  readonly #from: number;
  readonly #redriven = new Set<number>();
  /** Events that need nothing more: the many, so only their sequences are kept. */
  readonly #settled = new Set<number>();
  readonly #open = new Map<number, Progress>();

  constructor(limits: DeliveryLimits, from: number) {
    this.#decider = deliveryDecider(limits);
    this.#from = from;
  }

  /** Folds what was recorded since the takeover's oldest message, about events from a market sequence on and redrives. */
  static async recall(
    { since, signal }: Takeover,
    from: number,
    options: { log: Log; limits: DeliveryLimits; logger: Logger },
  ): Promise<RecordedOutcomes> {
    const { log, limits, logger } = options;
    const outcomes = new RecordedOutcomes(limits, from);
    if (!since) return outcomes;
    const start = new Date(since.getTime() - clockToleranceMs);
    for await (const entries of log.follow(delivery, { after: 0, since: start, batch, signal })) {
      if (entries.length === 0) break; // the end of the stream as of now
      for (const fact of factsIn(delivery, entries, logger)) outcomes.fold(fact);
    }
    return outcomes;
  }

  fold(fact: Recorded<DeliveryFact>): void {
    if (fact.type === 'lines.confirmed') {
      for (const line of fact.data.lines) {
        if (this.#isPast(line)) continue;
        if (line.completes) this.#settle(line.seq);
        else if (this.#isOpen(line.seq)) confirmLine(this.#stateOf(line.seq), line);
      }
      return;
    }
    if (this.#isPast(fact.data)) return;
    const { seq } = fact.data;
    switch (fact.type) {
      case 'attempt.failed':
        if (this.#isOpen(seq)) this.#decider.evolve(this.#stateOf(seq), fact);
        break;
      case 'event.redriven':
      case 'event.redelivered':
        this.#redriven.add(seq);
        this.#settled.delete(seq);
        this.#open.set(seq, { round: fact.seq, state: this.#decider.initial() });
        this.#decider.evolve(this.#stateOf(seq), fact);
        break;
      default:
        this.#settle(seq);
    }
  }

  /**
   * How far an event has come in a round: `settled` when it needs nothing more or a later round has begun,
   * `undefined` when nothing was recorded.
   */
  of(seq: number, round = 0): 'settled' | DeliveryState | undefined {
    if (this.#settled.has(seq)) return 'settled';
    const progress = this.#open.get(seq);
    if (!progress || progress.round < round) return undefined;
    return progress.round === round ? progress.state : 'settled';
  }

  #isPast(about: { seq: number; showing?: number | undefined }): boolean {
    const progress = this.#open.get(about.seq);
    return progress !== undefined && isPast(progress.state, about);
  }

  #matters(seq: number): boolean {
    return seq >= this.#from || this.#redriven.has(seq);
  }

  #isOpen(seq: number): boolean {
    return this.#matters(seq) && !this.#settled.has(seq);
  }

  #settle(seq: number): void {
    if (this.#matters(seq)) this.#settled.add(seq);
    this.#open.delete(seq);
  }

  #stateOf(seq: number): DeliveryState {
    let progress = this.#open.get(seq);
    if (!progress) {
      progress = { round: 0, state: this.#decider.initial() };
      this.#open.set(seq, progress);
    }
    return progress.state;
  }
}
