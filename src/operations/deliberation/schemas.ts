import { z } from 'zod';
import { queryStatuses, strategies, visibilities } from '../../../streams/deliberation/index.js';
import { Time } from '../core/description.js';

/** What every operation on one query has: its id, and how it is refused where there is no such query. */
export const ofQuery = {
  input: z.object({ id: z.string().describe('Id of the deliberation query') }),
  example: { id: '3f1c2a8e-6f0e-4a52-9d0a-0c8f4b1f7d10' },
  refusals: { not_found: 'No such query, or it is private and another key’s' },
} as const;

const { id } = ofQuery.example;
const at = '2026-01-31T12:00:00.000Z';

/** How far a query is. */
export const Query = z
  .looseObject({
    id: z.string(),
    status: z.enum(queryStatuses),
    strategy: z.enum(strategies),
    models: z.array(z.string()),
    visibility: z.enum(visibilities),
    rounds: z.int(),
    created_at: Time,
    started_at: Time.nullable(),
    completed_at: Time.nullable(),
    timing_ms: z.number().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'DeliberationQuery' });
/** An example of it. */
export const query = {
  id,
  status: 'completed',
  strategy: 'consensus',
  models: ['small', 'large'],
  visibility: 'unlisted',
  rounds: 1,
  created_at: at,
  started_at: at,
  completed_at: at,
  timing_ms: 2_300,
  error: null,
};

/** What came of a query. */
export const Result = z
  .looseObject({
    id: z.string(),
    status: z.enum(queryStatuses),
    consensus: z.string().nullable(),
    agreement: z.number().min(0).max(1).nullable(),
    dissent: z.array(z.string()),
    models: z.array(z.string()),
    completed_at: Time.nullable(),
  })
  .meta({ id: 'DeliberationResult' });
/** An example of it. */
export const result = {
  id,
  status: 'completed',
  consensus: 'Yes, with care.',
  agreement: 0.9,
  dissent: [],
  models: query.models,
  completed_at: at,
};

/** A query that is not done. */
export const Unfinished = z.looseObject({ id: z.string(), status: z.enum(queryStatuses) });

/** What one model answered in one round. */
export const ModelResponse = z.object({
  model: z.string(),
  round: z.int(),
  content: z.string().nullable(),
  timing_ms: z.number(),
  tokens: z.object({ in: z.int(), out: z.int() }),
  cost_usd: z.number(),
  error: z.string().nullable(),
});
/** An example of it. */
export const response = {
  model: 'small',
  round: 1,
  content: 'Yes.',
  timing_ms: 800,
  tokens: { in: 300, out: 100 },
  cost_usd: 0.0005,
  error: null,
};

/** What calls cost. */
export const Costs = z.looseObject({
  calls: z.int(),
  tokens: z.object({ in: z.int(), out: z.int() }),
  cost_usd: z.number(),
});
/** An example of it. */
export const costs = { calls: 3, tokens: { in: 900, out: 300 }, cost_usd: 0.002, estimated_usd: 0 };
