import { z } from 'zod';
import { contributionTypes, incidentStatuses, severities } from '../../../streams/incidents/index.js';
import { type Description, nickParam, Time } from '../../openapi/description.js';
import { ListQuery, ReportBody, VoteBody } from './service.js';

const average = z.number().nullable().describe('0 to 100; null before the first vote');
const incidentFields = {
  id: z.string(),
  title: z.string(),
  severity: z.enum(severities),
  category: z.string().nullable(),
  affected: z.array(z.string()),
  description: z.string().nullable(),
  fixes: z.array(z.string()),
  sourcePosts: z.array(z.string()),
  advisoryUrls: z.array(z.string()),
  status: z.enum(incidentStatuses),
  reporter: z.string(),
  created_at: Time,
  votes: z.int(),
  average_score: average,
  threshold_met: z.boolean(),
};
/** A security incident, as it is listed. */
export const Incident = z.object(incidentFields).meta({ id: 'SecurityIncident' });
/** What the voters make of an incident. */
export const Consensus = z
  .object({
    incident_id: z.string(),
    status: z.enum(incidentStatuses),
    votes: z.int(),
    average_score: average,
    threshold: z.object({ min_votes: z.int(), validate: z.number(), reject: z.number() }),
    threshold_met: z.boolean(),
    distribution: z.object({ reject: z.int(), between: z.int(), validate: z.int() }),
  })
  .meta({ id: 'Consensus' });
const contributed = {
  score: z.int(),
  contributionType: z.enum(contributionTypes),
  evidenceUrl: z.string().nullable(),
  comment: z.string().nullable(),
  created_at: Time,
};
/** Incidents, newest first. */
export const Incidents = z.object({ incidents: z.array(Incident), total: z.int() });
/** An incident with everything said about it. */
export const IncidentDetails = z.object({
  ...incidentFields,
  consensus: Consensus,
  contributions: z.array(z.object({ nick: z.string(), ...contributed })),
});
/** A vote that counts. */
export const Voted = z.object({ recorded: z.literal(true), consensus: Consensus });
/** Numbers of the security consensus. */
export const SecurityStatistics = z.object({
  incidents: z.int(),
  by_status: z.record(z.string(), z.int()),
  by_severity: z.record(z.string(), z.int()),
  votes: z.int(),
  contributions: z.int(),
  subscribers: z.int().describe('Distinct voters and reporters'),
});
/** TLS certificates as last checked. */
export const Certificates = z.looseObject({
  hosts: z.array(z.string()),
  certs: z.array(
    z.looseObject({
      host: z.string(),
      port: z.int(),
      issuer: z.string().nullable(),
      subject: z.string().nullable(),
      valid_from: Time.nullable(),
      valid_to: Time.nullable(),
      days_until_expiry: z.number().nullable(),
      status: z.string(),
    }),
  ),
  alertTiers: z.array(z.looseObject({ days: z.int(), label: z.string() })),
});
const at = '2026-01-31T12:00:00.000Z';
const incident = {
  id: 'inc-k3mf7q2x',
  title: 'A package steals keys',
  severity: 'SEV-1',
  category: 'supply-chain',
  affected: ['left-pad'],
  description: null,
  fixes: [],
  sourcePosts: [],
  advisoryUrls: [],
  status: 'pending',
  reporter: 'alice',
  created_at: at,
  votes: 1,
  average_score: 90,
  threshold_met: false,
};
const consensus = {
  incident_id: incident.id,
  status: 'pending',
  votes: 1,
  average_score: 90,
  threshold: { min_votes: 3, validate: 70, reject: 30 },
  threshold_met: false,
  distribution: { reject: 0, between: 0, validate: 1 },
};
const contribution = {
  score: 90,
  contributionType: 'confirmation',
  evidenceUrl: null,
  comment: 'Seen here too',
  created_at: at,
};
const id = { schema: z.string(), example: incident.id, says: 'Id of the incident' };
const unknown = { 404: 'No such incident' };

/** Security incidents and what the voters make of them. */
export const securityOperations: Description[] = [
  {
    id: 'listSecurityIncidents',
    method: 'get',
    path: '/sentinel/incidents',
    tag: 'Security',
    summary: 'Security incidents, newest first',
    query: ListQuery,
    answers: {
      200: {
        says: 'As many as asked for; total is the number of all',
        body: {
          schema: Incidents,
          example: { incidents: [incident], total: 1 },
        },
      },
    },
  },
  {
    id: 'reportSecurityIncident',
    method: 'post',
    path: '/sentinel/incidents',
    tag: 'Security',
    access: 'key or wallet',
    summary: 'Report a security incident',
    description: 'With an API key, or signed by the verified wallet of reporterNick.',
    body: {
      schema: ReportBody,
      example: { title: incident.title, severity: 'SEV-1', affected: ['left-pad'], reporterNick: 'alice' },
    },
    answers: { 201: { says: 'It is recorded', body: { schema: Incident, example: incident } } },
    errors: { 404: 'No wallet is linked to the nick that signed' },
  },
  {
    id: 'getSecurityIncident',
    method: 'get',
    path: '/sentinel/incidents/{id}',
    tag: 'Security',
    summary: 'A security incident with its consensus and contributions',
    params: { id },
    answers: {
      200: {
        says: 'The incident',
        body: {
          schema: IncidentDetails,
          example: { ...incident, consensus, contributions: [{ nick: 'bob', ...contribution }] },
        },
      },
    },
    errors: unknown,
  },
  {
    id: 'voteOnSecurityIncident',
    method: 'post',
    path: '/sentinel/incidents/{id}/vote',
    tag: 'Security',
    access: 'key or wallet',
    summary: 'Vote on a security incident',
    description: 'Once for each voter. With an API key, or signed by the verified wallet of voterNick.',
    params: { id },
    body: { schema: VoteBody, example: { voterNick: 'bob', score: 90, comment: 'Seen here too' } },
    answers: {
      200: {
        says: 'It counts',
        body: {
          schema: Voted,
          example: { recorded: true, consensus },
        },
      },
    },
    errors: { ...unknown, 409: 'This voter has voted already' },
  },
  {
    id: 'getConsensus',
    method: 'get',
    path: '/sentinel/incidents/{id}/consensus',
    tag: 'Security',
    summary: 'What the voters make of an incident',
    params: { id },
    answers: { 200: { says: 'The consensus', body: { schema: Consensus, example: consensus } } },
    errors: unknown,
  },
  {
    id: 'getSecurityStatistics',
    method: 'get',
    path: '/sentinel/stats',
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
  },
  {
    id: 'listContributions',
    method: 'get',
    path: '/sentinel/contributions/{nick}',
    tag: 'Security',
    summary: 'What a nick contributed',
    params: { nick: nickParam },
    answers: {
      200: {
        says: 'The newest first',
        body: {
          schema: z.object({
            nick: z.string(),
            total: z.int(),
            contributions: z.array(
              z.object({
                incident: z.object({
                  id: z.string(),
                  title: z.string(),
                  severity: z.enum(severities),
                  status: z.enum(incidentStatuses),
                }),
                ...contributed,
              }),
            ),
          }),
          example: {
            nick: 'bob',
            total: 1,
            contributions: [
              {
                incident: { id: incident.id, title: incident.title, severity: 'SEV-1', status: 'pending' },
                ...contribution,
              },
            ],
          },
        },
      },
    },
    errors: { 400: 'That is no nick' },
  },
  {
    id: 'getCertificateStatus',
    method: 'get',
    path: '/sentinel/cert-status',
    tag: 'Security',
    summary: 'TLS certificates of the network’s endpoints',
    answers: {
      200: {
        says: 'As last checked',
        body: {
          schema: Certificates,
          example: { hosts: [], certs: [], alertTiers: [{ days: 30, level: 'info', label: 'WARN-30' }] },
        },
      },
    },
  },
];
