import { clock, type Timer } from '../../streams/core/clock.js';
import type { Exchange } from './exchange.js';

const lookMs = 250;
const idleMs = 5_000;
// A second short of ten, so that a half-open connection is found within ten.
const silentMs = 9_000;

/** What is watched, and who is told when it is dead. */
export interface Watched {
  exchange: Exchange;
  /** How long the exchange lets an answer take. */
  confirmTimeoutMs: number;
  /** When bytes last came, on the clock of `performance.now()`. */
  heardAt(): number;
  dead(reason: string): void;
}

/** Finds out that a connection is dead or has swallowed a line, with one timer for all lines. */
export class Watchdog {
  readonly #watched: Watched;
  readonly #timer: Timer;
  #lookedAt = clock.elapsed();
  #probedAt = 0;
  #spared = false;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#timer = clock.setInterval(() => this.#look(), lookMs);
  }

  stop(): void {
    clock.clearInterval(this.#timer);
  }

  #look(): void {
    const now = clock.elapsed();
    const heldUp = now - this.#lookedAt > 4 * lookMs;
    this.#lookedAt = now;
    // When our own event loop stood still, what has arrived in the meantime is only read after this turn.
    this.#spared = heldUp && !this.#spared;
    if (this.#spared) return;
    const reason = this.#causeOfDeath(now);
    if (reason) this.#watched.dead(reason);
    else this.#probe(now);
  }

  #causeOfDeath(now: number): string | undefined {
    const { exchange, heardAt, confirmTimeoutMs } = this.#watched;
    const overdue = exchange.overdue(now);
    if (overdue === 'alive') return 'an answer is missing';
    if (overdue === 'silent') return 'the server does not answer';
    return now - heardAt() > Math.max(silentMs, confirmTimeoutMs) ? 'the server is silent' : undefined;
  }

  /** Asks for a sign of life; its answer tells a server that has swallowed a line from one that answers nothing. */
  #probe(now: number): void {
    const { exchange, heardAt, confirmTimeoutMs } = this.#watched;
    const due = now - heardAt() > idleMs || exchange.waiting(now) > confirmTimeoutMs / 2;
    if (!due || now - this.#probedAt < confirmTimeoutMs / 2) return;
    this.#probedAt = now;
    void exchange.command('PING :probe');
  }
}
