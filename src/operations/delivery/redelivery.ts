import { z } from 'zod';
import { deliveryStatus, receivedEvents } from '../../../projections/delivery/queries.js';
import { Refusal } from '../../../streams/core/index.js';
import { delivery } from '../../../streams/delivery/index.js';
import { market } from '../../../streams/events/index.js';
import { lacksZone } from '../../words/times.js';
import { limit, text } from '../core/fields.js';
import { defineForOperators } from '../core/operation.js';
import { type DeliveryParts, EventId, eventId, receivedEvent, targetChannels } from './events.js';

/** The times that the store knows, with four digits for the year. An offset leads beyond them. */
const firstTime = Date.parse('0001-01-01T00:00:00Z');
const lastTime = Date.parse('9999-12-31T23:59:59.999Z');

/** A place in the market stream: a sequence, or a time in ISO 8601. */
const Bound = z
  .union(
    [
      z
        .string()
        .regex(/^\d{1,15}$/)
        .transform(Number),
      z.iso
        .datetime({ offset: true })
        .transform((text) => new Date(Math.min(Math.max(Date.parse(text), firstTime), lastTime))),
    ],
    {
      error: ({ input }) => {
        if (input === undefined) return 'is missing';
        return typeof input === 'string' && lacksZone(input)
          ? 'has no zone: add Z or an offset, as in 2026-01-31T12:00:00Z'
          : 'must be a sequence or a time like 2026-01-31T12:00:00Z';
      },
    },
  )
  .describe('A sequence, or a time in ISO 8601')
  .meta({ example: '2026-01-31T12:00:00Z' });

/** What was received between two places of the log. */
export const listReceivedEvents = defineForOperators('listReceivedEvents', {
  summary: 'What was received between two places of the log',
  input: z.object({
    from: Bound,
    to: Bound,
    type: z.string().min(1).optional().describe('Events of this type only'),
    channel: z.string().min(1).optional().describe('Events of this channel only'),
    after: z.int().min(0).default(0).describe('Sequence: only events after it'),
    limit: limit(500, 100, 'events'),
  }),
  says: 'In the order of the log',
  output: z.object({
    events: z.array(
      z.looseObject({
        id: z.int(),
        event_id: eventId,
        status: text('delivered'),
        target_channels: targetChannels,
      }),
    ),
  }),
  http: { method: 'get', path: '/ops/events' },
  run: async (range, _caller, { log, readModels }: DeliveryParts) => {
    // what was received up to now, also where the read model is a moment behind, or the log is away
    const seq = await log.head(market).catch(() => 0);
    const events = await readModels.read(
      'delivery_queue',
      (sql, schema) => receivedEvents(sql, schema, range),
      { stream: market.name, seq },
    );
    return { events };
  },
});

/** Shows a delivered event once more. */
export const redeliverEvent = defineForOperators('redeliverEvent', {
  summary: 'Show a delivered event once more, on purpose',
  input: z.object({
    event_id: EventId,
    run: z.string().min(1).max(100).meta({ description: 'Once for each run', example: '2026-01-31' }),
    channels: z.array(z.string().min(1)).min(1).optional(),
  }),
  says: 'It is shown again, if it was not for this run',
  output: z.object({
    event_id: eventId,
    run: text('2026-01-31'),
    redelivered: z.boolean(),
    channels: targetChannels,
  }),
  refusals: {
    event_not_found: true,
    no_such_channel: 'It goes to other channels',
    not_delivered: 'It has not been delivered',
  },
  http: { method: 'post', path: '/ops/events/{event_id}/redeliver' },
  run: async ({ event_id, run, channels: wanted }, { actor, cause = null }, parts: DeliveryParts) => {
    const { received, event } = await receivedEvent(parts.log, event_id);
    const { target_channels } = received.data;
    const channels = wanted ? target_channels.filter((name) => wanted.includes(name)) : target_channels;
    if (channels.length === 0)
      throw new Refusal('no_such_channel', `Event ${event_id} goes to ${target_channels.join(', ')} only`);
    const status = await parts.readModels.read('delivery_queue', (sql, schema) =>
      deliveryStatus(sql, schema, event_id),
    );
    if (status !== 'delivered')
      throw new Refusal('not_delivered', `Event ${event_id} has not been delivered`);
    const command = { is: 'redeliver' as const, event, run, channels };
    const { fact } = await parts.log.handle(delivery, parts.delivery.decider, command, { by: actor, cause });
    return { event_id, run, redelivered: fact !== undefined, channels };
  },
});
