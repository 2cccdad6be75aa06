import { z } from 'zod';
import { queryStatuses, strategies, visibilities } from '../../../streams/deliberation/index.js';
import { type Description, Time } from '../../openapi/description.js';
import { CreateBody, InjectBody, ListQuery, VisibilityBody } from './service.js';

const at = '2026-01-31T12:00:00.000Z';
const id = {
  schema: z.string(),
  example: '3f1c2a8e-6f0e-4a52-9d0a-0c8f4b1f7d10',
  says: 'Id of the query',
};
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
const query = {
  id: id.example,
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
/** A query that is not done. */
export const Unfinished = z.looseObject({ id: z.string(), status: z.enum(queryStatuses) });
const result = {
  id: id.example,
  status: 'completed',
  consensus: 'Yes, with care.',
  agreement: 0.9,
  dissent: [],
  models: query.models,
  completed_at: at,
};
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
const Costs = z.looseObject({
  calls: z.int(),
  tokens: z.object({ in: z.int(), out: z.int() }),
  cost_usd: z.number(),
});
const costs = { calls: 3, tokens: { in: 900, out: 300 }, cost_usd: 0.002, estimated_usd: 0 };
const unknown = {
  401: 'The API key that was sent is not known',
  404: 'No such query, or it is private and another key’s',
};
const badKey = { 401: 'The API key that was sent is not known' };

/** Several language models asked at once. */
export const deliberationOperations: Description[] = [
  {
    id: 'listModels',
    method: 'get',
    path: '/multibrain/models',
    tag: 'Deliberation',
    summary: 'The models that can be asked',
    answers: {
      200: {
        says: 'The models',
        body: {
          schema: z.array(
            z.looseObject({ id: z.string(), provider: z.string(), capabilities: z.array(z.string()) }),
          ),
          example: [{ id: 'small', provider: 'example', capabilities: ['chat'] }],
        },
      },
    },
    errors: badKey,
  },
  {
    id: 'createQuery',
    method: 'post',
    path: '/multibrain/query',
    tag: 'Deliberation',
    access: 'key',
    summary: 'Put a question to several models',
    description: 'Spends credit with their providers, up to a ceiling for each query.',
    body: { schema: CreateBody, example: { prompt: 'Is this contract safe?', strategy: 'consensus' } },
    answers: {
      201: {
        says: 'It is queued; ask for its result',
        body: {
          schema: Query,
          example: { ...query, status: 'queued', started_at: null, completed_at: null, timing_ms: null },
        },
      },
    },
    errors: { 503: 'No models are configured, or a part is away' },
  },
  {
    id: 'getQuery',
    method: 'get',
    path: '/multibrain/query/{id}',
    tag: 'Deliberation',
    summary: 'How far a query is',
    params: { id },
    answers: { 200: { says: 'The query', body: { schema: Query, example: query } } },
    errors: unknown,
  },
  {
    id: 'getQueryResult',
    method: 'get',
    path: '/multibrain/query/{id}/result',
    tag: 'Deliberation',
    summary: 'What the models agree on',
    params: { id },
    answers: {
      200: { says: 'The result', body: { schema: Result, example: result } },
      202: {
        says: 'Not done yet; Retry-After says when to ask again',
        headers: { 'Retry-After': 'Seconds' },
        body: {
          schema: Unfinished,
          example: { id: id.example, status: 'running' },
        },
      },
    },
    errors: unknown,
  },
  {
    id: 'listResponses',
    method: 'get',
    path: '/multibrain/query/{id}/responses',
    tag: 'Deliberation',
    summary: 'What each model answered',
    params: { id },
    answers: {
      200: {
        says: 'By round',
        body: {
          schema: z.array(ModelResponse),
          example: [
            {
              model: 'small',
              round: 1,
              content: 'Yes.',
              timing_ms: 800,
              tokens: { in: 300, out: 100 },
              cost_usd: 0.0005,
              error: null,
            },
          ],
        },
      },
    },
    errors: unknown,
  },
  {
    id: 'streamQuery',
    method: 'get',
    path: '/multibrain/query/{id}/stream',
    tag: 'Deliberation',
    summary: 'Answers as they arrive',
    description:
      'Server-sent events `status`, `response`, `injected`, `synthesis`, `error` and `done`; goes on behind Last-Event-ID, or `after`.',
    params: { id },
    query: z.object({ after: z.string().optional().describe('Id of the last event that is known') }),
    answers: {
      200: {
        says: 'Events until the query is done',
        type: 'text/event-stream',
        body: { schema: z.string(), example: 'event: status\ndata: {"id":"1","status":"running"}\n\n' },
      },
      204: { says: 'There is nothing behind the last event' },
    },
    errors: { ...unknown, 400: 'Last-Event-ID or `after` is no id of an event' },
  },
  {
    id: 'injectContext',
    method: 'post',
    path: '/multibrain/query/{id}/inject',
    tag: 'Deliberation',
    access: 'key',
    summary: 'Give the models something more to think of',
    params: { id },
    body: { schema: InjectBody, example: { content: 'The contract was audited in January.' } },
    answers: {
      200: {
        says: 'It goes into the calls that follow',
        body: { schema: z.looseObject({ id: z.string() }), example: { id: id.example, injected: true } },
      },
    },
    errors: { ...unknown, 409: 'The query is not running any more' },
  },
  {
    id: 'changeVisibility',
    method: 'patch',
    path: '/multibrain/query/{id}/visibility',
    tag: 'Deliberation',
    access: 'key',
    summary: 'Change who may see a query',
    params: { id },
    body: { schema: VisibilityBody, example: { visibility: 'public' } },
    answers: {
      200: {
        says: 'Changed',
        body: {
          schema: z.looseObject({ id: z.string(), visibility: z.enum(visibilities) }),
          example: { id: id.example, visibility: 'public' },
        },
      },
    },
    errors: unknown,
  },
  {
    id: 'listQueries',
    method: 'get',
    path: '/multibrain/queries',
    tag: 'Deliberation',
    summary: 'Public queries, or a key’s own',
    query: ListQuery,
    answers: {
      200: {
        says: 'Newest first',
        body: { schema: z.object({ queries: z.array(Query) }), example: { queries: [query] } },
      },
    },
    errors: badKey,
  },
  {
    id: 'getQueryCosts',
    method: 'get',
    path: '/multibrain/query/{id}/costs',
    tag: 'Deliberation',
    summary: 'What a query cost, by model and round',
    params: { id },
    answers: {
      200: {
        says: 'US dollars',
        body: {
          schema: Costs.extend({
            id: z.string(),
            by_model: z.array(Costs.extend({ model: z.string() })),
            by_round: z.array(Costs.extend({ round: z.int() })),
          }),
          example: { id: id.example, ceiling_usd: 1, ...costs, by_model: [], by_round: [], synthesis: null },
        },
      },
    },
    errors: unknown,
  },
  {
    id: 'getCostSummary',
    method: 'get',
    path: '/multibrain/costs/summary',
    tag: 'Deliberation',
    summary: 'What all queries cost',
    answers: {
      200: {
        says: 'US dollars',
        body: {
          schema: Costs.extend({ queries: z.int(), by_model: z.array(Costs.extend({ model: z.string() })) }),
          example: { queries: 1, ...costs, by_model: [] },
        },
      },
    },
    errors: badKey,
  },
  {
    id: 'getDeliberationHealth',
    method: 'get',
    path: '/multibrain/health',
    tag: 'Deliberation',
    summary: 'Whether deliberation is well',
    answers: {
      200: {
        says: 'Its health',
        body: { schema: z.looseObject({ status: z.enum(['ok', 'degraded']) }), example: { status: 'ok' } },
      },
    },
    errors: badKey,
  },
];
