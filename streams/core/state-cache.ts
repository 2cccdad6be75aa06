import { boundedCache } from './bounded-cache.js';
import type { Decider } from './decider.js';
import type { AnyFact, Recorded } from './stream.js';

/** The folded state of a subject and the sequence of the last fact in it. */
export interface CachedState {
  state: unknown;
  seq: number;
}

const cachedStates = 10_000;

/** Keeps the states of the subjects that commands came for lately, so that each command reads only what is new. */
export class StateCache {
  readonly #states = boundedCache<string, CachedState>(cachedStates);

  /** Brings a subject's state up to date; `read` gives the subject's facts from a sequence on. */
  async fold<State, Command, Fact extends AnyFact>(
    decider: Decider<State, Command, Fact>,
    key: string,
    read: (fromSeq: number) => AsyncIterable<Recorded<Fact>>,
  ): Promise<CachedState> {
    let cached = this.#states.get(key);
    if (!cached) {
      cached = { state: decider.initial(), seq: 0 };
      this.#states.set(key, cached);
    }
    for await (const fact of read(cached.seq + 1)) {
      if (fact.seq <= cached.seq) continue; // another command on the same state was faster
      decider.evolve(cached.state as State, fact, fact.seq);
      cached.seq = fact.seq;
    }
    return cached;
  }

  forget(key: string): void {
    this.#states.delete(key);
  }
}
