import { z } from 'zod';
import { MarketEvent } from '../../../streams/events/index.js';
import { type Description, Time } from '../../openapi/description.js';

const Received = z.object({
  status: z.enum(['accepted', 'already_processed', 'ignored']),
  queued: z.boolean(),
  duplicate: z.literal(true).optional(),
  event_id: z.string().optional(),
  target_channels: z.array(z.string()).optional(),
  formatted_message: z.string().optional(),
  delivery_status: z.string().nullable().optional(),
  reason: z.string().optional(),
});

/** Where the marketplace posts its events. */
export const webhookOperations: Description[] = [
  {
    id: 'receiveEvent',
    method: 'post',
    path: '/hooks/em/events',
    tag: 'Webhooks',
    access: 'signed event',
    summary: 'Receive an event of the task marketplace',
    description:
      'Answered after the event is stored. An event_id is taken once, for ever: repeat what was not answered, with the same id.',
    headers: {
      'X-EM-Timestamp': {
        schema: z.string(),
        example: '2026-01-31T12:00:00Z',
        says: 'When it was sent, ISO 8601; at most five minutes from our clock',
        required: true,
      },
    },
    body: {
      schema: MarketEvent,
      example: {
        event_id: 'evt-1',
        event_type: 'task.published',
        source: 'marketplace',
        payload: { id: 'a1b2c3d4-5678', title: 'Photograph a shop front', bounty_usdc: 5 },
      },
    },
    answers: {
      202: {
        says: 'Stored, and on its way',
        body: {
          schema: Received,
          example: {
            status: 'accepted',
            queued: true,
            event_id: 'evt-1',
            target_channels: ['#bounties'],
            formatted_message:
              '[NEW] a1b2c3d4 | Photograph a shop front | $5 USDC (base) | - | /claim a1b2c3d4',
          },
        },
      },
      200: {
        says: 'Known already, or an echo of our own',
        body: {
          schema: Received,
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
    errors: {
      400: 'The body is no event; details names each bad field',
      401: 'Signature or timestamp are missing, wrong or too old',
      502: 'The bridge is unreachable',
      503: 'The event could not be stored, or no secret is configured: repeat it',
    },
  },
  {
    id: 'getQueueStatistics',
    method: 'get',
    path: '/hooks/em/stats',
    tag: 'Webhooks',
    summary: 'How the queue of events stands',
    answers: {
      200: {
        says: 'Numbers of events',
        body: {
          schema: z.object({
            pending: z.int(),
            delivered_today: z.int().describe('Since 00:00 UTC'),
            dead_letter: z.int(),
            last_event_received: Time.nullable(),
            webhook_secret_configured: z.boolean(),
          }),
          example: {
            pending: 0,
            delivered_today: 12,
            dead_letter: 0,
            last_event_received: '2026-01-31T12:00:00.000Z',
            webhook_secret_configured: true,
          },
        },
      },
    },
    errors: { 502: 'The bridge is unreachable' },
  },
];
