import { boundedCache } from '../../streams/core/index.js';

/** Longer than the read model is behind. */
const answeredMs = 60_000;

/**
 * The references of incidents that are seen to right now, or were lately. Others leave one alone that is on
 * record without an outcome: the record may be a little older.
 */
export class InHand {
  readonly #underWay = new Set<string>();
  readonly #answered = boundedCache<string, true>(10_000, { ttl: answeredMs });

  has(ref: string): boolean {
    return this.#underWay.has(ref) || this.#answered.has(ref);
  }

  /** It is seen to from now on. */
  take(ref: string): void {
    this.#underWay.add(ref);
  }

  /** Its outcome is recorded. */
  answer(ref: string): void {
    this.#answered.set(ref, true);
  }

  /** Nobody sees to it any more. Unless it was answered, it is for others to finish. */
  leave(ref: string): void {
    this.#underWay.delete(ref);
  }
}
