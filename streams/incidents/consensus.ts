import type { IncidentStatus } from './facts.js';

/** With so many voices there is a consensus, or a dispute. */
export const minVotes = 3;
/** Mean scores from `validate` up and from `reject` down are a consensus. */
export const thresholds = { validate: 70, reject: 30 } as const;
/** Voters who are that far apart do not agree, whatever their mean. */
const disputedSpread = 50;

/** Votes summed up. */
export interface Tally {
  /** All of them. */
  votes: number;
  /** Of the scores of vouched voters: an operator or a paid task vouches for them. */
  sum: number;
  lowest: number;
  highest: number;
  /** Votes of voters without a voucher, and the sum of their scores. */
  plain: number;
  hearsay: number;
  /** Votes whose own score rejects, and those whose own score validates. */
  rejecting: number;
  validating: number;
}

/** The tally before any vote. */
export const noVotes = (): Tally => ({
  votes: 0,
  sum: 0,
  lowest: 0,
  highest: 0,
  plain: 0,
  hearsay: 0,
  rejecting: 0,
  validating: 0,
});

/** The tally with one more score, 0 to 100. `stands`: somebody vouches for the voter. */
export function withScore(tally: Readonly<Tally>, score: number, stands = true): Tally {
  const { votes, plain } = tally;
  const counted = {
    ...tally,
    votes: votes + 1,
    rejecting: tally.rejecting + (score <= thresholds.reject ? 1 : 0),
    validating: tally.validating + (score >= thresholds.validate ? 1 : 0),
  };
  if (!stands) return { ...counted, plain: plain + 1, hearsay: tally.hearsay + score };
  const isFirst = votes === plain;
  return {
    ...counted,
    sum: tally.sum + score,
    lowest: isFirst ? score : Math.min(tally.lowest, score),
    highest: isFirst ? score : Math.max(tally.highest, score),
  };
}

/**
 * How many voices the votes are: one for each vouched voter, and one for all others together, whose score is
 * their mean. The sum and the spread are `times` too large, to keep them whole numbers. So a rounding error
 * cannot miss a mean of 70.
 */
function voices({ votes, sum, lowest, highest, plain, hearsay }: Readonly<Tally>) {
  if (plain === 0) return { count: votes, sum, spread: highest - lowest, times: 1 };
  return {
    count: votes - plain + 1,
    sum: sum * plain + hearsay,
    spread: Math.max(highest * plain, hearsay) - Math.min(lowest * plain, hearsay),
    times: plain,
  };
}

/** Whether there are enough voices for a consensus, or a dispute. */
export const isDecided = (tally: Readonly<Tally>): boolean => voices(tally).count >= minVotes;

/** Mean score of the voices, 0 to 100; `null` without any. */
export function meanOf(tally: Readonly<Tally>): number | null {
  const { count, sum, times } = voices(tally);
  return count > 0 ? sum / (count * times) : null;
}

/** What the voters make of an incident. */
export function statusOf(tally: Readonly<Tally>): IncidentStatus {
  if (!isDecided(tally)) return 'pending';
  const { count, sum, spread, times } = voices(tally);
  if (spread >= disputedSpread * times) return 'disputed';
  if (sum >= thresholds.validate * count * times) return 'validated';
  return sum <= thresholds.reject * count * times ? 'false_positive' : 'disputed';
}
