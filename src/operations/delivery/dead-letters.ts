import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { deadLetters, queueRow } from '../../../projections/delivery.js';
import { type Log, Refusal } from '../../../streams/core/index.js';
import { delivery, type deliveryDecider } from '../../../streams/delivery/index.js';
import { eventToken, market, marketSubject } from '../../../streams/events/index.js';
import type { ApiKeys } from '../../auth/api-keys.js';
import type { ReadModels } from '../../stores/read-models.js';
import { parseInput } from '../core/validation.js';

/** What the operators' routes about received events work with. */
export interface EventOperationsOptions {
  log: Log;
  readModels: ReadModels;
  keys: ApiKeys;
  decider: ReturnType<typeof deliveryDecider>;
}

const DeadLetterQuery = z.object({
  status: z.enum(['dead_letter', 'expired']).default('dead_letter'),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  before: z.coerce.number().int().min(1).optional(),
});
const EventParams = z.object({ event_id: z.string().min(1) });

/** `/ops/dead-letters`: the events that were given up, and the way to have them tried again. */
export async function deadLetterRoutes(app: FastifyInstance, options: EventOperationsOptions): Promise<void> {
  const { log, readModels, keys, decider } = options;
  app.addHook('onRequest', async (request) => {
    keys.require(request);
  });

  app.get('/ops/dead-letters', async (request) => {
    const { status, limit, before } = parseInput(DeadLetterQuery, request.query);
    const dead_letters = await readModels.read('delivery_queue', (sql, schema) =>
      deadLetters(sql, schema, { status, limit, ...(before === undefined ? {} : { before }) }),
    );
    return { dead_letters };
  });

  app.get('/ops/dead-letters/:event_id', async (request) => {
    const { event_id } = parseInput(EventParams, request.params);
    const row = await readModels.read('delivery_queue', (sql, schema) => queueRow(sql, schema, event_id));
    if (!row) throw new Refusal('not_found', `No event with id ${event_id} was received`);
    return row;
  });

  app.post('/ops/dead-letters/:event_id/redrive', async (request) => {
    const { event_id } = parseInput(EventParams, request.params);
    const token = eventToken(event_id);
    const received = await log.last(market, marketSubject(token));
    if (!received) throw new Refusal('not_found', `No event with id ${event_id} was received`);
    const event = { seq: received.seq, event_id, token };
    const { position, fact } = await log.handle(
      delivery,
      decider,
      { is: 'redrive', event },
      { by: keys.require(request), cause: request.id },
    );
    await readModels.reached('delivery_queue', position);
    return {
      event_id,
      redriven: true,
      channels: fact?.type === 'event.redriven' ? fact.data.undelivered : [],
    };
  });
}
