import type { Logger } from 'pino';
import { isExpected, type Log, type Recorded } from '../../streams/core/index.js';
import { type MarketFact, market, ratingTypes } from '../../streams/events/index.js';
import { cleanText, isNick } from '../../streams/irc-grammar.js';
import { feedbackDecider, type GiveFeedback, reputation } from '../../streams/reputation/index.js';
import { Reactor } from '../core/reactor.js';

/** The settings for ratings of the marketplace. */
export interface RateFromTasksOptions {
  log: Log;
  logger: Logger;
  /** What to show of somebody's text. */
  screen(text: string): string;
  /** Whether a channel is closed to the public now. */
  isPrivate(channel: string): Promise<boolean>;
}

/** Name of the worker, and its author in the facts that it records. */
export const rateFromTasks = 'rate-from-tasks';

/** Every such event has one of them in its bytes. */
const signs = ratingTypes.map((type) => Buffer.from(`"${type}"`));
const longestComment = 500;

/** Records ratings of the marketplace that name both sides, as feedback of one about the other. */
export class RateFromTasks extends Reactor<typeof market, Recorded<MarketFact>> {
  constructor({ log, logger, screen, isPrivate }: RateFromTasksOptions) {
    super({
      log,
      logger,
      stream: market,
      durable: rateFromTasks,
      maxInHand: 1_024,
      atOnce: 16,
      concerns: ({ data }) => {
        const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
        return signs.some((sign) => bytes.includes(sign));
      },
      plan: (fact) => {
        const rating = ratingOf(fact, screen);
        return rating ? [{ key: feedbackDecider.subject(rating), item: fact }] : [];
      },
      handle: async (fact) => {
        const rating = ratingOf(fact, screen)!;
        const command = { ...rating, isPrivate: await isPrivate(rating.channel), event: fact.seq };
        try {
          // of the day on which it was told, however late it is read
          const origin = { by: rateFromTasks, cause: fact.id, now: fact.at };
          await log.handle(reputation, feedbackDecider, command, origin);
        } catch (error) {
          // a rating of oneself does not count here
          if (!isExpected(error) || error.kind !== 'refusal') throw error;
        }
        return { is: 'done' };
      },
    });
  }
}

/** The feedback in an event; `undefined` if it does not say who rated which nick, or how. */
export function ratingOf(
  { data }: Pick<Recorded<MarketFact>, 'data'>,
  screen: (text: string) => string,
): GiveFeedback | undefined {
  if (!ratingTypes.includes(data.event_type) || data.test) return undefined;
  const { payload } = data;
  const from = nickOf(payload.from_nick ?? payload.rater_nick ?? payload.publisher_nick);
  const nick = nickOf(payload.to_nick ?? payload.rated_nick ?? payload.worker_nick);
  const given = payload.score ?? payload.rating;
  const score = typeof given === 'number' || typeof given === 'string' ? Number(given) : Number.NaN;
  const channel = data.target_channels[0];
  if (!from || !nick || !channel || !(score >= 1 && score <= 5)) return undefined;
  const comment =
    typeof payload.comment === 'string' ? cleanText(payload.comment).slice(0, longestComment) : '';
  return {
    from,
    nick,
    channel,
    rating: Math.round(score),
    comment: screen(comment),
    source: 'marketplace',
  };
}

const nickOf = (value: unknown): string | undefined =>
  typeof value === 'string' && isNick(value) ? value : undefined;
