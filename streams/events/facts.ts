import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';
import { ChannelEffects } from './effects.js';

/**
 * What marketplace producers told us. Routing, formatting and effects are part of the fact. They are computed
 * when an event is accepted, so that a later delivery or replay does the same, however the code has changed.
 */
export const market = defineStream({
  name: 'MARKET',
  description: 'What marketplace producers told us, with the channels and the line that come of it.',
  essential: true,
  subjects: ['market.>'],
  share: 6,
  facts: {
    'event.received': z.object({
      event_id: z.string(),
      event_type: z.string(),
      source: z.string(),
      payload: z.looseObject({}),
      target_channels: z.array(z.string()),
      formatted_message: z.string(),
      /**
       * What it does to channels. Read it with `effectsOf`, which also knows facts from before it was
       * recorded.
       */
      effects: ChannelEffects.optional(),
      /** It is a test: it is shown in the channels for tests, and says nothing about tasks, people or ratings. */
      test: z.literal(true).optional(),
      /** Some of its free text was left out of the line: points (0 to 100) and rules of the worst text. */
      withheld: z.object({ score: z.number(), patterns: z.string() }).optional(),
    }),
  },
});

export type MarketFact = FactOf<typeof market>;

/** One subject per event id: the log itself refuses a second event with the same id, for ever. */
export function marketSubject(token: string): string {
  return `market.event.${token}`;
}
