import { z } from 'zod';
import { type Log, type Recorded, Refusal } from '../../../streams/core/index.js';
import type { deliveryDecider } from '../../../streams/delivery/index.js';
import { eventToken, type MarketFact, market, marketSubject } from '../../../streams/events/index.js';
import type { ReadModels } from '../../stores/read-models.js';
import { Time } from '../core/description.js';

/** What the operators' operations about received events work with. */
export interface DeliveryParts {
  log: Log;
  readModels: ReadModels;
  delivery: { decider: ReturnType<typeof deliveryDecider> };
}

/** An event by the id that the marketplace gave it. */
export const EventId = z.string().min(1).describe('event_id as the marketplace sent it');

/** A row of the queue. */
export const QueueRow = z
  .looseObject({
    id: z.int(),
    event_id: z.string(),
    event_type: z.string(),
    source: z.string(),
    payload: z.string().describe('JSON text'),
    target_channels: z.array(z.string()),
    formatted_message: z.string(),
    status: z.enum(['pending', 'delivered', 'dead_letter', 'expired']),
    retry_count: z.int(),
    last_error: z.string().nullable(),
    created_at: Time,
    delivered_at: Time.nullable(),
  })
  .meta({ id: 'QueueRow' });
/** One, as an example. */
export const queueRow = {
  id: 1,
  event_id: 'evt-1',
  event_type: 'task.published',
  source: 'marketplace',
  payload: '{}',
  target_channels: ['#bounties'],
  formatted_message: '[NEW] a1b2c3d4 | Photograph a shop front',
  status: 'dead_letter' as const,
  retry_count: 3,
  last_error: '404 Cannot send to channel',
  created_at: '2026-01-31T12:00:00.000Z',
  delivered_at: null,
};

/** An event as it was received, with what names it in the facts of its delivery. Throws 404 where there is none. */
export async function receivedEvent(
  log: Log,
  event_id: string,
): Promise<{
  received: Recorded<MarketFact>;
  event: { seq: number; event_id: string; token: string };
}> {
  const token = eventToken(event_id);
  const received = await log.last(market, marketSubject(token));
  if (!received) throw eventNotFound(event_id);
  return { received, event: { seq: received.seq, event_id, token } };
}

/** The refusal of an event that was never received. */
export function eventNotFound(event_id: string): Refusal {
  return new Refusal('not_found', `No event with id ${event_id} was received`);
}
