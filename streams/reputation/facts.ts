import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';
import { casefold } from '../irc-grammar.js';

/** What nicks think of each other. */
export const reputation = defineStream({
  name: 'REPUTATION',
  description: 'What nicks think of each other.',
  subjects: ['reputation.>'],
  facts: {
    /** One nick rated another one in a channel. Only the last one of a day counts. */
    'feedback.given': z.object({
      from: z.string(),
      nick: z.string(),
      /** The name of the channel, with its `#`. */
      channel: z.string(),
      rating: z.int().min(1).max(5),
      comment: z.string(),
      /** The UTC day it counts for, `YYYY-MM-DD`. */
      day: z.string(),
      /**
       * The source: the giver with its own key, or the marketplace, after a task they did together. Absent:
       * an operator.
       */
      source: z.enum(['agent', 'marketplace']).optional(),
      /** The channel was closed to the public when it was given. */
      private: z.literal(true).optional(),
      /** The sequence of the marketplace's event that told it; absent for what others say, and in older facts. */
      event: z.int().positive().optional(),
    }),
    /** The rated nick answers what was said about it last that day; once. */
    'feedback.answered': z.object({
      from: z.string(),
      nick: z.string(),
      channel: z.string(),
      day: z.string(),
      text: z.string(),
    }),
  },
});

export type ReputationFact = FactOf<typeof reputation>;
/** One nick rated another. */
export type FeedbackGiven = Extract<ReputationFact, { type: 'feedback.given' }>;
/** The source of a rating; `undefined` for an operator. */
export type FeedbackSource = FeedbackGiven['data']['source'];

/** The giver and the receiver of a rating, and its channel. */
export interface Rating {
  from: string;
  nick: string;
  /** The name of the channel, with its `#`. */
  channel: string;
}

/**
 * Subject of all that one nick ever said about another one in a channel. Replacements are decided there, and
 * nobody else's feedback is in the way. Nicks are plain tokens. Channel names that are not plain tokens
 * become base64url.
 */
export function feedbackSubject({ from, nick, channel }: Rating): string {
  const name = casefold(channel).slice(1);
  const token = /^[a-z0-9_-]{1,64}$/.test(name) ? name : `~${Buffer.from(name).toString('base64url')}`;
  return `reputation.${casefold(nick)}.${casefold(from)}.${token}`;
}
