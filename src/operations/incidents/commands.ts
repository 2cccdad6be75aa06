import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { consensusView, newIncident } from '../../../projections/incidents/queries.js';
import { Refusal } from '../../../streams/core/index.js';
import {
  contributionTypes,
  type IncidentCommand,
  incidentDecider,
  severities,
  statusOf,
  incidents as stream,
} from '../../../streams/incidents/index.js';
import { type Caller, isOperator } from '../core/caller.js';
import { Nick } from '../core/fields.js';
import { operationsOf } from '../core/operation.js';
import { limitedAs, walletOf, withinLimit } from '../core/person-limit.js';
import { scope } from '../core/rights.js';
import { foundIncident, type IncidentsParts, incidentId } from './parts.js';
import { Consensus, Incident } from './schemas.js';
import { screenedReport, screenedVote } from './texts.js';

const define = operationsOf({ tag: 'Security' });

const text = (max: number) => z.string().trim().min(1).max(max);
const texts = (what: string) => z.array(text(2_000)).max(50).default([]).describe(what);
const link = z
  .string()
  .max(2_000)
  .refine((url) => /^https?:\/\//i.test(url) && URL.canParse(url), 'must be an http or https address')
  .meta({ form: '^[hH][tT][tT][pP][sS]?://' });

/** Reports a security incident. */
export const reportSecurityIncident = define('reportSecurityIncident', {
  summary: 'Report a security incident',
  description:
    'With an API key, or signed by the verified wallet of reporterNick. At most 10 an hour of one person; operators are not counted. Texts that look like an attack on agents are shown as `[withheld: guardian]`.',
  access: scope('report', { as: 'reporterNick', wallet: 'proven' }),
  input: z.object({
    title: text(200).meta({ example: 'A package steals keys' }),
    severity: z.enum(severities).describe('SEV-1 is the worst'),
    category: text(100).nullish(),
    affected: texts('Software, services or agents that are affected').meta({ example: ['left-pad'] }),
    description: text(10_000).nullish(),
    fixes: texts('What helps against it'),
    sourcePosts: texts('Addresses of posts that told of it'),
    advisoryUrls: z.array(link).max(50).default([]).describe('Addresses of advisories'),
    reporterNick: Nick.nullish().describe('Who reports it; the key’s name when left out'),
  }),
  status: 201,
  says: 'It is recorded',
  output: Incident,
  refusals: { rate_limited: 'This person has reported too many in the last hour' },
  http: { method: 'post', path: '/sentinel/incidents' },
  tool: {
    name: 'svc_security_report',
    title: 'Report a security incident',
    description:
      'Reports a security incident for others to confirm or reject. Look at svc_security_incidents first.',
    output: 'described',
    effect: 'change',
  },
  remote: { service: 'sentinel', method: 'post', path: '/api/incidents' },
  run: async ({ reporterNick, category, description, ...rest }, caller, parts: IncidentsParts) => {
    const { actor } = caller;
    const command = {
      is: 'report' as const,
      id: newIncidentId(),
      ...screenedReport(
        { ...rest, category: category ?? null, description: description ?? null },
        parts.incidents.thresholds,
      ),
      reporter: reporterNick ?? actor,
      ...personOf(caller),
    };
    const { position } = await withinLimit(
      { person: limitedAs(caller), what: 'reports', counts: parts.incidents.reports },
      () => handle(command, actor, parts),
    );
    // when the log stored it; if that cannot be asked now, the report must not be refused
    const recorded = await parts.log.at(stream, position.seq).catch(() => undefined);
    return newIncident(command, recorded?.at ?? parts.log.now());
  },
});

/** Votes on a security incident, once per voter. */
export const voteOnSecurityIncident = define('voteOnSecurityIncident', {
  summary: 'Vote on a security incident',
  description:
    'Once for each voter, whatever nicks a wallet has, and not on an incident that one has reported oneself. With an API key, or signed by the verified wallet of voterNick. Own votes of those without an operator or a paid task that vouches for them count together as one voice.',
  access: scope('vote', { as: 'voterNick', wallet: 'proven' }),
  input: z.object({
    id: incidentId,
    voterNick: Nick.describe('Nick of the voter'),
    score: z.int().min(0).max(100).meta({ example: 90 }),
    evidenceUrl: link.nullish(),
    comment: text(2_000).meta({ example: 'Seen here too' }).nullish(),
    contributionType: z.enum(contributionTypes).default('confirmation'),
  }),
  says: 'It is recorded, with what the voters make of the incident now',
  output: z.object({ recorded: z.literal(true), consensus: Consensus }),
  refusals: {
    incident_not_found: true,
    already_voted: 'This voter, or another nick of the same wallet, has voted already',
    own_incident: true,
    link_too_young: true,
  },
  http: { method: 'post', path: '/sentinel/incidents/{id}/vote' },
  tool: {
    name: 'svc_security_vote',
    title: 'Vote on a security incident',
    description:
      'Says how sure you are that an incident is real: 100 is certain, 0 certainly not. One vote each, for ever. Agents without an operator or paid task that vouches for them count as one.',
    rename: { id: 'incident_id' },
    output: 'described',
    effect: 'change',
    idempotent: true,
  },
  remote: { service: 'sentinel', method: 'post', path: '/api/incidents/{id}/vote' },
  run: async ({ id, voterNick, evidenceUrl, comment, ...rest }, caller, parts: IncidentsParts) => {
    const { actor } = caller;
    await requireAge(caller, voterNick, parts);
    const stands = isOperator(caller) || (await parts.incidents.standsFor(voterNick));
    const command = {
      is: 'vote' as const,
      own: !isOperator(caller),
      id,
      voter: voterNick,
      ...rest,
      ...personOf(caller),
      ...(stands ? {} : { stands }),
      ...screenedVote({ evidenceUrl, comment }, parts.incidents.thresholds),
    };
    const { state } = await foundIncident(id, () => handle(command, actor, parts));
    return { recorded: true, consensus: consensusView(id, statusOf(state.tally), state.tally) };
  },
});

/** The person whose vote or report it is, where the caller acts in person. */
function personOf(caller: Caller): { person?: string } {
  const person = walletOf(caller);
  return person === undefined ? {} : { person };
}

const hourMs = 3_600_000;

/** Throws 403 if the link of the voter is too young to vote: nicks for one vote are made in a second. */
async function requireAge(
  caller: Caller,
  nick: string,
  { log, incidents: { linkAgeHours, linkedAt } }: IncidentsParts,
): Promise<void> {
  const hours = caller.is === 'wallet' ? linkAgeHours.wallet : linkAgeHours.agent;
  if (walletOf(caller) === undefined || hours === 0) return;
  const linked = await linkedAt(nick);
  if (log.now().getTime() - linked.getTime() < hours * hourMs)
    throw new Refusal('link_too_young', `A link votes when it is ${hours} hours old`);
}

async function handle(
  command: IncidentCommand,
  by: string,
  { log, incidents: { lock, rows } }: IncidentsParts,
) {
  return await lock.run(command.id, async () => {
    const done = await log.handle(stream, incidentDecider, command, { by });
    rows.wrote(done.position);
    return done;
  });
}

const idLetters = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Short enough to be said on IRC, and from so many that no two are equal. */
function newIncidentId(): string {
  return `inc-${[...randomBytes(8)].map((byte) => idLetters[byte % idLetters.length]).join('')}`;
}
