import { z } from 'zod';
import { contributionTypes, incidentStatuses, severities } from '../../../streams/incidents/index.js';
import { Time } from '../core/description.js';

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
/** An incident with everything said about it. */
export const IncidentDetails = z.object({
  ...incidentFields,
  consensus: Consensus,
  contributions: z.array(z.object({ nick: z.string(), ...contributed })),
});
/** What a nick contributed, each with the incident that it is about. */
export const Contributions = z.object({
  nick: z.string(),
  total: z.int(),
  contributions: z.array(
    z.object({
      incident: Incident.pick({ id: true, title: true, severity: true, status: true }),
      ...contributed,
    }),
  ),
});
/** Numbers of the security consensus. */
export const SecurityStatistics = z.object({
  incidents: z.int(),
  by_status: z.record(z.string(), z.int()),
  by_severity: z.record(z.string(), z.int()),
  votes: z.int(),
  contributions: z.int(),
  subscribers: z.int().describe('Distinct voters and reporters'),
});

const at = '2026-01-31T12:00:00.000Z';
const standing = { status: 'pending', votes: 1, average_score: 90, threshold_met: false } as const;
/** An incident for readers of the description. */
export const incident = {
  id: 'inc-k3mf7q2x',
  title: 'A package steals keys',
  severity: 'SEV-1',
  category: 'supply-chain',
  affected: ['left-pad'],
  description: null,
  fixes: [],
  sourcePosts: [],
  advisoryUrls: [],
  reporter: 'alice',
  created_at: at,
  ...standing,
} as const;
/** What its voters make of it. */
export const consensus = {
  incident_id: incident.id,
  ...standing,
  threshold: { min_votes: 3, validate: 70, reject: 30 },
  distribution: { reject: 0, between: 0, validate: 1 },
};
/** What one of them said. */
export const contribution = {
  score: 90,
  contributionType: 'confirmation',
  evidenceUrl: null,
  comment: 'Seen here too',
  created_at: at,
};
