import { z } from 'zod';
import { auditedCalls } from '../../../projections/marketplace.js';
import { before, limit, Time, text } from '../core/fields.js';
import { defineForOperators } from '../core/operation.js';
import type { MarketplaceParts } from './passing-on.js';

const AuditedCall = z.object({
  id: z.int(),
  at: Time,
  actor: text('ops'),
  method: text('POST'),
  path: text('/em/tasks/a1b2c3d4/approve'),
  task_id: text('a1b2c3d4').nullable(),
  status: z.int().meta({ example: 200 }).nullable(),
  ms: z.number().meta({ example: 120.5 }).nullable(),
  request_id: text('req-1'),
  body_sha256: text('ab'.repeat(32)),
  error: z.string().nullable(),
});

/** What was changed at the marketplace through this service. */
export const listAudit = defineForOperators('listAudit', {
  summary: 'Calls that changed something at the marketplace',
  input: z.object({
    limit: limit(500, 100, 'calls'),
    before,
  }),
  says: 'Newest first; status is null where it is not known what became of a call',
  output: z.object({ entries: z.array(AuditedCall) }),
  http: { method: 'get', path: '/ops/audit' },
  run: async (page, _caller, { readModels, marketplace }: MarketplaceParts) => ({
    entries: await readModels.read(
      'audit_log',
      (sql, schema) => auditedCalls(sql, schema, page),
      marketplace?.calls.recorded,
    ),
  }),
});
