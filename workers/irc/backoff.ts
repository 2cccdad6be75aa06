import { backoff } from '../../streams/core/index.js';

/** How a connection ended, as far as the wait before the next one depends on it. */
export interface LinkEnd {
  /** Milliseconds the announced session lived; 0 when none was announced. */
  livedMs: number;
  /** Whether the server sent us away (KILL, ban, flood, wrong password) rather than the network failing. */
  rejected: boolean;
}

const stableMs = 30_000;
const afterRejection = { first: 2_000, longest: 30_000 };
const patientAttempts = 60;

/** How long to wait before the next connect: quick after a fault of the network, doubling after a rejection. */
export class Backoff {
  #failures = 0;
  #rejections = 0;

  /** Milliseconds, with jitter; `random` is in [0, 1). */
  next({ livedMs, rejected }: LinkEnd, random: number): number {
    if (livedMs > 0) this.#failures = 0;
    if (livedMs >= stableMs) this.#rejections = 0;
    if (rejected) {
      this.#rejections += 1;
      return backoff(this.#rejections, afterRejection, random);
    }
    this.#failures += 1;
    // A server that crashed and is restarted at once is back before the third attempt.
    if (this.#failures === 1) return 50 + 200 * random;
    if (this.#failures === 2) return 300 + 200 * random;
    // One that takes longer is back within seconds; after minutes there is no hurry any more.
    return this.#failures <= patientAttempts ? 1_000 + 900 * random : 4_000 + 1_000 * random;
  }
}
