import { type Decider, Refusal } from '../core/index.js';
import { casefold } from '../irc-grammar.js';
import { feedbackSubject, type Rating, type ReputationFact } from './facts.js';

/** What one nick last said of another one in a channel; `undefined` before it said anything. */
export interface FeedbackState {
  last: { rating: number; comment: string; day: string } | undefined;
}

/** Rate a nick in a channel; the rating is 1 to 5. */
export interface GiveFeedback extends Rating {
  rating: number;
  comment: string;
}

/** One feedback a day: a later one replaces it, and the same one again changes nothing. Nobody rates themselves. */
export const feedbackDecider: Decider<FeedbackState, GiveFeedback, ReputationFact> = {
  initial: () => ({ last: undefined }),

  subject: feedbackSubject,

  evolve(state, { data: { rating, comment, day } }) {
    state.last = { rating, comment, day };
  },

  decide({ from, nick, channel, rating, comment }, { last }, now) {
    if (casefold(from) === casefold(nick)) throw new Refusal('self_feedback');
    const today = now.toISOString().slice(0, 10);
    // clocks of two processes may differ around midnight: the days of a subject never go back
    const day = last && last.day > today ? last.day : today;
    if (last?.day === day && last.rating === rating && last.comment === comment) return undefined;
    return { type: 'feedback.given', data: { from, nick, channel, rating, comment, day } };
  },
};
