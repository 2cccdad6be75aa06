import { z } from 'zod';
import { Refusal, Unavailable } from '../../../streams/core/index.js';
import { defineOperation } from '../core/operation.js';
import { type MarketplaceParts, passedOn } from './passing-on.js';

/** Statuses of a task at the marketplace. */
export const taskStatuses = [
  'published',
  'accepted',
  'in_progress',
  'completed',
  'expired',
  'cancelled',
] as const;
export type TaskStatus = (typeof taskStatuses)[number];

/** A task as the marketplace lists it; `bounty_usd` in dollars. */
interface Task extends Record<string, unknown> {
  bounty_usd?: unknown;
  created_at?: unknown;
  status?: unknown;
}

/** Asks the marketplace for its tasks with a query, and answers its status and JSON body. */
export type ListTasks = (query: Record<string, string>) => Promise<{ status: number; body: unknown }>;

const source = 'task marketplace';

/**
 * What is going on at the marketplace: the tasks of one status, or those completed and those open for taking, with
 * the sums of their bounties in dollars. `after` (ISO 8601, with a zone or a date alone) leaves out tasks that were created before it. Throws
 * 503 `marketplace_not_configured`, or 502 when the marketplace does not list them.
 */
export async function economicActivity(
  list: ListTasks,
  { status, after }: { status?: TaskStatus | undefined; after?: string | undefined },
  now: Date,
): Promise<Record<string, unknown>> {
  const told = { source, queried_at: now.toISOString() };
  const of = (wanted: TaskStatus) => tasksOf(list, wanted, after);
  if (status) {
    const tasks = await of(status);
    return { status, count: tasks.length, total_usd: total(tasks), tasks, ...told };
  }
  const [completed, published] = await Promise.all([of('completed'), of('published')]);
  return {
    completed_tasks: completed.length,
    published_bounties: published.length,
    total_usd_completed: total(completed),
    total_usd_published: total(published),
    completed,
    published,
    ...told,
  };
}

async function tasksOf(list: ListTasks, status: TaskStatus, after: string | undefined): Promise<Task[]> {
  const answer = await list({ status, ...(after ? { after } : {}) });
  if (answer.status !== 200)
    throw new Unavailable('marketplace_failed', `The task marketplace answered HTTP ${answer.status}`);
  const { tasks = answer.body, hint } = (answer.body ?? {}) as { tasks?: unknown; hint?: string };
  if (hint !== undefined && Array.isArray(tasks) && tasks.length === 0) {
    throw new Refusal('marketplace_not_configured', 'The task marketplace is not configured', { hint });
  }
  if (!Array.isArray(tasks)) {
    throw new Unavailable(
      'marketplace_invalid',
      'The task marketplace did not answer with a list of tasks',
      1,
    );
  }
  // the marketplace may not know the parameters
  const wanted = tasks.filter((task: Task) => typeof task.status !== 'string' || task.status === status);
  return after ? wanted.filter((task) => !isBefore(task.created_at, after)) : wanted;
}

function isBefore(created: unknown, after: string): boolean {
  return typeof created === 'string' && Date.parse(created) < Date.parse(after);
}

/** Sum of the bounties in dollars, rounded to cents; what is no amount counts nothing. */
function total(tasks: Task[]): number {
  const cents = tasks.reduce((sum, { bounty_usd }) => {
    const amount = typeof bounty_usd === 'string' ? Number(bounty_usd) : bounty_usd;
    return sum + (typeof amount === 'number' && Number.isFinite(amount) ? amount * 100 : 0);
  }, 0);
  return Math.round(cents) / 100;
}

const Activity = z.looseObject({
  status: z.string().optional(),
  count: z.int().optional(),
  total_usd: z.number().optional(),
  tasks: z.array(z.unknown()).optional(),
  completed_tasks: z.int().optional(),
  published_bounties: z.int().optional(),
  total_usd_completed: z.number().optional(),
  total_usd_published: z.number().optional(),
  source: z.string(),
  queried_at: z.string().describe('ISO 8601'),
});

/** What is going on at the marketplace, for agents. */
export const getEconomicActivity = defineOperation('getEconomicActivity', {
  input: z.object({
    after: z
      .union(
        [z.iso.datetime({ offset: true }), z.iso.date()],
        'must be a date, or a time with its zone, like 2026-01-31T12:00:00Z',
      )
      .optional()
      .describe('ISO 8601, a time with its zone or a date: tasks created since then'),
    status: z.enum(taskStatuses).optional(),
  }),
  tool: {
    name: 'svc_economic_activity',
    title: 'Economic activity',
    description:
      'What is going on at the task marketplace: tasks of one status with the sum of their bounties in US dollars, or, without a status, the completed and the published ones.',
    output: Activity,
    openWorld: true,
    walletReadable: true,
  },
  run: async (asked, caller, { call }: MarketplaceParts) => {
    const list: ListTasks = async (query) => {
      const search = `?${new URLSearchParams(query)}`;
      const { status, body } = await call(passedOn.listTasks, { search, headers: {} }, caller);
      return { status, body: body.length === 0 ? null : JSON.parse(body.toString()) };
    };
    return await economicActivity(list, asked, new Date());
  },
});
