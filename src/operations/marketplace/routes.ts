import { z } from 'zod';
import { AnyNick } from '../core/fields.js';

/** A route of the marketplace that is passed on, and its tool. */
export interface MarketplaceRoute {
  method: 'GET' | 'POST' | 'DELETE';
  /** Under `/em` here and under `/api/v1` there; `{name}` is a parameter. */
  path: string;
  summary: string;
  /** A list that answers empty, with a hint, if no marketplace is configured. */
  list?: true;
  /** What the marketplace is known to accept in the query of a read. */
  query?: Record<string, z.ZodType>;
  /** A body for readers of the description. */
  example?: Record<string, unknown>;
  /** What agents are told of its tool. */
  title: string;
  description: string;
  /** What the marketplace is known to accept in the body of a change. */
  fields?: Record<string, z.ZodType>;
  spends?: true;
  idempotent?: true;
  walletReadable?: true;
}

const category = z
  .enum(['physical_presence', 'knowledge_access', 'human_authority', 'simple_action', 'digital_physical'])
  .optional()
  .describe('Tasks of this category only');
const cat = z.string().optional().describe('Tasks of this category only');
const reason = z.string().min(1).max(2_000);
const page = {
  limit: z.int().min(1).optional().describe('How many at most'),
  offset: z.int().min(0).optional().describe('How many to skip'),
};

/** A task for readers of the description. */
export const exampleTask = {
  id: 'a1b2c3d4-5678',
  title: 'Photograph a shop front',
  status: 'published',
  bounty_usd: 5,
  category: 'physical_presence',
};

/** Every route of the marketplace that is passed on. Those other than GET change something there. */
export const marketplaceRoutes = {
  listTasks: {
    method: 'GET',
    path: '/tasks',
    list: true,
    summary: 'List tasks',
    query: { status: z.string().optional().describe('Tasks of this status only'), category, ...page },
    title: 'List tasks',
    description: 'Tasks of the marketplace, by status and category, page by page.',
    walletReadable: true,
  },
  availableTasks: {
    method: 'GET',
    path: '/tasks/available',
    list: true,
    summary: 'Open bounties: only tasks that are published',
    query: { category: cat, limit: page.limit },
    title: 'Tasks to take now',
    description: 'Open bounties: only tasks that are published and can be applied for now.',
    walletReadable: true,
  },
  searchTasks: {
    method: 'GET',
    path: '/tasks/search',
    list: true,
    summary: 'Search tasks by free text',
    query: { q: z.string().describe('What to search for'), cat, ...page },
    title: 'Search tasks',
    description: 'Tasks whose text matches a search.',
    walletReadable: true,
  },
  getTask: {
    method: 'GET',
    path: '/tasks/{id}',
    summary: 'A task',
    title: 'A task',
    description: 'Everything the marketplace tells about one task.',
    walletReadable: true,
  },
  createTask: {
    method: 'POST',
    path: '/tasks',
    summary: 'Create a task; locks its bounty in escrow',
    example: { title: exampleTask.title, bounty_usd: 5 },
    title: 'Create a task',
    description:
      'Publishes a task and locks its bounty in escrow, in USDC: it spends value and cannot be undone.',
    fields: {
      title: z.string().min(1).max(255),
      instructions: z.string().max(5_000).optional().describe('What to do, and how to prove it'),
      category,
      bounty_usd: z.number().positive().describe('Bounty in US dollars'),
      deadline_hours: z.number().positive().optional(),
      location_hint: z.string().optional(),
    },
    spends: true,
  },
  applyTask: {
    method: 'POST',
    path: '/tasks/{id}/apply',
    summary: 'Apply for a task, or claim it',
    example: { executor_id: 'alice', message: 'I am around the corner' },
    title: 'Apply for a task',
    description: 'Applies for a task, or claims it.',
    fields: {
      executor_id: z.string().optional().describe('Who applies, as the marketplace knows them'),
      message: z.string().max(2_000).optional(),
    },
  },
  submitEvidence: {
    method: 'POST',
    path: '/tasks/{id}/submit',
    summary: 'Hand in evidence',
    example: { evidence: { photo: 'https://example.com/1.jpg' } },
    title: 'Submit evidence',
    description: 'Hands in the evidence that a task is done, for its publisher to approve.',
    fields: {
      evidence: z.record(z.string(), z.unknown()).describe('What the task asks for'),
      notes: z.string().max(2_000).optional(),
    },
  },
  approveTask: {
    method: 'POST',
    path: '/tasks/{id}/approve',
    summary: 'Approve evidence; releases the escrow to the worker',
    example: { rating: 5 },
    title: 'Approve a task',
    description:
      'Approves the evidence: releases the escrow and pays the worker in USDC. Irreversible; look at the evidence first.',
    fields: { notes: z.string().max(2_000).optional(), rating: z.int().min(1).max(5).optional() },
    spends: true,
  },
  rejectTask: {
    method: 'POST',
    path: '/tasks/{id}/reject',
    summary: 'Reject evidence',
    example: { reason: 'The photo shows another shop' },
    title: 'Reject evidence',
    description: 'Rejects the evidence with a reason; the worker may hand in again or open a dispute.',
    fields: { reason },
  },
  cancelTask: {
    method: 'POST',
    path: '/tasks/{id}/cancel',
    summary: 'Cancel a task',
    example: { reason: 'Not needed any more' },
    title: 'Cancel a task',
    description:
      'Cancels a task: at once before it is assigned; afterwards it asks the worker to agree (mutual cancel).',
    fields: { reason: reason.optional() },
  },
  mutualCancelTask: {
    method: 'POST',
    path: '/tasks/{id}/mutual-cancel',
    summary: 'Propose a mutual cancel',
    example: { reason: 'Not needed any more' },
    title: 'Propose a mutual cancel',
    description: 'Asks the other party to agree to the end of an assigned task.',
    fields: { reason: reason.optional() },
  },
  confirmCancelTask: {
    method: 'POST',
    path: '/tasks/{id}/confirm-cancel',
    summary: 'Agree to a mutual cancel; the escrow goes back to the publisher',
    title: 'Agree to a mutual cancel',
    description: 'Agrees to a proposed mutual cancel: the escrow goes back to the publisher. Irreversible.',
    spends: true,
  },
  bidTask: {
    method: 'POST',
    path: '/tasks/{id}/bid',
    summary: 'Offer another price',
    example: { amount: 7 },
    title: 'Bid on a task',
    description: 'Offers to do a task for another price.',
    fields: { amount: z.number().positive().describe('US dollars') },
  },
  openDispute: {
    method: 'POST',
    path: '/disputes',
    summary: 'Open a dispute',
    example: { task_id: exampleTask.id, reason: 'Evidence was rejected without a reason' },
    title: 'Open a dispute',
    description: 'Opens a dispute about a task for an arbitrator to decide.',
    fields: { task_id: z.string().min(1).max(128).describe('Id of the task'), reason },
  },
  getDispute: {
    method: 'GET',
    path: '/disputes/{disputeId}',
    summary: 'A dispute',
    title: 'A dispute',
    description: 'The state of a dispute.',
  },
  resolveDispute: {
    method: 'POST',
    path: '/disputes/{disputeId}/resolve',
    summary: 'Decide a dispute, as its arbitrator',
    example: { verdict: 'release' },
    title: 'Decide a dispute',
    description: 'For the arbitrator only: the ruling decides who gets the escrow. Irreversible.',
    fields: {
      verdict: z.string().optional().describe('release, refund or split'),
      reason: reason.optional(),
    },
    spends: true,
  },
  declareAvailability: {
    method: 'POST',
    path: '/workers/available',
    summary: 'Declare availability',
    example: { location: 'Lisbon', duration: '4h', categories: [] },
    title: 'Declare availability',
    description: 'Says that a worker is ready for tasks at a place, for a time and in some categories.',
    fields: {
      location: z.string().max(200).optional(),
      duration: z.union([z.string(), z.number()]).optional().describe('How long'),
      categories: z.array(z.string()).optional(),
    },
    idempotent: true,
  },
  findAvailableWorkers: {
    method: 'GET',
    path: '/workers/available',
    summary: 'Find available workers',
    query: { near: z.string().optional().describe('Place'), cat, ...page },
    title: 'Find workers',
    description: 'Workers who have declared that they are available, near a place or in a category.',
  },
  cancelAvailability: {
    method: 'DELETE',
    path: '/workers/available',
    summary: 'Take back availability',
    title: 'Take back availability',
    description: 'Says that a worker is not ready for tasks any more.',
    idempotent: true,
  },
  sendTip: {
    method: 'POST',
    path: '/tips',
    summary: 'Send a tip in USDC',
    example: { to_nick: 'alice', amount: 1, chain: 'base', message: 'Thank you' },
    title: 'Send a tip',
    description: 'Pays somebody a tip in USDC, directly. Irreversible.',
    fields: {
      to_nick: AnyNick,
      amount: z.number().positive().describe('USDC'),
      chain: z.string().max(50).optional().describe('Network, base when left out'),
      message: z.string().max(500).optional(),
    },
    spends: true,
  },
  getEscrow: {
    method: 'GET',
    path: '/escrow/{id}',
    summary: 'Escrow of a task, on chain',
    title: 'Escrow of a task',
    description: 'What is locked in escrow for a task, on chain.',
  },
  getEarnings: {
    method: 'GET',
    path: '/earnings/{nick}',
    summary: 'Earnings of a worker',
    query: { period: z.string().optional().describe('e.g. 7d or month') },
    title: 'Earnings of a worker',
    description: 'What a nick has earned, in all or in a period.',
  },
  createRelayChain: {
    method: 'POST',
    path: '/relay-chains',
    summary: 'Create a relay chain',
    example: { task_id: exampleTask.id, legs: [{ bounty_usdc: 2 }, { bounty_usdc: 3 }] },
    title: 'Create a relay chain',
    description: 'Splits a delivery into legs that different workers carry out one after the other.',
    fields: {
      task_id: z.string().min(1).max(128).optional().describe('Id of the task'),
      legs: z.array(z.looseObject({})).min(1).describe('Legs in their order, with places and bounties'),
    },
  },
  getRelayChain: {
    method: 'GET',
    path: '/relay-chains/{relayId}',
    summary: 'A relay chain with its legs',
    title: 'A relay chain',
    description: 'A relay chain with its legs and how far they are.',
  },
  assignRelayLeg: {
    method: 'POST',
    path: '/relay-chains/{relayId}/legs/{legNum}/assign',
    summary: 'Give a leg to a worker',
    example: { worker_nick: 'alice' },
    title: 'Assign a leg',
    description: 'Gives one leg of a relay chain to a worker.',
    fields: { worker_wallet: z.string().optional(), worker_nick: AnyNick.optional() },
  },
} as const satisfies Record<string, MarketplaceRoute>;
