import { z } from 'zod';
import { type Gateway, path } from '../../mcp/gateway.js';
import { defineTool, resultOf, type Tool } from '../../mcp/tool.js';
import { queryId } from '../core/parameters.js';
import { ModelResponse, Query, Result, Unfinished } from './description.js';
import { CreateBody } from './service.js';

const ofQuery = z.object({ query_id: queryId });

/** Several language models asked at once, and what they agree on. */
export function deliberationTools(gateway: Gateway): Tool[] {
  return [
    defineTool({
      name: 'multibrain_list_models',
      title: 'List models',
      description: 'The language models that can be asked, with provider, capabilities and prices.',
      openWorld: true,
      walletReadable: true,
      run: async (_args, caller) => resultOf(await gateway(caller, { path: '/multibrain/models' })),
    }),
    defineTool({
      name: 'multibrain_submit_query',
      title: 'Ask several models',
      description:
        'Puts a question to several models and has their answers brought together. Spends the operator’s credit with the providers and cannot be taken back. Answers at once with the query’s id: ask multibrain_get_result until it is done.',
      input: CreateBody.extend({
        models: CreateBody.shape.models.describe('Model ids of multibrain_list_models; all when left out'),
        strategy: CreateBody.shape.strategy.describe(
          'consensus: one round; debate: three, each sees the others; roundtable: in turn, two rounds',
        ),
        maxTokens: CreateBody.shape.maxTokens.describe('Per answer of a model'),
        visibility: CreateBody.shape.visibility.describe(
          'public: in lists; unlisted: for those who know the id; private: for the key that asks',
        ),
      }),
      // a schema with a name would be a reference here, and clients want an object
      output: z.looseObject(Query.shape),
      effect: 'spend',
      openWorld: true,
      run: async (body, caller) =>
        resultOf(await gateway(caller, { method: 'POST', path: '/multibrain/query', body })),
    }),
    defineTool({
      name: 'multibrain_query_status',
      title: 'Status of a query',
      description: 'How far a query is: queued, running, synthesizing, completed or failed, with its timing.',
      input: ofQuery,
      output: z.looseObject(Query.shape),
      openWorld: true,
      run: async ({ query_id }, caller) =>
        resultOf(await gateway(caller, { path: path`/multibrain/query/${query_id}` })),
    }),
    defineTool({
      name: 'multibrain_get_result',
      title: 'Result of a query',
      description:
        'What the models agree on, how much they agree (0 to 1) and what some see differently. While it is not done the answer has its status only: ask again.',
      input: ofQuery,
      output: Result.partial().extend(Unfinished.shape),
      openWorld: true,
      run: async ({ query_id }, caller) =>
        resultOf(await gateway(caller, { path: path`/multibrain/query/${query_id}/result` })),
    }),
    defineTool({
      name: 'multibrain_get_responses',
      title: 'Answers of the single models',
      description: 'What each model answered in each round, with time, tokens and cost.',
      input: ofQuery,
      output: z.object({ items: z.array(ModelResponse) }),
      openWorld: true,
      run: async ({ query_id }, caller) =>
        resultOf(await gateway(caller, { path: path`/multibrain/query/${query_id}/responses` })),
    }),
    defineTool({
      name: 'multibrain_hot_queries',
      title: 'Latest public queries',
      description: 'The latest queries that are public, to learn from what others asked.',
      input: z.object({ limit: z.int().min(1).max(100).default(20).describe('How many queries at most') }),
      output: z.object({ queries: z.array(Query) }),
      openWorld: true,
      run: async (query, caller) => resultOf(await gateway(caller, { path: '/multibrain/queries', query })),
    }),
  ];
}
