import { z } from 'zod';
import { deadLetters, eventReceipt, queueRow as storedRow } from '../../../projections/delivery/queries.js';
import { delivery } from '../../../streams/delivery/index.js';
import { before, limit, lineStates } from '../core/fields.js';
import { defineForOperators } from '../core/operation.js';
import {
  type DeliveryParts,
  EventId,
  eventId,
  eventNotFound,
  QueueRow,
  receivedEvent,
  targetChannels,
} from './events.js';

/** Events that were given up, or expired. */
export const listDeadLetters = defineForOperators('listDeadLetters', {
  summary: 'Events that were given up, or expired',
  input: z.object({
    status: z
      .enum(['dead_letter', 'expired'])
      .default('dead_letter')
      .describe('Given up after failed attempts, or at the end of the time to live'),
    limit: limit(500, 100, 'events'),
    before,
  }),
  says: 'Newest first',
  output: z.object({ dead_letters: z.array(QueueRow) }),
  http: { method: 'get', path: '/ops/dead-letters' },
  run: async ({ status, limit, before }, _caller, { readModels }: DeliveryParts) => {
    const wanted = { status, limit, ...(before === undefined ? {} : { before }) };
    const dead_letters = await readModels.read('delivery_queue', (sql, schema) =>
      deadLetters(sql, schema, wanted),
    );
    return { dead_letters };
  },
});

const EventRow = z.looseObject({ ...QueueRow.shape, channels: lineStates }).meta({ id: 'EventRow' });

/** The queue row of an event. */
export const getDeadLetter = defineForOperators('getDeadLetter', {
  summary: 'The queue row of an event, whatever its status, and what became of it in each channel',
  input: z.object({ event_id: EventId }),
  says: 'The row',
  output: EventRow,
  refusals: { event_not_found: true },
  http: { method: 'get', path: '/ops/dead-letters/{event_id}' },
  run: async ({ event_id }, _caller, { readModels }: DeliveryParts) => {
    const [row, receipt] = await readModels.read('delivery_queue', async (sql, schema) => [
      await storedRow(sql, schema, event_id),
      await eventReceipt(sql, schema, event_id),
    ]);
    if (!row || !receipt) throw eventNotFound(event_id);
    return { ...row, channels: receipt.channels };
  },
});

/** Has an event that was given up tried again. */
export const redriveDeadLetter = defineForOperators('redriveDeadLetter', {
  summary: 'Try an event again, with a fresh retry count and time to live',
  input: z.object({ event_id: EventId }),
  says: 'It is pending again',
  output: z.object({
    event_id: eventId,
    redriven: z.literal(true),
    channels: targetChannels,
  }),
  refusals: {
    event_not_found: true,
    dead_letter_not_found: true,
    not_dead_lettered: 'The event was not given up',
  },
  http: { method: 'post', path: '/ops/dead-letters/{event_id}/redrive' },
  run: async ({ event_id }, { actor, cause = null }, parts: DeliveryParts) => {
    const { event } = await receivedEvent(parts.log, event_id);
    const command = { is: 'redrive' as const, event };
    const by = { by: actor, cause };
    const { position, fact } = await parts.log.handle(delivery, parts.delivery.decider, command, by);
    await parts.readModels.reached('delivery_queue', position);
    const channels = fact?.type === 'event.redriven' ? fact.data.undelivered : [];
    return { event_id, redriven: true as const, channels };
  },
});
