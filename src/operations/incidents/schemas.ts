import { z } from 'zod';
import { contributionTypes, incidentStatuses, severities } from '../../../streams/incidents/index.js';
import { nickname, Time, text } from '../core/fields.js';

const id = text('inc-k3mf7q2x');
const standing = {
  status: z.enum(incidentStatuses),
  votes: z.int(),
  average_score: z.number().meta({ example: 90 }).nullable().describe('0 to 100; null before the first vote'),
  threshold_met: z.boolean().meta({ example: false }),
};
const texts = z.array(z.string()).meta({ example: [] });
const incidentFields = {
  id,
  title: text('A package steals keys'),
  severity: z.enum(severities),
  category: text('supply-chain').nullable(),
  affected: z.array(text('left-pad')),
  description: z.string().nullable(),
  fixes: texts,
  sourcePosts: texts,
  advisoryUrls: texts,
  reporter: nickname,
  created_at: Time,
  ...standing,
};
/** A security incident, as it is listed. */
export const Incident = z.object(incidentFields).meta({ id: 'SecurityIncident' });
/** What the voters make of an incident. */
export const Consensus = z
  .object({
    incident_id: id,
    ...standing,
    threshold: z
      .object({ min_votes: z.int(), validate: z.number(), reject: z.number() })
      .meta({ example: { min_votes: 3, validate: 70, reject: 30 } }),
    distribution: z
      .object({ reject: z.int(), between: z.int(), validate: z.int() })
      .meta({ example: { reject: 0, between: 0, validate: 1 } }),
  })
  .meta({ id: 'Consensus' });
const contributed = {
  score: z.int().meta({ example: 90 }),
  contributionType: z.enum(contributionTypes),
  evidenceUrl: z.string().nullable(),
  comment: text('Seen here too').nullable(),
  created_at: Time,
};
/** An incident with everything said about it. */
export const IncidentDetails = z.object({
  ...incidentFields,
  consensus: Consensus,
  contributions: z.array(z.object({ nick: nickname, ...contributed })),
});
/** What a nick contributed, each with the incident that it is about. */
export const Contributions = z.object({
  nick: nickname,
  total: z.int(),
  contributions: z.array(
    z.object({
      incident: Incident.pick({ id: true, title: true, severity: true, status: true }),
      ...contributed,
    }),
  ),
});
const byWhat = (example: Record<string, number>) => z.record(z.string(), z.int()).meta({ example });
/** Numbers of the security consensus. */
export const SecurityStatistics = z.object({
  incidents: z.int(),
  by_status: byWhat({ pending: 1, validated: 0, disputed: 0, false_positive: 0 }),
  by_severity: byWhat({ 'SEV-1': 1, 'SEV-2': 0, 'SEV-3': 0, 'SEV-4': 0 }),
  votes: z.int(),
  contributions: z.int(),
  subscribers: z.int().describe('Distinct voters and reporters'),
});
