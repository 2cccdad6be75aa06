import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { incidentRecords } from '../../../projections/moderation/queries.js';
import { type Log, Refusal } from '../../../streams/core/index.js';
import { moderation, personDecider } from '../../../streams/moderation/index.js';
import type { ApiKeys } from '../../auth/api-keys.js';
import type { ReadModels } from '../../stores/read-models.js';
import { parseInput } from '../core/validation.js';

/** What the operators' routes about incidents work with. */
export interface ModerationOperationsOptions {
  log: Log;
  readModels: ReadModels;
  keys: ApiKeys;
}

const ListQuery = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(50),
  before: z.coerce.number().int().min(1).optional(),
});
const IncidentParams = z.object({ id: z.coerce.number().int().min(1) });
const PardonBody = z
  .object({ reason: z.string().max(300).default('') })
  .nullish()
  .transform((body) => body ?? { reason: '' });

/** `/ops/incidents`: incidents with their texts and all that became of them, and the way to take one back. */
export async function moderationOperations(
  app: FastifyInstance,
  { log, readModels, keys }: ModerationOperationsOptions,
): Promise<void> {
  app.addHook('onRequest', async (request) => {
    keys.require(request);
  });

  app.get('/ops/incidents', async (request) => {
    const { limit, before } = parseInput(ListQuery, request.query);
    const incidents = await readModels.read('moderation', (sql, schema) =>
      incidentRecords(sql, schema, limit, before),
    );
    return { incidents };
  });

  app.post('/ops/incidents/:id/pardon', async (request) => {
    const { id } = parseInput(IncidentParams, request.params);
    const { reason } = parseInput(PardonBody, request.body);
    const recorded = await log.at(moderation, id);
    if (recorded?.type !== 'incident.recorded') throw new Refusal('not_found', `There is no incident ${id}`);
    const { ref, nick, channel, level } = recorded.data;
    const { fact, position } = await log.handle(
      moderation,
      personDecider,
      { is: 'pardon', subject: recorded.subject, ref, reason },
      { by: keys.require(request), cause: request.id },
    );
    await readModels.reached('moderation', position);
    return { id, nick, channel, level, pardoned: true, already: fact === undefined };
  });
}
