import { z } from 'zod';
import { type Log, type Recorded, Refusal } from '../../../streams/core/index.js';
import type { deliveryDecider } from '../../../streams/delivery/index.js';
import { eventToken, type MarketFact, market, marketSubject } from '../../../streams/events/index.js';
import type { ReadModels } from '../../stores/read-models.js';
import { Time, text } from '../core/fields.js';

/** What the operators' operations about received events work with. */
export interface DeliveryParts {
  log: Log;
  readModels: ReadModels;
  delivery: { decider: ReturnType<typeof deliveryDecider> };
}

/** An event by the id that the marketplace gave it. */
export const EventId = z
  .string()
  .min(1)
  .meta({ description: 'event_id as the marketplace sent it', example: 'evt-1' });

/** The same in answers. */
export const eventId = text('evt-1');
/** Where an event goes, in answers. */
export const targetChannels = z.array(text('#bounties'));

/** A row of the queue. */
export const QueueRow = z
  .looseObject({
    id: z.int(),
    event_id: eventId,
    event_type: text('task.published'),
    source: text('marketplace'),
    payload: text('{}').describe('JSON text'),
    target_channels: targetChannels,
    formatted_message: text('[NEW] a1b2c3d4 | Photograph a shop front'),
    status: z.enum(['pending', 'delivered', 'dead_letter', 'expired']).meta({ example: 'dead_letter' }),
    retry_count: z.int().meta({ example: 3 }),
    last_error: text('404 Cannot send to channel').nullable(),
    created_at: Time,
    delivered_at: Time.nullable().meta({ example: null }),
  })
  .meta({ id: 'QueueRow' });
/**
 * An event as it was received, with its names in the facts of its delivery. Throws 404 if it does not exist.
 */
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
  return new Refusal('event_not_found', `No event with id ${event_id} was received`);
}
