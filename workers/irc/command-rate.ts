import { LRUCache } from 'lru-cache';

/** How many commands one nick may give at once, and after how many milliseconds it may give one more. */
const burst = 20;
const everyMs = 500;
const mostKept = 10_000;

interface Spent {
  /** When all of it will have been given back, in milliseconds. */
  fullAt: number;
  /** Whether it was told to wait since it last had something left. */
  told: boolean;
}

/** Holds back whoever writes too fast: the first line too much is to be answered, those after it not. */
export class RateLimit {
  readonly #spent = new LRUCache<string, Spent>({ max: mostKept });

  /** `now` in milliseconds. */
  take(nick: string, now: number): 'go' | 'tell' | 'drop' {
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
