import { z } from 'zod';
import { queryStatuses, strategies, visibilities } from '../../../streams/deliberation/index.js';
import { Time, text } from '../core/fields.js';

const id = text('3f1c2a8e-6f0e-4a52-9d0a-0c8f4b1f7d10');

/** What every operation on one query has: its id, and how it is refused where there is no such query. */
export const ofQuery = {
  input: z.object({ id: id.describe('Id of the deliberation query') }),
  refusals: { query_not_found: true },
} as const;

/** A query in an answer by its id and how far it is. */
export const Unfinished = z.looseObject({ id, status: z.enum(queryStatuses).meta({ example: 'running' }) });

const ended = z.enum(queryStatuses).meta({ example: 'completed' });
const models = z.array(z.string()).meta({ example: ['small', 'large'] });

/** How far a query is. */
export const Query = z
  .looseObject({
    id,
    status: ended,
    strategy: z.enum(strategies),
    models,
    visibility: z.enum(visibilities).meta({ example: 'unlisted' }),
    rounds: z.int(),
    created_at: Time,
    started_at: Time.nullable(),
    completed_at: Time.nullable(),
    timing_ms: z.number().meta({ example: 2_300 }).nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'DeliberationQuery' });

/** What came of a query. */
export const Result = z
  .looseObject({
    id,
    status: ended,
    consensus: text('Yes, with care.').nullable(),
    agreement: z.number().min(0).max(1).meta({ example: 0.9 }).nullable(),
    dissent: z.array(z.string()).meta({ example: [] }),
    models,
    completed_at: Time.nullable(),
  })
  .meta({ id: 'DeliberationResult' });

const tokens = z.object({ in: z.int(), out: z.int() }).meta({ example: { in: 300, out: 100 } });
const cost_usd = z.number().meta({ example: 0.0005 });

/** What one model answered in one round. */
export const ModelResponse = z.object({
  model: text('small'),
  round: z.int(),
  content: text('Yes.').nullable(),
  timing_ms: z.number().meta({ example: 800 }),
  tokens,
  cost_usd,
  error: z.string().nullable(),
});

/** What calls cost. */
export const Costs = z.looseObject({ calls: z.int(), tokens, cost_usd });
