import { z } from 'zod';
import { type Gateway, type GatewayRequest, path } from '../../mcp/gateway.js';
import { type Caller, defineTool, resultOf, type Tool } from '../../mcp/tool.js';
import { nick } from '../core/parameters.js';
import { economicActivity, taskStatuses } from './economic-activity.js';

const taskId = z.string().min(1).max(128).describe('Id of the task');
const disputeId = z.string().min(1).max(128).describe('Id of the dispute');
const relayId = z.string().min(1).max(128).describe('Id of the relay chain');
const category = z
  .enum(['physical_presence', 'knowledge_access', 'human_authority', 'simple_action', 'digital_physical'])
  .optional();
const reason = z.string().min(1).max(2_000);
const page = {
  limit: z.int().min(1).optional().describe('How many at most'),
  offset: z.int().min(0).optional().describe('How many to leave out at the beginning'),
};
/** The marketplace may know more fields than we do: they are passed on. */
const Task = z.looseObject({ task_id: taskId });
const passedOn = ' Further fields that the marketplace knows are passed on as they are.';

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

/** The task marketplace, through this service's own routes: so each change is on record. */
export function marketplaceTools(gateway: Gateway): Tool[] {
  const ask = async (caller: Caller, request: GatewayRequest) => resultOf(await gateway(caller, request));
  const read = <Input extends z.ZodObject>(
    definition: Pick<Tool, 'name' | 'title' | 'description'> & { input: Input; walletReadable?: boolean },
    request: (args: z.output<Input>) => GatewayRequest,
  ) => defineTool({ ...definition, openWorld: true, run: (args, caller) => ask(caller, request(args)) });
  const change = <Input extends z.ZodObject>(
    definition: Pick<Tool, 'name' | 'title' | 'description'> & { input: Input; idempotent?: boolean },
    request: (args: z.output<Input>) => GatewayRequest,
    effect: 'change' | 'spend' = 'change',
  ) =>
    defineTool({
      ...definition,
      description: definition.description + passedOn,
      effect,
      openWorld: true,
      run: (args, caller) => ask(caller, { method: 'POST', ...request(args) }),
    });
  /** Something that is done to one task. */
  const act = <Input extends z.ZodObject<{ task_id: typeof taskId }>>(
    definition: Pick<Tool, 'name' | 'title' | 'description'> & { input: Input },
    action: string,
    effect?: 'change' | 'spend',
  ) =>
    change(
      definition,
      ({ task_id, ...body }) => ({ path: path`/em/tasks/${task_id as string}/${action}`, body }),
      effect,
    );

  return [
    defineTool({
      name: 'svc_economic_activity',
      title: 'Economic activity',
      description:
        'What is going on at the task marketplace: tasks of one status with the sum of their bounties in US dollars, or, without a status, the completed and the published ones.',
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
      output: Activity,
      openWorld: true,
      walletReadable: true,
      run: async (args, caller) =>
        await economicActivity((query) => gateway(caller, { path: '/em/tasks', query }), args, new Date()),
    }),
    read(
      {
        name: 'svc_em_list_tasks',
        title: 'List tasks',
        description: 'Tasks of the marketplace, by status and category, page by page.',
        input: z.object({ status: z.string().max(50).optional(), category, ...page }),
        walletReadable: true,
      },
      (query) => ({ path: '/em/tasks', query }),
    ),
    read(
      {
        name: 'svc_em_available_tasks',
        title: 'Tasks to take now',
        description: 'Open bounties: only tasks that are published and can be applied for now.',
        input: z.object({ category: z.string().max(50).optional(), limit: page.limit }),
        walletReadable: true,
      },
      (query) => ({ path: '/em/tasks/available', query }),
    ),
    read(
      {
        name: 'svc_em_search_tasks',
        title: 'Search tasks',
        description: 'Tasks whose text matches a search.',
        input: z.object({
          q: z.string().min(1).max(200).describe('What to search for'),
          cat: z.string().max(50).optional().describe('Category'),
          ...page,
        }),
        walletReadable: true,
      },
      (query) => ({ path: '/em/tasks/search', query }),
    ),
    read(
      {
        name: 'svc_em_get_task',
        title: 'A task',
        description: 'Everything the marketplace tells about one task.',
        input: z.object({ task_id: taskId }),
        walletReadable: true,
      },
      ({ task_id }) => ({ path: path`/em/tasks/${task_id}` }),
    ),
    change(
      {
        name: 'svc_em_create_task',
        title: 'Create a task',
        description:
          'Publishes a task with a bounty in USDC. Locks the bounty in escrow: it spends value and cannot simply be taken back.',
        input: z.looseObject({
          title: z.string().min(1).max(255),
          instructions: z.string().max(5_000).optional().describe('What is to be done, and how it is proven'),
          category,
          bounty_usd: z.number().positive().describe('Bounty in US dollars'),
          deadline_hours: z.number().positive().optional(),
          location_hint: z.string().optional(),
        }),
      },
      (body) => ({ path: '/em/tasks', body }),
      'spend',
    ),
    act(
      {
        name: 'svc_em_apply_task',
        title: 'Apply for a task',
        description: 'Applies for a task, or claims it.',
        input: Task.extend({
          executor_id: z.string().optional().describe('Who applies, as the marketplace knows him'),
          message: z.string().max(2_000).optional(),
        }),
      },
      'apply',
    ),
    act(
      {
        name: 'svc_em_bid_task',
        title: 'Bid on a task',
        description: 'Offers to do a task for another price.',
        input: Task.extend({ amount: z.number().positive().describe('US dollars') }),
      },
      'bid',
    ),
    act(
      {
        name: 'svc_em_submit_evidence',
        title: 'Submit evidence',
        description: 'Hands in the evidence that a task is done, for its publisher to approve.',
        input: Task.extend({
          evidence: z.record(z.string(), z.unknown()).describe('What the task asks for'),
          notes: z.string().max(2_000).optional(),
        }),
      },
      'submit',
    ),
    act(
      {
        name: 'svc_em_approve_task',
        title: 'Approve a task',
        description:
          'Approves the evidence: releases the escrow and pays the worker in USDC. Irreversible; look at the evidence first.',
        input: Task.extend({
          notes: z.string().max(2_000).optional(),
          rating: z.int().min(1).max(5).optional(),
        }),
      },
      'approve',
      'spend',
    ),
    act(
      {
        name: 'svc_em_reject_task',
        title: 'Reject evidence',
        description: 'Rejects the evidence with a reason; the worker may hand in again or open a dispute.',
        input: Task.extend({ reason }),
      },
      'reject',
    ),
    act(
      {
        name: 'svc_em_cancel_task',
        title: 'Cancel a task',
        description:
          'Cancels a task: at once before it is assigned; afterwards it asks the worker to agree (mutual cancel).',
        input: Task.extend({ reason: reason.optional() }),
      },
      'cancel',
    ),
    act(
      {
        name: 'svc_em_mutual_cancel_task',
        title: 'Propose a mutual cancel',
        description: 'Asks the other party to agree to the end of an assigned task.',
        input: Task.extend({ reason: reason.optional() }),
      },
      'mutual-cancel',
    ),
    act(
      {
        name: 'svc_em_confirm_cancel_task',
        title: 'Agree to a mutual cancel',
        description:
          'Agrees to a proposed mutual cancel: the escrow goes back to the publisher. Irreversible.',
        input: Task,
      },
      'confirm-cancel',
      'spend',
    ),
    change(
      {
        name: 'svc_em_open_dispute',
        title: 'Open a dispute',
        description: 'Opens a dispute about a task for an arbitrator to decide.',
        input: z.looseObject({ task_id: taskId, reason }),
      },
      (body) => ({ path: '/em/disputes', body }),
    ),
    read(
      {
        name: 'svc_em_get_dispute',
        title: 'A dispute',
        description: 'How a dispute stands.',
        input: z.object({ dispute_id: disputeId }),
      },
      ({ dispute_id }) => ({ path: path`/em/disputes/${dispute_id}` }),
    ),
    change(
      {
        name: 'svc_em_resolve_dispute',
        title: 'Decide a dispute',
        description: 'For the arbitrator only: the ruling decides who gets the escrow. Irreversible.',
        input: z.looseObject({
          dispute_id: disputeId,
          verdict: z.string().optional().describe('release, refund or split'),
          reason: reason.optional(),
        }),
      },
      ({ dispute_id, ...body }) => ({ path: path`/em/disputes/${dispute_id}/resolve`, body }),
      'spend',
    ),
    change(
      {
        name: 'svc_em_declare_availability',
        title: 'Declare availability',
        description: 'Says that a worker is ready for tasks at a place, for a time and in some categories.',
        input: z.looseObject({
          location: z.string().max(200).optional(),
          duration: z.union([z.string(), z.number()]).optional().describe('How long'),
          categories: z.array(z.string()).optional(),
        }),
        idempotent: true,
      },
      (body) => ({ path: '/em/workers/available', body }),
    ),
    read(
      {
        name: 'svc_em_find_available_workers',
        title: 'Find workers',
        description: 'Workers who have declared that they are available, near a place or in a category.',
        input: z.object({
          near: z.string().max(200).optional().describe('Place'),
          cat: z.string().max(50).optional().describe('Category'),
          ...page,
        }),
      },
      (query) => ({ path: '/em/workers/available', query }),
    ),
    change(
      {
        name: 'svc_em_cancel_availability',
        title: 'Take back availability',
        description: 'Says that a worker is not ready for tasks any more.',
        input: z.looseObject({}),
        idempotent: true,
      },
      (body) => ({
        method: 'DELETE',
        path: '/em/workers/available',
        ...(Object.keys(body).length > 0 ? { body } : {}),
      }),
    ),
    change(
      {
        name: 'svc_em_send_tip',
        title: 'Send a tip',
        description: 'Pays somebody a tip in USDC, directly. Irreversible.',
        input: z.looseObject({
          to_nick: nick,
          amount: z.number().positive().describe('USDC'),
          chain: z.string().max(50).optional().describe('Network, base when left out'),
          message: z.string().max(500).optional(),
        }),
      },
      (body) => ({ path: '/em/tips', body }),
      'spend',
    ),
    read(
      {
        name: 'svc_em_get_escrow',
        title: 'Escrow of a task',
        description: 'What is locked in escrow for a task, on chain.',
        input: z.object({ task_id: taskId }),
      },
      ({ task_id }) => ({ path: path`/em/escrow/${task_id}` }),
    ),
    read(
      {
        name: 'svc_em_get_earnings',
        title: 'Earnings of a worker',
        description: 'What a nick has earned, in all or in a period.',
        input: z.object({ nick, period: z.string().max(50).optional().describe('e.g. 7d or month') }),
      },
      ({ nick, ...query }) => ({ path: path`/em/earnings/${nick}`, query }),
    ),
    change(
      {
        name: 'svc_em_create_relay_chain',
        title: 'Create a relay chain',
        description: 'Splits a delivery into legs that different workers carry out one after the other.',
        input: z.looseObject({
          task_id: taskId.optional(),
          legs: z.array(z.looseObject({})).min(1).describe('Legs in their order, with places and bounties'),
        }),
      },
      (body) => ({ path: '/em/relay-chains', body }),
    ),
    read(
      {
        name: 'svc_em_get_relay_chain',
        title: 'A relay chain',
        description: 'A relay chain with its legs and how far they are.',
        input: z.object({ relay_id: relayId }),
      },
      ({ relay_id }) => ({ path: path`/em/relay-chains/${relay_id}` }),
    ),
    change(
      {
        name: 'svc_em_assign_relay_leg',
        title: 'Assign a leg',
        description: 'Gives one leg of a relay chain to a worker.',
        input: z.looseObject({
          relay_id: relayId,
          leg_number: z.int().min(1),
          worker_wallet: z.string().optional(),
          worker_nick: nick.optional(),
        }),
      },
      ({ relay_id, leg_number, ...body }) => ({
        path: path`/em/relay-chains/${relay_id as string}/legs/${leg_number as number}/assign`,
        body,
      }),
    ),
  ];
}
