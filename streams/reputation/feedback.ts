import { type Decider, Refusal } from '../core/index.js';
import { casefold } from '../irc-grammar.js';
import { type FeedbackSource, feedbackSubject, type Rating, type ReputationFact } from './facts.js';

/** What one nick said of another one in a channel; `last` is `undefined` before it said anything. */
export interface FeedbackState {
  last: { rating: number; comment: string; day: string; source: FeedbackSource } | undefined;
  /** Days for which something was said, with the sequence of the last word, and those whose last word was answered. */
  days: Map<string, number | undefined>;
  answered: Set<string>;
  /** Sequence of the last event that told something. */
  event: number;
}

/** Rate a nick in a channel; the rating is 1 to 5. */
export interface GiveFeedback extends Rating {
  rating: number;
  comment: string;
  source?: FeedbackSource;
  /** Whether the channel is closed to the public now. */
  isPrivate?: boolean;
  /** The sequence of the event that tells it. */
  event?: number;
}

/** Answer what was said of oneself on a day. */
export interface AnswerFeedback extends Rating {
  day: string;
  /** Sequence of the feedback that is answered. */
  id: number;
  text: string;
}

/** One feedback a day: a later one replaces it, and the same one again changes nothing. Nobody rates themselves. */
export const feedbackDecider: Decider<FeedbackState, GiveFeedback | AnswerFeedback, ReputationFact> = {
  initial: () => ({ last: undefined, days: new Map(), answered: new Set(), event: 0 }),

  subject: feedbackSubject,

  evolve(state, { type, data }, seq) {
    if (type === 'feedback.answered') {
      state.answered.add(data.day);
      return;
    }
    const { rating, comment, day, source, event = 0 } = data;
    state.last = { rating, comment, day, source };
    state.days.set(day, seq);
    state.event = Math.max(state.event, event);
    // what was answered is not what is said now
    state.answered.delete(day);
  },

  decide(command, { last, days, answered, event: told }, now) {
    const { from, nick, channel } = command;
    if ('text' in command) {
      const { day, id, text } = command;
      const last = days.get(day) ?? id;
      if (!days.has(day) || last !== id) throw new Refusal('feedback_not_found');
      if (answered.has(day)) throw new Refusal('already_answered');
      return { type: 'feedback.answered', data: { from, nick, channel, day, text } };
    }
    const { rating, comment, source, event } = command;
    if (casefold(from) === casefold(nick)) throw new Refusal('self_feedback');
    // it is read again, or by a process that does not know yet that another one has read on
    if (event !== undefined && event <= told) return undefined;
    const today = now.toISOString().slice(0, 10);
    // clocks of two processes may differ around midnight: the days of a subject never go back
    const day = last && last.day > today ? last.day : today;
    if (last?.day === day && last.source === 'marketplace' && source !== 'marketplace')
      throw new Refusal('rated_by_marketplace');
    const isSame = last?.rating === rating && last.comment === comment && last.source === source;
    if (last?.day === day && isSame) return undefined;
    const data = { from, nick, channel, rating, comment, day };
    const besides = { ...(source && { source }), ...(command.isPrivate && { private: true as const }) };
    return { type: 'feedback.given', data: { ...data, ...besides, ...(event !== undefined && { event }) } };
  },
};
