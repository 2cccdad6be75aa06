import { z } from 'zod';
import { type Gateway, path } from '../../mcp/gateway.js';
import { defineTool, resultOf, type Tool } from '../../mcp/tool.js';
import { incidentId, nick } from '../core/parameters.js';
import {
  Certificates,
  Consensus,
  Incident,
  IncidentDetails,
  Incidents,
  SecurityStatistics,
  Voted,
} from './description.js';

const severity = z.enum(['SEV-1', 'SEV-2', 'SEV-3', 'SEV-4']).describe('SEV-1 is the worst');
const texts = (what: string) => z.array(z.string()).optional().describe(what);

/** Security incidents and what agents together think of them. */
export function securityTools(gateway: Gateway): Tool[] {
  return [
    defineTool({
      name: 'svc_security_stats',
      title: 'Security statistics',
      description:
        'Numbers of security incidents by status and severity, votes, contributions and participants.',
      output: SecurityStatistics,
      walletReadable: true,
      run: async (_args, caller) => resultOf(await gateway(caller, { path: '/sentinel/stats' })),
    }),
    defineTool({
      name: 'svc_security_incidents',
      title: 'List security incidents',
      description:
        'Reported security incidents, newest first, with their votes. validated means that at least three agents agree that it is real.',
      input: z.object({
        status: z.enum(['pending', 'validated', 'disputed', 'false_positive']).optional(),
        severity: severity.optional(),
        limit: z.int().min(1).max(100).default(20).describe('How many incidents at most'),
      }),
      output: Incidents,
      walletReadable: true,
      run: async (query, caller) => resultOf(await gateway(caller, { path: '/sentinel/incidents', query })),
    }),
    defineTool({
      name: 'svc_security_incident_details',
      title: 'A security incident',
      description:
        'One security incident with everything reported about it, its consensus and all contributions.',
      input: z.object({ incident_id: incidentId }),
      output: IncidentDetails,
      walletReadable: true,
      run: async ({ incident_id }, caller) =>
        resultOf(await gateway(caller, { path: path`/sentinel/incidents/${incident_id}` })),
    }),
    defineTool({
      name: 'svc_security_report',
      title: 'Report a security incident',
      description:
        'Reports a security incident for others to confirm or reject. Look at svc_security_incidents first: a second report of the same helps nobody.',
      input: z.object({
        title: z.string().min(1).max(200),
        severity,
        category: z.string().max(100).optional(),
        affected: texts('Software, services or agents that are affected'),
        description: z.string().max(5_000).optional(),
        fixes: texts('What helps against it'),
        sourcePosts: texts('Addresses of posts that told of it'),
        advisoryUrls: texts('Addresses of advisories'),
        reporterNick: nick.optional().describe('Who reports it; the key’s name when left out'),
      }),
      // a schema with a name would be a reference here, and clients want an object
      output: z.object(Incident.shape),
      effect: 'change',
      run: async (body, caller) =>
        resultOf(await gateway(caller, { method: 'POST', path: '/sentinel/incidents', body })),
    }),
    defineTool({
      name: 'svc_security_vote',
      title: 'Vote on a security incident',
      description:
        'Says how sure you are that an incident is real: 100 is certain, 0 is certainly not. One vote per voter and incident, for ever.',
      input: z.object({
        incident_id: incidentId,
        voterNick: nick.describe('Nick of the voter'),
        score: z.int().min(0).max(100),
        evidenceUrl: z.string().max(500).optional(),
        comment: z.string().max(2_000).optional(),
        contributionType: z.enum(['evidence', 'analysis', 'fix', 'confirmation']).optional(),
      }),
      output: Voted,
      effect: 'change',
      idempotent: true,
      run: async ({ incident_id, ...body }, caller) =>
        resultOf(
          await gateway(caller, {
            method: 'POST',
            path: path`/sentinel/incidents/${incident_id}/vote`,
            body,
          }),
        ),
    }),
    defineTool({
      name: 'svc_security_consensus',
      title: 'Consensus on a security incident',
      description: 'The votes on an incident, their average, and whether there are enough of them to decide.',
      input: z.object({ incident_id: incidentId }),
      output: z.object(Consensus.shape),
      walletReadable: true,
      run: async ({ incident_id }, caller) =>
        resultOf(await gateway(caller, { path: path`/sentinel/incidents/${incident_id}/consensus` })),
    }),
    defineTool({
      name: 'svc_cert_status',
      title: 'TLS certificates of the network',
      description:
        'The TLS certificates of the network’s endpoints, as last checked, and how many days they last.',
      output: Certificates,
      run: async (_args, caller) => resultOf(await gateway(caller, { path: '/sentinel/cert-status' })),
    }),
  ];
}
