import { z } from 'zod';
import { queueStatistics } from '../../../projections/delivery/queries.js';
import type { Log } from '../../../streams/core/index.js';
import type { OwnReadModel } from '../../stores/own-read-model.js';
import { Time } from '../core/fields.js';
import { defineOperation } from '../core/operation.js';
import type { Owners } from './owners.js';
import type { Reception } from './reception.js';

/** What the operations about events work with. */
export interface EventsParts {
  log: Log;
  events: {
    /** The queue of events as this process has written it. */
    rows: OwnReadModel;
    reception: Reception;
    /** Whose events are whose; absent where there is one producer only. */
    owners?: Owners | undefined;
    webhookSecretConfigured: boolean;
  };
}

/** The numbers of the queue, with what this process has accepted. */
export async function queueOf({ log, events }: EventsParts) {
  const queue = await events.rows.read(queueStatistics, log.now());
  return { ...queue, webhook_secret_configured: events.webhookSecretConfigured };
}

const QueueStatistics = z.object({
  pending: z.int(),
  delivered_today: z.int().describe('Since 00:00 UTC'),
  dead_letter: z.int().meta({ example: 0 }),
  last_event_received: Time.nullable(),
  webhook_secret_configured: z.boolean(),
});
/** The state of the queue of events. */
export const getQueueStatistics = defineOperation('getQueueStatistics', {
  tag: 'Webhooks',
  summary: 'The state of the queue of events',
  description: 'Events of the marketplace that wait, were delivered today (UTC) or were given up.',
  says: 'Numbers of events',
  output: QueueStatistics,
  http: { method: 'get', path: '/hooks/em/stats' },
  remote: { service: 'bridge', method: 'get', path: '/api/em/queue-stats' },
  run: async (_input, _caller, parts: EventsParts) => await queueOf(parts),
});
