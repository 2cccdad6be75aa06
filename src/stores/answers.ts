/** So many answers are kept for each read model at most. */
const mostKept = 1_000;
/** No answer is given again after this time, in milliseconds: some of them depend on the time of day. */
const longestMs = 1_000;

interface Answer {
  given: Promise<unknown>;
  until: number;
}

/**
 * Answers of one read model, given again while it stays where it is: what many ask for at once is looked up once.
 * Whoever asks after a fact was folded gets an answer that contains it.
 */
export class Answers {
  readonly #byKey = new Map<string, Answer>();
  readonly #now: () => number;
  #state: string | undefined;

  /** `now` tells milliseconds that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * The answer under `key`, which names the question with everything it depends on. `state` tells where the read
   * model stands; where that is not known (`undefined`) the question is asked each time. Failures are not kept.
   */
  async of<T>(key: string, state: string | undefined, ask: () => Promise<T>): Promise<T> {
    if (state === undefined) return await ask();
    if (state !== this.#state || this.#byKey.size >= mostKept) this.#byKey.clear();
    this.#state = state;
    const now = this.#now();
    const kept = this.#byKey.get(key);
    if (kept && kept.until > now) return (await kept.given) as T;
    const given = ask();
    const answer = { given, until: now + longestMs };
    this.#byKey.set(key, answer);
    try {
      return await given;
    } catch (error) {
      if (this.#byKey.get(key) === answer) this.#byKey.delete(key);
      throw error;
    }
  }
}
