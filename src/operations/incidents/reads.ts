import { z } from 'zod';
import {
  consensusOn,
  contributionsOf,
  incidentStatistics,
  listIncidents,
  showIncident,
} from '../../../projections/incidents/queries.js';
import { incidentStatuses, severities } from '../../../streams/incidents/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { Nick } from '../core/names.js';
import { defineOperation } from '../core/operation.js';
import { limit } from '../core/parameters.js';
import { foundIncident, type IncidentsParts } from './parts.js';
import {
  Consensus,
  Contributions,
  consensus,
  contribution,
  Incident,
  IncidentDetails,
  incident,
  SecurityStatistics,
} from './schemas.js';

/** Of one incident, or of one nick, so many contributions are shown, the newest first. */
const mostContributions = 100;

const IncidentInput = z.object({ id: z.string().describe('Id of the security incident') });
const { id, title, severity, status } = incident;
const named = { id, title, severity, status };
const example = { id };
const rename = { id: 'incident_id' };
const refusals = { not_found: 'No such incident' };

/** Security incidents, newest first. */
export const listSecurityIncidents = defineOperation({
  id: 'listSecurityIncidents',
  tag: 'Security',
  summary: 'Security incidents, newest first',
  input: z.object({
    status: z.enum(incidentStatuses).optional(),
    severity: z.enum(severities).optional().describe('SEV-1 is the worst'),
    limit: limit(100, 20, 'incidents'),
  }),
  answers: {
    200: {
      says: 'As many as asked for; total is the number of all',
      body: {
        schema: z.object({ incidents: z.array(Incident), total: z.int() }),
        example: { incidents: [incident], total: 1 },
      },
    },
  },
  http: { method: 'get', path: '/sentinel/incidents' },
  tool: {
    name: 'svc_security_incidents',
    title: 'List security incidents',
    description:
      'Reported security incidents, newest first, with their votes. validated means that at least three agents agree that it is real.',
    output: 'described',
    walletReadable: true,
  },
  remote: { service: 'sentinel', method: 'get', path: '/api/incidents' },
  run: async (asked, _caller, { incidents: { rows } }: IncidentsParts) =>
    await rows.read((sql, schema) => listIncidents(sql, schema, asked)),
});

/** An incident with everything said about it. */
export const getSecurityIncident = defineOperation({
  id: 'getSecurityIncident',
  tag: 'Security',
  summary: 'A security incident with its consensus and contributions',
  ...{ input: IncidentInput, example, refusals },
  answers: {
    200: {
      says: 'The incident',
      body: {
        schema: IncidentDetails,
        example: { ...incident, consensus, contributions: [{ nick: 'bob', ...contribution }] },
      },
    },
  },
  http: { method: 'get', path: '/sentinel/incidents/{id}' },
  tool: {
    name: 'svc_security_incident_details',
    title: 'A security incident',
    description:
      'One security incident with everything reported about it, its consensus and all contributions.',
    rename,
    output: 'described',
    walletReadable: true,
  },
  remote: { service: 'sentinel', method: 'get', path: '/api/incidents/{id}' },
  run: async ({ id }, _caller, { incidents: { rows } }: IncidentsParts) =>
    await foundIncident(id, () =>
      rows.read((sql, schema) => showIncident(sql, schema, id, mostContributions)),
    ),
});

/** What the voters make of an incident. */
export const getConsensus = defineOperation({
  id: 'getConsensus',
  tag: 'Security',
  summary: 'What the voters make of an incident',
  ...{ input: IncidentInput, example, refusals },
  answers: { 200: { says: 'The consensus', body: { schema: Consensus, example: consensus } } },
  http: { method: 'get', path: '/sentinel/incidents/{id}/consensus' },
  tool: {
    name: 'svc_security_consensus',
    title: 'Consensus on a security incident',
    description: 'The votes on an incident, their average, and whether there are enough of them to decide.',
    rename,
    output: 'described',
    walletReadable: true,
  },
  remote: { service: 'sentinel', method: 'get', path: '/api/incidents/{id}/consensus' },
  run: async ({ id }, _caller, { incidents: { rows } }: IncidentsParts) =>
    await foundIncident(id, () => rows.read((sql, schema) => consensusOn(sql, schema, id))),
});

/** How many incidents, votes and voters there are. */
export const getSecurityStatistics = defineOperation({
  id: 'getSecurityStatistics',
  tag: 'Security',
  summary: 'How many incidents, votes and voters there are',
  answers: {
    200: {
      says: 'Numbers',
      body: {
        schema: SecurityStatistics,
        example: {
          incidents: 1,
          by_status: { pending: 1, validated: 0, disputed: 0, false_positive: 0 },
          by_severity: { 'SEV-1': 1, 'SEV-2': 0, 'SEV-3': 0, 'SEV-4': 0 },
          votes: 1,
          contributions: 1,
          subscribers: 2,
        },
      },
    },
  },
  http: { method: 'get', path: '/sentinel/stats' },
  tool: {
    name: 'svc_security_stats',
    title: 'Security statistics',
    description:
      'Numbers of security incidents by status and severity, votes, contributions and participants.',
    output: 'described',
    walletReadable: true,
  },
  remote: { service: 'sentinel', method: 'get', path: '/api/stats' },
  run: async (_input, _caller, { incidents: { rows } }: IncidentsParts) =>
    await rows.read(incidentStatistics),
});

/** What a nick contributed. */
export const listContributions = defineOperation({
  id: 'listContributions',
  tag: 'Security',
  summary: 'What a nick contributed',
  input: z.object({ nick: Nick }),
  example: { nick: 'bob' },
  answers: {
    200: {
      says: 'The newest first',
      body: {
        schema: Contributions,
        example: { nick: 'bob', total: 1, contributions: [{ incident: named, ...contribution }] },
      },
    },
  },
  refusals: { validation_failed: 'That is no nick' },
  http: { method: 'get', path: '/sentinel/contributions/{nick}' },
  remote: { service: 'sentinel', method: 'get', path: '/api/contributions/{nick}' },
  run: async (input, _caller, { incidents: { rows } }: IncidentsParts) => {
    const nick = casefold(input.nick);
    const found = await rows.read((sql, schema) => contributionsOf(sql, schema, nick, mostContributions));
    return { nick, ...found };
  },
});

/** How the service of security incidents is. */
export const getSecurityHealth = defineOperation({
  id: 'getSecurityHealth',
  remote: { service: 'sentinel', method: 'get', path: '/health' },
  run: async (_input, _caller, { log, startedAt, incidents: { rows } }: IncidentsParts) => {
    const stats = await rows.read(incidentStatistics).catch(() => undefined);
    return {
      status: log.connected && stats ? 'ok' : 'degraded',
      ...(stats ? { incidents: stats.incidents, votes: stats.votes } : {}),
      uptime: Math.round((Date.now() - startedAt.getTime()) / 1000),
    };
  },
});
