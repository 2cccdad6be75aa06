import { z } from 'zod';
import { isExpected, Refusal, Unavailable } from '../../../streams/core/index.js';
import { defineOperation } from '../core/operation.js';
import { type MarketplaceParts, passedOn } from './passing-on.js';

/** Statuses of a task at the marketplace. */
const taskStatuses = ['published', 'accepted', 'in_progress', 'completed', 'expired', 'cancelled'] as const;
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
/** Tasks of a page, pages of a list, and milliseconds after which no further page is asked for. */
const bounds = { page: 100, pages: 20, ms: 10_000 };
const notAll = 'Not all tasks are counted: the marketplace has more than could be read';

/**
 * What is going on at the marketplace: the tasks of one status, or those completed and those open for taking, with
 * the sums of their bounties in dollars. `after` (ISO 8601, with a zone or a date alone) leaves out tasks that were created before it.
 * All pages are read, at most 2,000 tasks of a status; `complete` is `false` where that was not all. Throws
 * 503 `marketplace_not_configured`, or 502 when the marketplace does not list them.
 */
export async function economicActivity(
  list: ListTasks,
  { status, after }: { status?: TaskStatus | undefined; after?: string | undefined },
  now: Date,
): Promise<Record<string, unknown>> {
  const of = (wanted: TaskStatus) => tasksOf(list, wanted, after);
  const told = (...lists: Listed[]) => {
    const complete = lists.every((one) => one.complete);
    return { ...(complete ? {} : { complete, hint: notAll }), source, queried_at: now.toISOString() };
  };
  if (status) {
    const listed = await of(status);
    const { tasks } = listed;
    return { status, count: tasks.length, total_usd: total(tasks), tasks, ...told(listed) };
  }
  const both = await Promise.all([of('completed'), of('published')]);
  const [completed, published] = both.map(({ tasks }) => tasks) as [Task[], Task[]];
  return {
    completed_tasks: completed.length,
    published_bounties: published.length,
    total_usd_completed: total(completed),
    total_usd_published: total(published),
    completed,
    published,
    ...told(...both),
  };
}

/** Tasks of all pages that were read, and whether there were no others. */
interface Listed {
  tasks: Task[];
  complete: boolean;
}

async function tasksOf(list: ListTasks, status: TaskStatus, after: string | undefined): Promise<Listed> {
  const tasks: Task[] = [];
  const known = new Set<string>();
  const endsAt = performance.now() + bounds.ms;
  let complete = false;
  let offset = 0;
  for (let page = 0; page < bounds.pages && !complete && performance.now() < endsAt; page++) {
    const asked = { status, ...(after ? { after } : {}), limit: `${bounds.page}`, offset: `${offset}` };
    const found = await pageOf(list, asked).catch((error: unknown) => {
      // what was read before is worth telling
      if (page > 0 && isExpected(error)) return undefined;
      throw error;
    });
    if (!found) break;
    // a marketplace that does not know of offsets answers with the same tasks again
    const added = found.tasks.filter((task) => !known.has(keyOf(task)));
    for (const task of added) known.add(keyOf(task));
    tasks.push(...added);
    offset += found.tasks.length;
    complete = added.length === 0 || found.isLast(offset);
  }
  // the marketplace may not know the parameters
  const wanted = tasks.filter((task) => typeof task.status !== 'string' || task.status === status);
  return { tasks: after ? wanted.filter((task) => !isBefore(task.created_at, after)) : wanted, complete };
}

/** One page, and whether nothing follows it, as far as the marketplace tells: it may give less than was asked for. */
async function pageOf(list: ListTasks, asked: Record<string, string>) {
  const answer = await list(asked);
  if (answer.status !== 200)
    throw new Unavailable('marketplace_failed', `The task marketplace answered HTTP ${answer.status}`);
  const body = (answer.body ?? {}) as { tasks?: unknown; hint?: string; total?: unknown; has_more?: unknown };
  const { tasks = answer.body, hint, total, has_more } = body;
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
  const isLast = (read: number) =>
    has_more === false || (tasks.length < bounds.page && typeof total === 'number' && read >= total);
  return { tasks: tasks as Task[], isLast };
}

/** What tells a task from others: its id, or all of it where it has none. */
function keyOf(task: Task): string {
  const { id } = (task ?? {}) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? String(id) : JSON.stringify(task);
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
  complete: z.literal(false).optional().describe('There are more tasks than were counted'),
  hint: z.string().optional(),
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
      'Activity of the marketplace: tasks of a status with the sum of their bounties in US dollars; without one, of completed and published tasks. `complete` says whether all were counted.',
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
