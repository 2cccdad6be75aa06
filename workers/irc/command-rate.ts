import { clock } from '../../streams/core/clock.js';
import { boundedCache } from '../../streams/core/index.js';

/** How many commands one nick may give at once, and after how many milliseconds it may give one more. */
const usual = { burst: 20, everyMs: 500 };
const mostKept = 10_000;

interface Spent {
  /** When the whole allowance is back, in milliseconds. */
  fullAt: number;
  /** Whether the nick was told to wait since it last had its whole allowance. */
  told: boolean;
}

/**
 * Holds back nicks that write too fast. The first line over the limit is answered, later ones are dropped, until the nick
 * has rested.
 */
export class RateLimit {
  readonly #limit: { burst: number; everyMs: number };
  readonly #spent = boundedCache<string, Spent>(mostKept);

  constructor(limit = usual) {
    this.#limit = limit;
  }

  /** `now` in milliseconds, on a clock that nobody sets back: else whoever wrote before would be held back as long. */
  take(nick: string, now = clock.elapsed()): 'go' | 'tell' | 'drop' {
    const { burst, everyMs } = this.#limit;
    const spent = this.#spent.get(nick) ?? { fullAt: now, told: false };
    this.#spent.set(nick, spent);
    const fullAt = Math.max(spent.fullAt, now) + everyMs;
    if (fullAt - now <= burst * everyMs) {
      Object.assign(spent, { told: spent.told && spent.fullAt > now, fullAt });
      return 'go';
    }
    if (spent.told) return 'drop';
    spent.told = true;
    return 'tell';
  }
}
