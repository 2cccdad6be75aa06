import { type MarketPayload, normalisePayload } from './event.js';
import { taskChannel } from './routing.js';

const endings = new Set([
  'task.approved',
  'task.completed',
  'task.cancelled',
  'task.mutual_cancel',
  'task.expired',
]);

/** The channel of the task that an event says has ended; undefined for any other event. */
export function endedTaskChannel(event: { event_type: string; payload: MarketPayload }): string | undefined {
  return endings.has(event.event_type) ? taskChannel(normalisePayload(event.payload).id) : undefined;
}
