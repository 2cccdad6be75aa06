import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  costSummary,
  listedQueries,
  queryCosts,
  queryCounts,
  queryResponses,
  queryResult,
  queryView,
  queuedView,
  type StoredQuery,
  storedQuery,
} from '../../../projections/deliberation/queries.js';
import { type Log, Refusal, Unavailable } from '../../../streams/core/index.js';
import {
  type DeliberationFact,
  deliberation,
  isQueryId,
  mayRead,
  nanoUsd,
  type QueryCommand,
  queryDecider,
  queryNotFound,
  queryStatuses,
  querySubject,
  strategies,
  visibilities,
} from '../../../streams/deliberation/index.js';
import type { Input, Reply, Route, Service } from '../../remote/service.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import type { ReadModels } from '../../stores/read-models.js';
import { parseInput } from '../core/validation.js';
import type { ConfiguredModel } from './models-file.js';

/** What the deliberation service answers. */
export const multibrainRoutes = {
  models: { method: 'GET', path: '/api/models' },
  create: { method: 'POST', path: '/api/query' },
  show: { method: 'GET', path: '/api/query/:id' },
  result: { method: 'GET', path: '/api/query/:id/result' },
  responses: { method: 'GET', path: '/api/query/:id/responses' },
  costs: { method: 'GET', path: '/api/query/:id/costs' },
  inject: { method: 'POST', path: '/api/query/:id/inject' },
  changeVisibility: { method: 'PATCH', path: '/api/query/:id/visibility' },
  list: { method: 'GET', path: '/api/queries' },
  costSummary: { method: 'GET', path: '/api/costs/summary' },
  health: { method: 'GET', path: '/health' },
} as const satisfies Record<string, Route>;

/** What the deliberation service works with. */
export interface MultibrainOptions {
  log: Log;
  readModels: ReadModels;
  /** Models that queries may name. */
  models: Omit<ConfiguredModel, 'apiKey'>[];
  /** What one query may cost, in US dollars. */
  maxCostUsd: number;
  startedAt: Date;
}

/** Models of one query. */
const mostModels = 8;
/** Seconds after which a caller who polls may ask again. */
const pollSeconds = 2;

/** The contract’s body of a query. */
export const CreateBody = z.object({
  prompt: z.string().trim().min(1).max(20_000),
  models: z.array(z.string()).min(1).max(mostModels).optional(),
  strategy: z.enum(strategies).default('consensus'),
  maxTokens: z.int().min(1).max(16_384).default(1_024),
  systemPrompt: z.string().max(8_000).optional(),
  temperature: z.number().min(0).max(2).optional(),
  visibility: z.enum(visibilities).default('unlisted'),
});
/** The contract’s body of injected context. */
export const InjectBody = z.object({ content: z.string().trim().min(1).max(8_000) });
/** The contract’s body of a change of visibility. */
export const VisibilityBody = z.object({ visibility: z.enum(visibilities) });
/** Which queries are asked for. */
export const ListQuery = z.object({
  status: z.enum(queryStatuses).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  mine: z
    .stringbool()
    .default(false)
    .describe('Those of the key that asks, whatever their visibility, in place of the public ones'),
});

/** The deliberation service: takes queries to several models and tells what came of them. */
export function createMultibrain(options: MultibrainOptions): Service<typeof multibrainRoutes> {
  const { log, readModels, models } = options;
  const rows = new OwnReadModel(readModels, 'deliberations');
  const ids = models.map(({ id }) => id);

  async function command(command: QueryCommand, actor: string) {
    const done = await log.handle(deliberation, queryDecider, command, { by: actor });
    rows.wrote(done.position);
    return done;
  }

  /**
   * The query of a path, for those who may read it; one that another process has just taken or worked on, too: the
   * stream is read from the log, and whoever was told there that it is done finds it so.
   */
  async function find({ params, actor }: Input): Promise<StoredQuery> {
    const id = params?.id ?? '';
    if (!isQueryId(id)) throw queryNotFound();
    const look = () => rows.read((sql, schema) => storedQuery(sql, schema, id));
    let found = await look();
    if (!found || !hasEnded(found)) {
      const last = await log.last(deliberation, querySubject(id)).catch((error: unknown) => {
        // what is there can be read without the log
        if (!found) throw error;
      });
      if (!last && !found) throw queryNotFound();
      if (last) {
        rows.wrote(last);
        found = await look();
      }
    }
    if (!found) throw new Unavailable('read_model_behind', 'The query is not there to be read yet');
    if (!mayRead(found, actor)) throw queryNotFound();
    return found;
  }

  function chosenModels(chosen: string[] | undefined): string[] {
    if (ids.length === 0) throw new Refusal('models_not_configured');
    if (chosen === undefined) return ids.slice(0, mostModels);
    const details = chosen.flatMap((id, index) => {
      const path = `models.${index}`;
      if (!ids.includes(id)) return [{ path, message: `${path} must be one of ${ids.join(', ')}` }];
      return chosen.indexOf(id) < index ? [{ path, message: `${path} is named twice` }] : [];
    });
    if (details.length === 0) return chosen;
    const message = details.map(({ message }) => message).join('; ');
    throw new Refusal('validation_failed', message, { details });
  }

  return {
    models: async () => ok(models.map(modelView)),
    create: async ({ body, actor = 'api' } = {}) => {
      const { maxTokens, systemPrompt, temperature, ...query } = parseInput(CreateBody, body);
      const chosen = chosenModels(query.models);
      // others can guess what is counted, and who knows the id of an unlisted query may read it
      const id = randomUUID();
      const create = {
        ...{ ...query, is: 'create' as const, id, owner: actor, models: chosen },
        system_prompt: systemPrompt ?? null,
        synthesizer: models.find(({ synthesizer }) => synthesizer)?.id ?? chosen[0]!,
        max_tokens: maxTokens,
        temperature: temperature ?? null,
        ceiling_nano_usd: nanoUsd(options.maxCostUsd),
      };
      const { fact, position } = await command(create, actor);
      // not from the read model: who is told that there is none, though there is, creates and pays another one
      const at = (await log.at(deliberation, position.seq).catch(() => undefined))?.at ?? log.now();
      return { status: 201, body: queuedView((fact as Creation).data, at) };
    },
    show: async (input = {}) => ok(queryView(await find(input))),
    result: async (input = {}) => {
      const query = await find(input);
      const { id, status, created_at } = queryView(query);
      if (!hasEnded(query)) return { status: 202, body: { id, status, created_at }, retryAfter: pollSeconds };
      return ok(await rows.read((sql, schema) => queryResult(sql, schema, id)));
    },
    responses: async (input = {}) => {
      const { id } = await find(input);
      return ok(await rows.read((sql, schema) => queryResponses(sql, schema, id)));
    },
    costs: async (input = {}) => {
      const query = await find(input);
      return ok(await rows.read((sql, schema) => queryCosts(sql, schema, query)));
    },
    inject: async (input = {}) => {
      const { content } = parseInput(InjectBody, input.body);
      const { actor = 'api' } = input;
      const { id } = await find(input);
      const { state } = await command({ is: 'inject', id, actor, content }, actor);
      return ok({ id, injected: true, injections: state.injections });
    },
    changeVisibility: async (input = {}) => {
      const { visibility } = parseInput(VisibilityBody, input.body);
      const { actor = 'api' } = input;
      const { id } = await find(input);
      await command({ is: 'change visibility', id, actor, visibility }, actor);
      return ok(queryView(await find(input)));
    },
    list: async ({ query, actor } = {}) => {
      const { mine, ...wanted } = parseInput(ListQuery, query ?? {});
      // nobody who shows no key has any
      if (mine && actor === undefined) return ok({ queries: [] });
      const owner = mine ? actor : undefined;
      return ok({
        queries: await rows.read((sql, schema) => listedQueries(sql, schema, { ...wanted, owner })),
      });
    },
    costSummary: async () => ok(await rows.read(costSummary)),
    health: async () => {
      const queries = await rows.read(queryCounts).catch(() => undefined);
      return ok({
        status: queries && log.connected ? 'ok' : 'degraded',
        models: models.length,
        ...(queries ? { queries } : {}),
        uptime: Math.round((Date.now() - options.startedAt.getTime()) / 1000),
      });
    },
  };
}

type Creation = Extract<DeliberationFact, { type: 'query.created' }>;

const hasEnded = ({ status }: StoredQuery) => status === 'completed' || status === 'failed';

const ok = (body: unknown): Reply => ({ status: 200, body });

function modelView({ id, provider, capabilities, prices }: MultibrainOptions['models'][number]): object {
  return { id, provider, capabilities, price_usd_per_million_tokens: prices };
}
