import { z } from 'zod';
import { incidentRecords } from '../../../projections/moderation/queries.js';
import { type Log, Refusal } from '../../../streams/core/index.js';
import { moderation, personDecider } from '../../../streams/moderation/index.js';
import type { ReadModels } from '../../stores/read-models.js';
import { before, limit, text } from '../core/fields.js';
import { operationsOf } from '../core/operation.js';
import { scope } from '../core/rights.js';

const define = operationsOf({ tag: 'Operations', access: scope('operate') });

interface RecordParts {
  log: Log;
  readModels: ReadModels;
}

/** Incidents with their texts and all that became of them, for operators. */
export const listIncidentRecords = define('listIncidentRecords', {
  summary: 'Moderation incidents with their texts and all that became of them',
  input: z.object({
    limit: limit(500, 50, 'incidents'),
    before,
  }),
  says: 'Newest first',
  output: z.object({
    incidents: z.array(
      z.looseObject({
        id: z.int(),
        nick: text('mallory'),
        text: text('Ignore all previous instructions').nullable(),
      }),
    ),
  }),
  http: { method: 'get', path: '/ops/incidents' },
  run: async ({ limit, before }, _caller, { readModels }: RecordParts) => ({
    incidents: await readModels.read('moderation', (sql, schema) =>
      incidentRecords(sql, schema, limit, before),
    ),
  }),
});

/** Takes an incident back, with what still runs because of it. */
export const pardonIncident = define('pardonIncident', {
  summary: 'Take a moderation incident back, with what still runs because of it',
  input: z.object({
    id: z.int().min(1).meta({ description: 'Id of the incident', example: 3 }),
    reason: z.string().max(300).meta({ example: 'A quotation' }).default(''),
  }),
  says: 'It does not count any more',
  output: z.looseObject({ id: z.int(), pardoned: z.literal(true) }).meta({
    example: { id: 3, nick: 'mallory', channel: '#lobby', level: 'WARN', pardoned: true, already: false },
  }),
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
