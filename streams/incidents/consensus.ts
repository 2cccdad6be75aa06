import type { IncidentStatus } from './facts.js';

/** From so many votes on there is a consensus, or a dispute. */
export const minVotes = 3;
/** Mean scores from `validate` up and from `reject` down are a consensus. */
export const thresholds = { validate: 70, reject: 30 } as const;
/** Voters that far apart do not agree, whatever their mean. */
const disputedSpread = 50;

/** Votes summed up. */
export interface Tally {
  votes: number;
  /** Of all scores. */
  sum: number;
  lowest: number;
  highest: number;
  /** Votes whose own score rejects, and those whose own score validates. */
  rejecting: number;
  validating: number;
}

/** The tally before any vote. */
export const noVotes = (): Tally => ({
  ...{ votes: 0, sum: 0, lowest: 0, highest: 0, rejecting: 0, validating: 0 },
});

/** The tally with one more score, 0 to 100. */
export function withScore(tally: Readonly<Tally>, score: number): Tally {
  const { votes } = tally;
  return {
    votes: votes + 1,
    sum: tally.sum + score,
    lowest: votes === 0 ? score : Math.min(tally.lowest, score),
    highest: votes === 0 ? score : Math.max(tally.highest, score),
    rejecting: tally.rejecting + (score <= thresholds.reject ? 1 : 0),
    validating: tally.validating + (score >= thresholds.validate ? 1 : 0),
  };
}

/** What the voters make of an incident. */
export function statusOf({ votes, sum, lowest, highest }: Readonly<Tally>): IncidentStatus {
  if (votes < minVotes) return 'pending';
  if (highest - lowest >= disputedSpread) return 'disputed';
  // whole numbers on both sides: a mean of 70 is not missed by a rounding error
  if (sum >= thresholds.validate * votes) return 'validated';
  return sum <= thresholds.reject * votes ? 'false_positive' : 'disputed';
}
