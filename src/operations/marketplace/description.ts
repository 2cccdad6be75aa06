import { z } from 'zod';
import type { Description, Exemplified } from '../../openapi/description.js';
import { type MarketplaceRoute, marketplaceRoutes } from './routes.js';

const anyJson = z.unknown();
const idSays = { id: 'Id of the task', disputeId: 'Id of the dispute', relayId: 'Id of the relay chain' };
const paramSays: Record<string, string> = { ...idSays, nick: 'IRC nick', legNum: 'Number of the leg' };
const paramExamples: Record<string, string> = { nick: 'alice', legNum: '1' };

const paging = {
  limit: z.coerce.number().int().optional().describe('How many at most'),
  offset: z.coerce.number().int().optional().describe('How many to leave out at the beginning'),
};
const categories = [
  'physical_presence',
  'knowledge_access',
  'human_authority',
  'simple_action',
  'digital_physical',
] as const;
const queries: Partial<Record<keyof typeof marketplaceRoutes, z.ZodObject>> = {
  listTasks: z.object({ status: z.string().optional(), category: z.enum(categories).optional(), ...paging }),
  availableTasks: z.object({ category: z.string().optional(), limit: paging.limit }),
  searchTasks: z.object({ q: z.string().optional(), cat: z.string().optional(), ...paging }),
  findAvailableWorkers: z.object({ near: z.string().optional(), cat: z.string().optional() }),
  getEarnings: z.object({ period: z.string().optional() }),
};

const task = {
  id: 'a1b2c3d4-5678',
  title: 'Photograph a shop front',
  status: 'published',
  bounty_usd: 5,
  category: 'physical_presence',
};
const told: Record<keyof typeof marketplaceRoutes, [summary: string, body?: object]> = {
  listTasks: ['List tasks'],
  availableTasks: ['Open bounties: only tasks that are published'],
  searchTasks: ['Search tasks by free text'],
  getTask: ['A task'],
  createTask: ['Create a task; locks its bounty in escrow', { title: task.title, bounty_usd: 5 }],
  applyTask: ['Apply for a task, or claim it', { executor_id: 'alice', message: 'I am around the corner' }],
  submitEvidence: ['Hand in evidence', { evidence: { photo: 'https://example.com/1.jpg' } }],
  approveTask: ['Approve evidence; releases the escrow to the worker', { rating: 5 }],
  rejectTask: ['Reject evidence', { reason: 'The photo shows another shop' }],
  cancelTask: ['Cancel a task', { reason: 'Not needed any more' }],
  mutualCancelTask: ['Propose a mutual cancel', { reason: 'Not needed any more' }],
  confirmCancelTask: ['Agree to a mutual cancel; the escrow goes back to the publisher', {}],
  bidTask: ['Offer another price', { amount: 7 }],
  openDispute: ['Open a dispute', { task_id: task.id, reason: 'Evidence was rejected without a reason' }],
  getDispute: ['A dispute'],
  resolveDispute: ['Decide a dispute, as its arbitrator', { verdict: 'release' }],
  declareAvailability: ['Declare availability', { location: 'Lisbon', duration: '4h', categories: [] }],
  findAvailableWorkers: ['Find available workers'],
  cancelAvailability: ['Take back availability'],
  sendTip: ['Send a tip in USDC', { to_nick: 'alice', amount: 1, chain: 'base', message: 'Thank you' }],
  getEscrow: ['Escrow of a task, on chain'],
  getEarnings: ['Earnings of a worker'],
  createRelayChain: [
    'Create a relay chain',
    { task_id: task.id, legs: [{ bounty_usdc: 2 }, { bounty_usdc: 3 }] },
  ],
  getRelayChain: ['A relay chain with its legs'],
  assignRelayLeg: ['Give a leg to a worker', { worker_nick: 'alice' }],
};
const tasks: Exemplified = { schema: anyJson, example: { tasks: [task], count: 1 } };

/** The routes that are passed on to the task marketplace. */
export const marketplaceOperations: Description[] = Object.entries(marketplaceRoutes).map(([name, route]) => {
  const id = name as keyof typeof marketplaceRoutes;
  const { method, path, list } = route as MarketplaceRoute;
  const [summary, example] = told[id];
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const changes = method !== 'GET';
  const query = queries[id];
  return {
    id,
    method: method.toLowerCase() as 'get' | 'post' | 'delete',
    path: `/em${path.replace(/:(\w+)/g, '{$1}')}`,
    tag: 'Task marketplace',
    summary,
    description: `Passed on to \`/api/v1${path}\` of the marketplace, query and body unchanged.${
      changes ? ' Never repeated by this service, and recorded whatever comes of it.' : ''
    }`,
    access: changes ? 'key' : 'open',
    passesOn: 'the marketplace',
    ...(names.length > 0
      ? {
          params: Object.fromEntries(
            names.map((name) => [
              name,
              { schema: z.string(), example: paramExamples[name] ?? task.id, says: paramSays[name] ?? name },
            ]),
          ),
        }
      : {}),
    ...(query ? { query } : {}),
    ...(changes
      ? {
          headers: {
            'Idempotency-Key': {
              schema: z.string(),
              example: '7b1c0d9e',
              says: 'Passed on, for a marketplace that knows repetitions by it',
            },
          },
        }
      : {}),
    ...(method === 'POST' || example
      ? { body: { schema: z.looseObject({}), example: example ?? {}, optional: true } }
      : {}),
    answers: {
      200: {
        says: list
          ? 'As the marketplace answers; an empty list with a hint where none is configured'
          : 'As the marketplace answers',
        body: list ? tasks : { schema: anyJson, example: { id: task.id } },
      },
    },
    errors: {
      400: 'A parameter is no id',
      502: 'The marketplace is unreachable, too slow, or does not answer with JSON',
      503: 'No marketplace is configured, or a part of the service is away for now',
    },
  };
});
