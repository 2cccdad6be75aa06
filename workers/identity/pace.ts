import { LRUCache } from 'lru-cache';

/** How many commands one nick may give at once, and after how many milliseconds it may give one more. */
export interface PaceLimits {
  burst: number;
  everyMs: number;
}

interface Spent {
  /** When all of it will have been given back, in milliseconds. */
  fullAt: number;
  /** Whether it was told to wait since it last had something left. */
  told: boolean;
}

const mostKept = 10_000;

/** Holds back whoever writes too fast: the first line too much is to be answered, those after it not. */
export class Pace {
  readonly #limits: PaceLimits;
  readonly #spent = new LRUCache<string, Spent>({ max: mostKept });

  constructor(limits: PaceLimits = { burst: 20, everyMs: 500 }) {
    this.#limits = limits;
  }

  /** `now` in milliseconds. */
  take(nick: string, now: number): 'go' | 'tell' | 'drop' {
    const { burst, everyMs } = this.#limits;
    const spent = this.#spent.get(nick) ?? { fullAt: now, told: false };
    this.#spent.set(nick, spent);
    const fullAt = Math.max(spent.fullAt, now) + everyMs;
    if (fullAt - now <= burst * everyMs) {
      Object.assign(spent, { fullAt, told: false });
      return 'go';
    }
    if (spent.told) return 'drop';
    spent.told = true;
    return 'tell';
  }
}
