import { z } from 'zod';
import { MarketEvent } from '../../../streams/events/index.js';
import { defineOperation } from '../core/operation.js';
import { type EventsParts, getQueueStatistics } from './queue.js';
import { getEventReceipt } from './receipt.js';
import type { Received, TriedOut } from './reception.js';
import { signatureRefusals, timestampHeader } from './signed.js';

export type { EventsParts } from './queue.js';

const Receipt = z.object({
  status: z.enum(['accepted', 'already_processed', 'ignored', 'dry_run']),
  queued: z.boolean(),
  duplicate: z.literal(true).optional(),
  event_id: z.string().optional(),
  target_channels: z.array(z.string()).optional(),
  formatted_message: z.string().optional(),
  delivery_status: z.string().nullable().optional(),
  reason: z.string().optional(),
  would_be: z
    .enum(['accepted', 'already_processed', 'ignored'])
    .optional()
    .describe('In a dry run: what the answer would be'),
  withheld: z
    .object({ score: z.number(), patterns: z.string() })
    .optional()
    .describe('In a dry run: points and rules of the text that would be left out of the line'),
  opens: z
    .object({ name: z.string(), topic: z.string() })
    .optional()
    .describe('In a dry run: the room that would be opened'),
  closes: z.string().optional().describe('In a dry run: the room that would be closed'),
  warnings: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .optional()
    .describe(
      'What you may not have meant: a field of a wrong type, a type that is misspelt, a line without its room, an event_id that is known with another body',
    ),
});
/** Receives an event of the task marketplace; its route is in `http/webhook.ts`, which looks at the signature first. */
export const receiveEvent = defineOperation('receiveEvent', {
  tag: 'Webhooks',
  summary: 'Receive an event of the task marketplace',
  description:
    'Answered after the event is stored. An event_id is taken once, for ever: repeat what was not answered, with the same id. One that comes with another body changes nothing, and `warnings` says so. With `dry_run=true` the event is only tried out; the signature does not cover that.',
  access: 'signed event',
  input: MarketEvent.extend({
    dry_run: z
      .boolean()
      .default(false)
      .describe('Say what would become of the event: nothing is stored, counted or shown'),
  }),
  invalid: 'invalid_event',
  example: {
    event_id: 'evt-1',
    event_type: 'task.published',
    source: 'marketplace',
    payload: { id: 'a1b2c3d4-5678', title: 'Photograph a shop front', bounty_usdc: 5 },
  },
  answers: {
    202: {
      says: 'Stored, and on its way',
      body: {
        schema: Receipt,
        example: {
          status: 'accepted',
          queued: true,
          event_id: 'evt-1',
          target_channels: ['#bounties'],
          formatted_message: '[NEW] a1b2c3d4 | Photograph a shop front | $5 USDC (base) | /claim a1b2c3d4',
        },
      },
    },
    200: {
      says: 'Known already, ignored (an echo of our own, or of a type that is not shown here), or only tried out',
      body: {
        schema: Receipt,
        example: {
          status: 'already_processed',
          queued: false,
          duplicate: true,
          event_id: 'evt-1',
          delivery_status: 'delivered',
        },
      },
    },
  },
  refusals: {
    invalid_event:
      'The body is no event, its type is not shown here, or the id that its line needs is missing; details names each bad field',
    ...signatureRefusals,
    event_signature_invalid: true,
    source_not_yours: true,
    task_not_yours: true,
    event_id_taken: true,
    upstream_unreachable: 'The bridge is unreachable',
    log_unavailable: 'The event could not be stored: repeat it',
  },
  http: {
    method: 'post',
    path: '/hooks/em/events',
    query: ['dry_run'],
    status: ({ status }: Received | TriedOut) => (status === 'accepted' ? 202 : 200),
    describe: { headers: { 'X-EM-Timestamp': timestampHeader } },
  },
  remote: { service: 'bridge', method: 'post', path: '/api/em/event', query: ['dry_run'] },
  run: async ({ dry_run, ...event }, _caller, { events }: EventsParts): Promise<Received | TriedOut> =>
    dry_run ? await events.reception.tryOut(event) : await events.reception.receive(event),
});

/** Events of the task marketplace, and the state of their queue. */
export const eventOperations = [receiveEvent, getEventReceipt, getQueueStatistics];
