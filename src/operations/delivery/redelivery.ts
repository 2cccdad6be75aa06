import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { deliveryStatus, receivedEvents } from '../../../projections/delivery.js';
import { Refusal } from '../../../streams/core/index.js';
import { delivery } from '../../../streams/delivery/index.js';
import { eventToken, market, marketSubject } from '../../../streams/events/index.js';
import { parseInput } from '../core/validation.js';
import type { EventOperationsOptions } from './dead-letters.js';

/** A place in the market stream: a sequence, or a time in ISO 8601. */
const Bound = z.union(
  [
    z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
    z.iso.datetime({ offset: true }).transform((text) => new Date(text)),
  ],
  'must be a sequence or a time like 2026-01-31T12:00:00Z',
);
const RangeQuery = z.object({
  from: Bound,
  to: Bound,
  type: z.string().min(1).optional(),
  channel: z.string().min(1).optional(),
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});
const EventParams = z.object({ event_id: z.string().min(1) });
const RedeliverBody = z.object({
  run: z.string().min(1).max(100),
  channels: z.array(z.string().min(1)).min(1).optional(),
});

/** `/ops/events`: what was received, and the way to have it shown once more. */
export async function redeliveryRoutes(app: FastifyInstance, options: EventOperationsOptions): Promise<void> {
  const { log, readModels, keys, decider } = options;
  app.addHook('onRequest', async (request) => {
    keys.require(request);
  });

  app.get('/ops/events', async (request) => {
    const range = parseInput(RangeQuery, request.query);
    // what was received up to now, also where the read model is a moment behind, or the log is away
    const seq = await log.head(market).catch(() => 0);
    const events = await readModels.read(
      'delivery_queue',
      (sql, schema) => receivedEvents(sql, schema, range),
      { stream: market.name, seq },
    );
    return { events };
  });

  app.post('/ops/events/:event_id/redeliver', async (request) => {
    const { event_id } = parseInput(EventParams, request.params);
    const { run, channels: wanted } = parseInput(RedeliverBody, request.body);
    const token = eventToken(event_id);
    const received = await log.last(market, marketSubject(token));
    if (!received) throw new Refusal('not_found', `No event with id ${event_id} was received`);
    const { target_channels } = received.data;
    const channels = wanted ? target_channels.filter((name) => wanted.includes(name)) : target_channels;
    if (channels.length === 0) {
      throw new Refusal('no_such_channel', `Event ${event_id} goes to ${target_channels.join(', ')} only`);
    }
    const status = await readModels.read('delivery_queue', (sql, schema) =>
      deliveryStatus(sql, schema, event_id),
    );
    if (status !== 'delivered') {
      throw new Refusal('not_delivered', `Event ${event_id} has not been delivered`);
    }
    const event = { seq: received.seq, event_id, token };
    const { fact } = await log.handle(
      delivery,
      decider,
      { is: 'redeliver', event, run, channels },
      { by: keys.require(request), cause: request.id },
    );
    return { event_id, run, redelivered: fact !== undefined, channels };
  });
}
