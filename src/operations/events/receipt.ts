import { z } from 'zod';
import { eventReceipt } from '../../../projections/delivery/queries.js';
import { Refusal } from '../../../streams/core/index.js';
import { EventStatus, lineStates, Time, text } from '../core/fields.js';
import { defineOperation } from '../core/operation.js';
import type { EventsParts } from './queue.js';
import { signatureRefusals, timestampHeader } from './signed.js';

const Receipt = z
  .object({
    event_id: text('evt-1'),
    event_type: text('task.published'),
    status: EventStatus.meta({ example: 'delivered' }).describe('`pending` is queued, and on its way'),
    formatted_message: text('[NEW] a1b2c3d4 | Photograph a shop front | /claim a1b2c3d4'),
    received_at: Time,
    ended_at: Time.nullable().describe('When it was delivered, given up or expired'),
    retry_count: z.int().meta({ example: 0 }),
    last_error: text('404 Cannot send to channel').nullable().describe('What the network said last'),
    channels: lineStates,
  })
  .meta({ id: 'EventReceipt' });

/** What a producer is as a caller, by its name; without one where its secret has none. */
export const producerActor = (name = '') => `producer:${name}`;

/** What became of an event, for the producer that posted it; its route is in `http/webhook.ts`. */
export const getEventReceipt = defineOperation('getEventReceipt', {
  tag: 'Webhooks',
  summary: 'What became of an event, channel by channel',
  description:
    'For the producer that posted it. There is no body: signed is `<X-EM-Timestamp>.<event_id>`, with the secret that signs events.',
  access: 'signed event',
  input: z.object({
    event_id: z.string().min(1).meta({ description: 'event_id as it was posted', example: 'evt-1' }),
  }),
  says: 'What became of it',
  output: Receipt,
  refusals: {
    receipt_not_found: true,
    ...signatureRefusals,
    receipt_signature_invalid: true,
  },
  http: {
    method: 'get',
    path: '/hooks/em/events/{event_id}',
    describe: { headers: { 'X-EM-Timestamp': timestampHeader } },
  },
  remote: { service: 'bridge', method: 'get', path: '/api/em/events/{event_id}' },
  run: async ({ event_id }, { actor }, { events: { rows, owners } }: EventsParts) => {
    const found = await rows.read(eventReceipt, event_id);
    const isTheirs = !owners || actor === producerActor(owners.producerOf(found?.source ?? ''));
    if (!found || !isTheirs)
      throw new Refusal('receipt_not_found', `No event with id ${event_id} was received`);
    const { source: _, ...receipt } = found;
    return receipt;
  },
});
