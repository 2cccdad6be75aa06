import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type QueryView, queryView, queuedView } from '../../../projections/deliberation/queries.js';
import { Refusal } from '../../../streams/core/index.js';
import {
  type DeliberationFact,
  deliberation as facts,
  nanoUsd,
  type QueryCommand,
  queryDecider,
  strategies,
  visibilities,
} from '../../../streams/deliberation/index.js';
import { exampleOf } from '../core/example.js';
import { operationsOf } from '../core/operation.js';
import { scope } from '../core/rights.js';
import { type DeliberationParts, foundQuery } from './parts.js';
import { ofQuery, Query } from './schemas.js';

const define = operationsOf({ tag: 'Deliberation', access: scope('deliberate') });

const unstarted = { status: 'queued', started_at: null, completed_at: null, timing_ms: null };
const visibility = z.enum(visibilities).meta({ example: 'public' });
/** Models of one query. */
const mostModels = 8;

/** Puts a question to several models. */
export const createQuery = define('createQuery', {
  summary: 'Put a question to several models',
  description: 'Spends credit with their providers, up to a ceiling for each query.',
  input: z.object({
    prompt: z.string().trim().min(1).max(20_000).meta({ example: 'Is this contract safe?' }),
    models: z
      .array(z.string())
      .min(1)
      .max(mostModels)
      .optional()
      .describe('Ids from the list of models; all when left out'),
    strategy: z
      .enum(strategies)
      .default('consensus')
      .describe('consensus: one round; debate: three, each sees the others; roundtable: in turn, two rounds'),
    maxTokens: z.int().min(1).max(16_384).default(1_024).describe('Per answer of a model'),
    systemPrompt: z.string().max(8_000).optional(),
    temperature: z.number().min(0).max(2).optional(),
    visibility: z
      .enum(visibilities)
      .default('unlisted')
      .describe('public: in lists; unlisted: for those who know the id; private: for the key that asks'),
  }),
  status: 201,
  says: 'It is queued; ask for its result',
  output: { schema: Query, example: { ...(exampleOf(Query) as QueryView), ...unstarted } },
  refusals: { models_not_configured: 'No models are configured' },
  http: { method: 'post', path: '/multibrain/query' },
  tool: {
    name: 'multibrain_submit_query',
    title: 'Ask several models',
    description:
      'Puts a question to several models and has their answers brought together. Spends credit of the operator. Answers at once with an id: ask multibrain_get_result until it is done.',
    output: 'described',
    effect: 'spend',
    openWorld: true,
  },
  remote: { service: 'multibrain', method: 'post', path: '/api/query' },
  run: async (asked, { actor }, parts: DeliberationParts): Promise<QueryView> => {
    const { log, deliberation } = parts;
    const { maxTokens, systemPrompt, temperature, ...query } = asked;
    const chosen = chosenModels(query.models, parts);
    const create = {
      // others can guess what is counted, and whoever knows the id of an unlisted query may read it
      ...query,
      is: 'create' as const,
      id: randomUUID(),
      owner: actor,
      models: chosen,
      system_prompt: systemPrompt ?? null,
      synthesizer: deliberation.models.find(({ synthesizer }) => synthesizer)?.id ?? chosen[0]!,
      max_tokens: maxTokens,
      temperature: temperature ?? null,
      ceiling_nano_usd: nanoUsd(deliberation.maxCostUsd),
    };
    const { fact, position } = await carryOut(create, actor, parts);
    // not from the read model: a caller who is wrongly told that there is no query creates and pays another
    // one
    const at = (await log.at(facts, position.seq).catch(() => undefined))?.at ?? log.now();
    return queuedView((fact as Creation).data, at);
  },
});

/** Gives the models something more to consider. */
export const injectContext = define('injectContext', {
  summary: 'Give the models something more to think of',
  input: ofQuery.input.extend({
    content: z.string().trim().min(1).max(8_000).meta({ example: 'The contract was audited in January.' }),
  }),
  says: 'It goes into the calls that follow',
  output: z.looseObject(Query.pick({ id: true }).shape),
  refusals: { ...ofQuery.refusals, query_closed: true, too_many_injections: true },
  http: { method: 'post', path: '/multibrain/query/{id}/inject' },
  remote: { service: 'multibrain', method: 'post', path: '/api/query/{id}/inject' },
  run: async ({ content, ...asked }, caller, parts: DeliberationParts) => {
    const { actor } = caller;
    const { id } = await foundQuery(asked.id, caller, parts);
    const { state } = await carryOut({ is: 'inject', id, actor, content }, actor, parts);
    return { id, injected: true, injections: state.injections };
  },
});

/** Changes who may see a query. */
export const changeVisibility = define('changeVisibility', {
  summary: 'Change who may see a query',
  input: ofQuery.input.extend({ visibility }),
  says: 'Changed',
  output: z.looseObject({ ...Query.pick({ id: true }).shape, visibility }),
  refusals: { ...ofQuery.refusals, not_owner: true },
  http: { method: 'patch', path: '/multibrain/query/{id}/visibility' },
  remote: { service: 'multibrain', method: 'patch', path: '/api/query/{id}/visibility' },
  run: async ({ visibility, ...asked }, caller, parts: DeliberationParts) => {
    const { actor } = caller;
    const { id } = await foundQuery(asked.id, caller, parts);
    await carryOut({ is: 'change visibility', id, actor, visibility }, actor, parts);
    return queryView(await foundQuery(id, caller, parts));
  },
});

type Creation = Extract<DeliberationFact, { type: 'query.created' }>;

async function carryOut(command: QueryCommand, by: string, { log, deliberation }: DeliberationParts) {
  const done = await log.handle(facts, queryDecider, command, { by });
  deliberation.rows.wrote(done.position);
  return done;
}

function chosenModels(chosen: string[] | undefined, { deliberation }: DeliberationParts): string[] {
  const ids = deliberation.models.map(({ id }) => id);
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
