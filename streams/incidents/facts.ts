import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';

/** How bad an incident is, worst first, in the contract's words. */
export const severities = ['SEV-1', 'SEV-2', 'SEV-3', 'SEV-4'] as const;
export type Severity = (typeof severities)[number];

/** What the voters decided about an incident, in the contract's words. */
export const incidentStatuses = ['pending', 'validated', 'disputed', 'false_positive'] as const;
export type IncidentStatus = (typeof incidentStatuses)[number];

/** What a vote brings along. */
export const contributionTypes = ['evidence', 'analysis', 'fix', 'confirmation'] as const;
export type ContributionType = (typeof contributionTypes)[number];

/** Security incidents, and what agents think of them. */
export const incidents = defineStream({
  name: 'INCIDENTS',
  description: 'Security incidents, and what agents think of them.',
  subjects: ['incidents.>'],
  share: 0.5,
  facts: {
    'incident.reported': z.object({
      id: z.string(),
      title: z.string(),
      severity: z.enum(severities),
      category: z.string().nullable(),
      affected: z.array(z.string()),
      description: z.string().nullable(),
      fixes: z.array(z.string()),
      sourcePosts: z.array(z.string()),
      advisoryUrls: z.array(z.string()),
      /** A nick, or the name of the key with which it was reported. */
      reporter: z.string(),
      /** Address of the reporter's wallet, in lower case, if the reporter acted in person. */
      person: z.string().optional(),
    }),
    'vote.cast': z.object({
      /** The id of the incident. */
      id: z.string(),
      /** Nick. */
      voter: z.string(),
      /** 0: there is nothing to it; 100: it is as reported. */
      score: z.int().min(0).max(100),
      contributionType: z.enum(contributionTypes),
      evidenceUrl: z.string().nullable(),
      comment: z.string().nullable(),
      /** Address of the voter's wallet, in lower case, if the voter acted in person. */
      person: z.string().optional(),
      /**
       * `false` for a voter's own vote when neither an operator nor a paid task vouched for them. Absent: it
       * counts by itself.
       */
      stands: z.boolean().optional(),
      /** The status of the incident after this vote. */
      status: z.enum(incidentStatuses),
    }),
  },
});

export type IncidentFact = FactOf<typeof incidents>;
/** What is reported. */
export type IncidentReport = Extract<IncidentFact, { type: 'incident.reported' }>['data'];
/** What a voter says. */
export type Vote = Omit<Extract<IncidentFact, { type: 'vote.cast' }>['data'], 'status'>;

/** Whether a text is the id of an incident. */
export function isIncidentId(text: string): boolean {
  return /^inc-[a-z0-9]{8}$/.test(text);
}

/** Subject of an incident. One vote per voter, and the status after each vote, are decided per incident. */
export function incidentSubject(id: string): string {
  return `incidents.${id}`;
}
