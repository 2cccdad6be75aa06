import { Refusal } from '../../streams/core/index.js';

const hourMs = 3_600_000;

/** How much of something may be done in any hour; 0 lifts the limit. */
export class HourlyLimit {
  readonly #what: string;
  readonly #most: number;
  /** When it was done, oldest first, in milliseconds. */
  #times: number[];

  /** `what` is a plural for the refusal's text; `times` is what was done before. */
  constructor(what: string, most: number, times: readonly Date[] = []) {
    this.#what = what;
    this.#most = most;
    this.#times = times.map((time) => time.getTime());
  }

  /** Takes `count` of them. Throws a 429 that says when there will be room, and takes none. */
  take(count: number, now: Date): void {
    if (this.#most === 0) return;
    this.#times = this.#times.filter((time) => time > now.getTime() - hourMs);
    const over = this.#times.length + count - this.#most;
    if (over > 0) {
      const free = (this.#times[over - 1] ?? now.getTime()) + hourMs;
      const retryAfter = Math.max(1, Math.ceil((free - now.getTime()) / 1_000));
      const text = `Too many ${this.#what}: at most ${this.#most} an hour`;
      throw new Refusal('rate_limited', text, { retryAfter });
    }
    for (let n = 0; n < count; n++) this.#times.push(now.getTime());
  }

  /** Counts what another process has done. */
  add(count: number, at: Date): void {
    if (this.#most === 0) return;
    for (let n = 0; n < count; n++) this.#times.push(at.getTime());
  }

  /** Gives back what was taken last and was not done. */
  giveBack(count: number): void {
    this.#times.splice(Math.max(0, this.#times.length - count));
  }
}
