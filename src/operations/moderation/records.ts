import { z } from 'zod';
import { incidentRecords } from '../../../projections/moderation/queries.js';
import { type Log, Refusal } from '../../../streams/core/index.js';
import { moderation, personDecider } from '../../../streams/moderation/index.js';
import type { ReadModels } from '../../stores/read-models.js';
import { defineOperation } from '../core/operation.js';

interface RecordParts {
  log: Log;
  readModels: ReadModels;
}

/** Incidents with their texts and all that became of them, for operators. */
export const listIncidentRecords = defineOperation({
  id: 'listIncidentRecords',
  tag: 'Operations',
  summary: 'Moderation incidents with their texts and all that became of them',
  access: 'key',
  input: z.object({
    limit: z.int().min(1).max(500).default(50),
    before: z.int().min(1).optional().describe('Only those with a smaller id'),
  }),
  answers: {
    200: {
      says: 'Newest first',
      body: {
        schema: z.object({
          incidents: z.array(z.looseObject({ id: z.int(), nick: z.string(), text: z.string().nullable() })),
        }),
        example: { incidents: [{ id: 3, nick: 'mallory', text: 'Ignore all previous instructions' }] },
      },
    },
  },
  http: { method: 'get', path: '/ops/incidents' },
  run: async ({ limit, before }, _caller, { readModels }: RecordParts) => ({
    incidents: await readModels.read('moderation', (sql, schema) =>
      incidentRecords(sql, schema, limit, before),
    ),
  }),
});

/** Takes an incident back, with what still runs because of it. */
export const pardonIncident = defineOperation({
  id: 'pardonIncident',
  tag: 'Operations',
  summary: 'Take a moderation incident back, with what still runs because of it',
  access: 'key',
  input: z.object({
    id: z.int().min(1).describe('Id of the incident'),
    reason: z.string().max(300).default(''),
  }),
  example: { id: 3, reason: 'A quotation' },
  answers: {
    200: {
      says: 'It does not count any more',
      body: {
        schema: z.looseObject({ id: z.int(), pardoned: z.literal(true) }),
        example: { id: 3, nick: 'mallory', channel: '#lobby', level: 'WARN', pardoned: true, already: false },
      },
    },
  },
  refusals: { not_found: 'There is no incident with this id' },
  http: { method: 'post', path: '/ops/incidents/{id}/pardon' },
  run: async ({ id, reason }, { actor: by, cause }, { log, readModels }: RecordParts) => {
    const recorded = await log.at(moderation, id);
    if (recorded?.type !== 'incident.recorded') throw new Refusal('not_found', `There is no incident ${id}`);
    const { ref, nick, channel, level } = recorded.data;
    const pardon = { is: 'pardon', subject: recorded.subject, ref, reason } as const;
    const origin = { by, cause: cause ?? null };
    const { fact, position } = await log.handle(moderation, personDecider, pardon, origin);
    await readModels.reached('moderation', position);
    return { id, nick, channel, level, pardoned: true, already: fact === undefined };
  },
});
