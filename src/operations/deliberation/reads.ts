import { z } from 'zod';
import {
  costSummary,
  listedQueries,
  type QueryResult,
  type QueryView,
  queryCosts,
  queryCounts,
  queryResponses,
  queryResult,
  queryView,
} from '../../../projections/deliberation/queries.js';
import { queryStatuses } from '../../../streams/deliberation/index.js';
import { limit, text } from '../core/fields.js';
import { healthOf, secondsSince } from '../core/health.js';
import { operationsOf } from '../core/operation.js';
import { moreWithKey } from '../core/rights.js';
import { type DeliberationParts, foundQuery, hasEnded, readerOf } from './parts.js';
import { Costs, ModelResponse, ofQuery, Query, Result, Unfinished } from './schemas.js';

const define = operationsOf({ tag: 'Deliberation', access: moreWithKey });

/** Seconds after which a caller who polls may ask again. */
const pollSeconds = 2;
const rename = { id: 'query_id' };

/** What came of a query, or how far it is. */
type ResultView = QueryResult | Pick<QueryView, 'id' | 'status' | 'created_at'>;

/** The models that can be asked. */
export const listModels = define('listModels', {
  summary: 'The models that can be asked',
  says: 'The models',
  output: z.array(
    z.looseObject({ id: text('small'), provider: text('example'), capabilities: z.array(text('chat')) }),
  ),
  http: { method: 'get', path: '/multibrain/models' },
  tool: {
    name: 'multibrain_list_models',
    title: 'List models',
    description: 'The language models that can be asked, with provider, capabilities and prices.',
    openWorld: true,
    walletReadable: true,
  },
  remote: { service: 'multibrain', method: 'get', path: '/api/models' },
  run: async (_input, _caller, { deliberation: { models } }: DeliberationParts) =>
    models.map(({ id, provider, capabilities, prices }) => ({
      id,
      provider,
      capabilities,
      price_usd_per_million_tokens: prices,
    })),
});

/** How far a query is. */
export const getQuery = define('getQuery', {
  summary: 'How far a query is',
  ...ofQuery,
  says: 'The query',
  output: Query,
  http: { method: 'get', path: '/multibrain/query/{id}' },
  tool: {
    name: 'multibrain_query_status',
    title: 'Status of a query',
    description: 'How far a query is: queued, running, synthesizing, completed or failed, with its timing.',
    rename,
    output: 'described',
    openWorld: true,
  },
  remote: { service: 'multibrain', method: 'get', path: '/api/query/{id}' },
  run: async ({ id }, caller, parts: DeliberationParts) => queryView(await foundQuery(id, caller, parts)),
});

/** What the models agree on. */
export const getQueryResult = define('getQueryResult', {
  summary: 'What the models agree on',
  ...ofQuery,
  answers: {
    200: { says: 'The result', body: { schema: Result } },
    202: {
      says: 'Not done yet; Retry-After says when to ask again',
      headers: { 'Retry-After': 'Seconds' },
      body: { schema: Unfinished },
    },
  },
  http: {
    method: 'get',
    path: '/multibrain/query/{id}/result',
    status: (result: ResultView) => (hasEnded(result) ? 200 : 202),
    headersOf: (result: ResultView): Record<string, string> =>
      hasEnded(result) ? {} : { 'retry-after': String(pollSeconds) },
  },
  tool: {
    name: 'multibrain_get_result',
    title: 'Result of a query',
    description:
      'What the models agree on, how much they agree (0 to 1) and what some see differently. While it is not done the answer has its status only: ask again.',
    rename,
    output: Result.partial().extend(Unfinished.shape),
    openWorld: true,
  },
  remote: { service: 'multibrain', method: 'get', path: '/api/query/{id}/result' },
  run: async (asked, caller, parts: DeliberationParts): Promise<ResultView> => {
    const query = await foundQuery(asked.id, caller, parts);
    const { id, status, created_at } = queryView(query);
    if (!hasEnded(query)) return { id, status, created_at };
    const ended = await parts.deliberation.rows.read(queryResult, id);
    return ended!;
  },
});

/** What each model answered. */
export const listResponses = define('listResponses', {
  summary: 'What each model answered',
  ...ofQuery,
  says: 'By round',
  output: z.array(ModelResponse),
  http: { method: 'get', path: '/multibrain/query/{id}/responses' },
  tool: {
    name: 'multibrain_get_responses',
    title: 'Answers of the single models',
    description: 'What each model answered in each round, with time, tokens and cost.',
    rename,
    output: 'described',
    openWorld: true,
  },
  remote: { service: 'multibrain', method: 'get', path: '/api/query/{id}/responses' },
  run: async (asked, caller, parts: DeliberationParts) => {
    const { id } = await foundQuery(asked.id, caller, parts);
    return await parts.deliberation.rows.read(queryResponses, id);
  },
});

/** Public queries, or a key's own. */
export const listQueries = define('listQueries', {
  summary: 'Public queries, or a key’s own',
  input: z.object({
    status: z.enum(queryStatuses).optional().describe('Queries of this status only'),
    limit: limit(100, 20, 'queries'),
    mine: z
      .stringbool()
      .default(false)
      .meta({ enum: ['true', 'false'] })
      .describe('Those of the key that asks, whatever their visibility, in place of the public ones'),
  }),
  says: 'Newest first',
  output: z.object({ queries: z.array(Query) }),
  http: { method: 'get', path: '/multibrain/queries' },
  tool: {
    name: 'multibrain_hot_queries',
    title: 'Latest public queries',
    description: 'The latest queries that are public, to learn from what others asked.',
    without: ['status', 'mine'],
    output: 'described',
    openWorld: true,
  },
  remote: { service: 'multibrain', method: 'get', path: '/api/queries' },
  run: async ({ mine, ...wanted }, caller, { deliberation: { rows } }: DeliberationParts) => {
    const owner = mine ? readerOf(caller) : undefined;
    // nobody who shows no key has any
    if (mine && owner === undefined) return { queries: [] };
    return { queries: await rows.read(listedQueries, { ...wanted, owner }) };
  },
});

/** What a query cost. */
export const getQueryCosts = define('getQueryCosts', {
  summary: 'What a query cost, by model and round',
  ...ofQuery,
  says: 'US dollars',
  output: Costs.extend({
    ...Query.pick({ id: true }).shape,
    by_model: z.array(Costs.extend({ model: text('small') })),
    by_round: z.array(Costs.extend({ round: z.int() })),
  }),
  http: { method: 'get', path: '/multibrain/query/{id}/costs' },
  remote: { service: 'multibrain', method: 'get', path: '/api/query/{id}/costs' },
  run: async ({ id }, caller, parts: DeliberationParts) => {
    const query = await foundQuery(id, caller, parts);
    return await parts.deliberation.rows.read(queryCosts, query);
  },
});

/** What all queries cost. */
export const getCostSummary = define('getCostSummary', {
  summary: 'What all queries cost',
  says: 'US dollars',
  output: Costs.extend({ queries: z.int(), by_model: z.array(Costs.extend({ model: text('small') })) }),
  http: { method: 'get', path: '/multibrain/costs/summary' },
  remote: { service: 'multibrain', method: 'get', path: '/api/costs/summary' },
  run: async (_input, _caller, { deliberation: { rows } }: DeliberationParts) => await rows.read(costSummary),
});

/** Whether deliberation is well. */
export const getDeliberationHealth = define('getDeliberationHealth', {
  summary: 'Whether deliberation is well',
  says: 'Its health',
  output: z.looseObject({ status: z.enum(['ok', 'degraded', 'not_configured']) }),
  http: { method: 'get', path: '/multibrain/health' },
  remote: healthOf('multibrain'),
  run: async (_input, _caller, { log, startedAt, deliberation }: DeliberationParts) => {
    const queries = await deliberation.rows.read(queryCounts).catch(() => undefined);
    const models = deliberation.models.length;
    const isWell = queries !== undefined && log.connected;
    return {
      status: models === 0 ? 'not_configured' : isWell ? 'ok' : 'degraded',
      models,
      ...(queries ? { queries } : {}),
      uptime: secondsSince(startedAt),
    };
  },
});
