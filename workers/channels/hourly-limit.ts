import { Refusal } from '../../streams/core/index.js';

const hourMs = 3_600_000;

/** How much was done in a second since 1970, rounded up. */
export type Spent = readonly [second: number, count: number];

/** What was done lately in all processes, by what it is. */
export interface Hours {
  /**
   * Stores what a change makes of it. `undefined`: nothing is stored of the last hour. The change may be made several
   * times, as others store too; it throws to leave what there is.
   */
  change(what: string, change: (known: readonly Spent[] | undefined) => readonly Spent[]): Promise<void>;
}

/** Gives back what was taken and was not done. */
export type GiveBack = () => Promise<void>;

/** How much of something may be done in any hour; 0 lifts the limit. */
export class HourlyLimit {
  readonly #what: string;
  readonly #most: number;
  readonly #hours: Hours;
  /** When it was done as far as is recorded, oldest first, in milliseconds. */
  #times: number[];

  /** `what` is a plural for the refusal's text; `times` is what was done before. */
  constructor(what: string, most: number, hours: Hours, times: readonly Date[] = []) {
    this.#what = what;
    this.#most = most;
    this.#hours = hours;
    this.#times = times.map((time) => time.getTime());
  }

  /**
   * Takes `count` of them. Throws a 429 that says when there will be room, and takes none. What processes take at one
   * moment is in no record yet: so it is taken from the hour that they share, too.
   */
  async take(count: number, now: Date): Promise<GiveBack> {
    if (this.#most === 0 || count === 0) return async () => {};
    const at = now.getTime();
    this.#times = this.#times.filter((time) => time > at - hourMs);
    this.#requireRoom(this.#times, count, at);
    const recorded = spentAt(this.#times);
    for (let n = 0; n < count; n++) this.#times.push(at);
    const giveBackHere = () => void this.#times.splice(Math.max(0, this.#times.length - count));
    const [second] = spentAt([at])[0]!;
    try {
      await this.#hours.change(this.#what, (known = recorded) => {
        const spent = known.filter(([end]) => end * 1_000 > at - hourMs);
        const times = spent.flatMap(([end, times]) => Array<number>(times).fill(end * 1_000));
        this.#requireRoom(times, count, at);
        return together([...spent, [second, count]]);
      });
    } catch (error) {
      giveBackHere();
      throw error;
    }
    return async () => {
      giveBackHere();
      await this.#hours.change(this.#what, (known = []) => together([...known, [second, -count]]));
    };
  }

  /** Counts what another process has done. */
  add(count: number, at: Date): void {
    if (this.#most === 0) return;
    for (let n = 0; n < count; n++) this.#times.push(at.getTime());
  }

  #requireRoom(times: readonly number[], count: number, at: number): void {
    const over = times.length + count - this.#most;
    if (over <= 0) return;
    const free = (times[over - 1] ?? at) + hourMs;
    const retryAfter = Math.max(1, Math.ceil((free - at) / 1_000));
    const text = `Too many ${this.#what}: at most ${this.#most} an hour`;
    throw new Refusal('rate_limited', text, { retryAfter });
  }
}

const spentAt = (times: readonly number[]): Spent[] =>
  together(times.map((time) => [Math.ceil(time / 1_000), 1]));

/** One entry for each second, oldest first. */
function together(spent: readonly Spent[]): Spent[] {
  const sums = new Map<number, number>();
  for (const [second, count] of spent) sums.set(second, (sums.get(second) ?? 0) + count);
  return [...sums].filter(([, count]) => count > 0).sort(([one], [other]) => one - other);
}
