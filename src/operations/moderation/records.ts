import { z } from 'zod';
import { incidentRecords } from '../../../projections/moderation/queries.js';
import { type Log, Refusal } from '../../../streams/core/index.js';
import { casefold, cleanText } from '../../../streams/irc-grammar.js';
import {
  actions,
  type Incident as IncidentFact,
  isPrivateIncident,
  moderation,
  personDecider,
} from '../../../streams/moderation/index.js';
import type { ReadModels } from '../../stores/read-models.js';
import { before, limit, Nick, Time, text } from '../core/fields.js';
import { type Caller, defineForOperators, operationsOf } from '../core/operation.js';
import { scope } from '../core/rights.js';
import { hiddenFrom } from './hidden.js';
import { Incident } from './incident.js';

interface RecordParts {
  log: Log;
  readModels: ReadModels;
}

const Decided = Incident.pick({ id: true, nick: true, channel: true, level: true }).extend({
  already: z.boolean().meta({ example: false }).describe('It was decided before'),
});

/** Incidents with their texts and all that became of them, for operators. */
export const listIncidentRecords = defineForOperators('listIncidentRecords', {
  summary: 'Moderation incidents with their texts and all that became of them',
  input: z.object({
    limit: limit(500, 50, 'incidents'),
    before,
  }),
  says: 'Newest first',
  output: z.object({
    incidents: z.array(
      Incident.extend({
        text: text('Ignore all previous instructions').nullable().describe('What was said; null below WARN'),
        action: z.enum(actions).meta({ example: 'notice' }),
        outcome: text('done')
          .nullable()
          .describe('What became of the action; null while that is unknown, and if there was nothing to do'),
        error: text('No such nick').nullable().describe('Why it failed, or why nothing was done'),
        until: Time.nullable().describe('When a mute or ban ends'),
        lifted_at: Time.nullable(),
        pardoned_at: Time.nullable(),
        pardoned_by: text('key:ops').nullable(),
        appealed_at: Time.optional().describe('Absent if nobody has appealed, like what follows'),
        appeal: text('I quoted a title').nullish().describe('The reason that the person concerned gave'),
        upheld_at: Time.nullish().describe('When an operator declined the appeal'),
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
export const pardonIncident = defineForOperators('pardonIncident', {
  summary: 'Take a moderation incident back, with what still runs because of it',
  input: z.object({
    id: z.int().min(1).meta({ description: 'Id of the incident', example: 3 }),
    reason: z.string().max(300).meta({ example: 'A quotation' }).default(''),
  }),
  says: 'It does not count any more',
  output: Decided.extend({ pardoned: z.literal(true) }),
  refusals: { moderation_incident_not_found: true },
  http: { method: 'post', path: '/ops/incidents/{id}/pardon' },
  run: async ({ id, reason }, caller, parts: RecordParts) => {
    const decided = await decide(id, { is: 'pardon', reason }, caller, parts);
    return { ...decided, pardoned: true as const };
  },
});

const absent = { moderation_incident_not_found: true } as const;

const absentIncident = (id: number) =>
  new Refusal('moderation_incident_not_found', `There is no incident ${id}`);

/** Does something about an incident by its id; whether something came of it. */
async function decide(
  id: number,
  command: { is: 'appeal' | 'uphold' | 'pardon'; reason: string },
  { actor: by, cause }: Caller,
  { log, readModels }: RecordParts,
  requireConcerned: (incident: IncidentFact) => Promise<void> = async () => {},
) {
  const recorded = await log.at(moderation, id);
  if (recorded?.type !== 'incident.recorded') throw absentIncident(id);
  await requireConcerned(recorded.data);
  const { ref, nick, channel, level } = recorded.data;
  const origin = { by, cause: cause ?? null };
  const { fact, position } = await log.handle(
    moderation,
    personDecider,
    { ...command, subject: recorded.subject, ref },
    origin,
  );
  await readModels.reached('moderation', position);
  return { id, nick, channel, level, already: fact === undefined };
}

const incidentId = z.int().min(1).meta({ description: 'Id of the incident', example: 3 });
const why = z.string().max(300).default('');

/** Declines an appeal. */
export const declineAppeal = defineForOperators('declineAppeal', {
  summary: 'Decline an appeal against a moderation incident',
  description: 'The person concerned is told by a notice, at once or when they are seen again.',
  input: z.object({ id: incidentId, reason: why.meta({ example: 'It was no quotation' }) }),
  says: 'It still counts',
  output: Decided,
  refusals: { ...absent, no_open_appeal: true },
  http: { method: 'post', path: '/ops/incidents/{id}/decline' },
  run: async ({ id, reason }, caller, parts: RecordParts) =>
    await decide(id, { is: 'uphold', reason }, caller, parts),
});

/** Asks for an incident to be taken back, as the person concerned. */
export const appealIncident = operationsOf({ tag: 'Moderation', access: scope('report', { as: 'nick' }) })(
  'appealIncident',
  {
    summary: 'Appeal against a moderation incident of your own',
    description:
      'For the agent whose nick it is, or an operator in its name; on IRC, `APPEAL <id> <why>` to the bot that moderates does the same for whoever has no key. What an operator decides is told by a notice.',
    input: z.object({
      id: incidentId,
      nick: Nick.describe('Whose incident it is'),
      reason: why.meta({ example: 'I quoted a title' }),
    }),
    says: 'The appeal is recorded',
    output: Decided,
    refusals: { ...absent, not_your_incident: true, nothing_to_appeal: true },
    http: { method: 'post', path: '/guardian/incidents/{id}/appeal' },
    run: async ({ id, nick, reason }, caller, parts: RecordParts) =>
      await decide(id, { is: 'appeal', reason: cleanText(reason) }, caller, parts, async (incident) => {
        const isTheirs =
          (incident.account !== undefined && casefold(incident.account) === casefold(nick)) ||
          (incident.account === undefined && casefold(incident.nick) === casefold(nick));
        if (isTheirs) return;
        // who may not see it is not told that there is one
        const hidden = await hiddenFrom(caller, parts);
        const isHidden = isPrivateIncident(incident) || hidden?.includes(casefold(incident.channel));
        throw hidden && isHidden ? absentIncident(id) : new Refusal('not_your_incident');
      }),
  },
);
