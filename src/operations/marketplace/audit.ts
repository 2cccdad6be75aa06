import { z } from 'zod';
import { auditedCalls } from '../../../projections/marketplace.js';
import { Time } from '../core/description.js';
import { defineOperation } from '../core/operation.js';
import type { MarketplaceParts } from './passing-on.js';

const AuditedCall = z.object({
  id: z.int(),
  at: Time,
  actor: z.string(),
  method: z.string(),
  path: z.string(),
  task_id: z.string().nullable(),
  status: z.int().nullable(),
  ms: z.number().nullable(),
  request_id: z.string(),
  body_sha256: z.string(),
  error: z.string().nullable(),
});
const call = {
  ...{ id: 1, at: '2026-01-31T12:00:00.000Z', actor: 'ops', method: 'POST' },
  ...{ path: '/em/tasks/a1b2c3d4/approve', task_id: 'a1b2c3d4', status: 200, ms: 120.5 },
  ...{ request_id: 'req-1', body_sha256: 'ab'.repeat(32), error: null },
};

/** What was changed at the marketplace through this service. */
export const listAudit = defineOperation({
  id: 'listAudit',
  tag: 'Operations',
  summary: 'Calls that changed something at the marketplace',
  access: 'key',
  input: z.object({
    limit: z.int().min(1).max(500).default(100),
    before: z.int().min(1).optional().describe('Only those with a smaller id'),
  }),
  answers: {
    200: {
      says: 'Newest first; status is null where it is not known what became of a call',
      body: { schema: z.object({ entries: z.array(AuditedCall) }), example: { entries: [call] } },
    },
  },
  http: { method: 'get', path: '/ops/audit' },
  run: async (page, _caller, { readModels, marketplace }: MarketplaceParts) => ({
    entries: await readModels.read(
      'audit_log',
      (sql, schema) => auditedCalls(sql, schema, page),
      marketplace?.calls.recorded,
    ),
  }),
});
