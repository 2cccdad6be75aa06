import type { FeedbackSource } from './facts.js';

const halfLifeMs = 90 * 24 * 3_600_000;
/**
 * Weights are kept relative to this moment, as 2^(t / 90 days): all of them fade by the same factor, so sums of them
 * never have to be touched again. A double holds such weights for two and a half centuries in both directions.
 */
const epochMs = Date.UTC(2026, 0, 1);
/** So much weight of feedback earns half of the score that its mean stands for. */
const halfTrust = 3;

/** Weight of what was said at a time, relative to a fixed moment; times `decayAt(now)` it is 2^(-age / 90 days). */
export function weightAt(at: Date): number {
  return 2 ** ((at.getTime() - epochMs) / halfLifeMs);
}

/** By what the weight of feedback is multiplied: a task that was paid for says more than a word. */
export function strengthOf(source: FeedbackSource): number {
  return source === 'marketplace' ? 3 : 1;
}

/** By what weights of `weightAt` are to be multiplied at a time. */
export function decayAt(now: Date): number {
  return 2 ** ((epochMs - now.getTime()) / halfLifeMs);
}

/** Score 0 to 100 of a mean rating 1 to 5 and the present weight of the feedback behind it. */
export function scoreOf(mean: number, weight: number): number {
  return Math.floor(25 * (mean - 1) * (weight / (weight + halfTrust)) + 0.5);
}
