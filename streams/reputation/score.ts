import type { FeedbackSource } from './facts.js';

const halfLifeMs = 90 * 24 * 3_600_000;
/**
 * Weights are stored relative to this moment, as 2^(t / 90 days). All of them fade by the same factor, so
 * their sums never have to be updated. A double holds such weights for two and a half centuries in both
 * directions.
 */
const epochMs = Date.UTC(2026, 0, 1);
/** Feedback of this weight earns half of the score of its mean. */
const halfTrust = 3;

/**
 * Weight of feedback given at a time, relative to a fixed moment. Times `decayAt(now)` it is 2^(-age / 90
 * days).
 */
export function weightAt(at: Date): number {
  return 2 ** ((at.getTime() - epochMs) / halfLifeMs);
}

/** The factor of the weight of feedback: a paid task says more than a word. */
export function strengthOf(source: FeedbackSource): number {
  return source === 'marketplace' ? 3 : 1;
}

/** The factor that turns weights of `weightAt` into weights at this time. */
export function decayAt(now: Date): number {
  return 2 ** ((epochMs - now.getTime()) / halfLifeMs);
}

/** Score 0 to 100 of a mean rating 1 to 5 and the present weight of its feedback. */
export function scoreOf(mean: number, weight: number): number {
  return Math.floor(25 * (mean - 1) * (weight / (weight + halfTrust)) + 0.5);
}
