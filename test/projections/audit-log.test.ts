import t from 'tap';
import { auditedCalls, auditLog } from '../../projections/marketplace.js';
import type { Recorded } from '../../streams/core/index.js';
import type { AuditFact } from '../../streams/marketplace/index.js';
import { eachSql } from '../support/sql.js';

const body_sha256 = '0'.repeat(64);

/** Twenty calls that overlap: each ends three facts after it started, the last ones never. */
function history(): Recorded<AuditFact>[] {
  const facts: Recorded<AuditFact>[] = [];
  const started: number[] = [];
  const tell = (fact: AuditFact) => {
    const seq = facts.length + 1;
    const at = new Date(Date.parse('2026-03-01T00:00:00Z') + seq * 1_000);
    facts.push({ ...fact, id: `a${seq}`, stream: 'AUDIT', subject: 'any', seq, at, by: 'ann', cause: null });
    return seq;
  };
  for (let n = 1; n <= 20; n++) {
    const data = {
      actor: 'ann',
      method: 'POST',
      path: `/em/tasks/${n}\0/bid`,
      task_id: n % 3 ? `${n}` : null,
    };
    started.push(tell({ type: 'call.started', data: { ...data, request_id: `r${n}`, body_sha256 } }));
    const call = n > 3 && n < 18 ? started.at(-4) : undefined;
    if (call === undefined) continue;
    tell({
      type: 'call.ended',
      data: { call, status: n % 2 ? 200 : 502, ms: n / 2, error: n % 2 ? null : 'marketplace_timeout' },
    });
  }
  return facts;
}

eachSql(t, async (t, open) => {
  const { sql } = await open();
  const facts = history();
  const seen = [];
  for (const size of [1, 3, 7, facts.length]) {
    const schema = `audit_${size}`;
    await sql.query(`create schema ${schema}; ${auditLog.ddl(schema)}`);
    for (let from = 0; from < facts.length; from += size) {
      await sql.transaction((tx) => auditLog.apply(tx, facts.slice(from, from + size), schema));
    }
    seen.push(await auditedCalls(sql, schema, { limit: 500 }));
  }
  for (const other of seen.slice(1))
    t.same(other, seen[0], 'EM-10 the same calls, however they were batched');
  const [newest] = seen[0]!;
  t.match(newest, { path: '/em/tasks/20\ufffd/bid', status: null, ms: null, error: null });
  t.equal(seen[0]!.length, 20);
  t.equal(seen[0]!.filter(({ status }) => status === null).length, 6, 'what became of the last is not known');
  t.match(seen[0]!.at(-1), { id: 1, task_id: '1', status: 502, ms: 2, error: 'marketplace_timeout' });

  const page = await auditedCalls(sql, 'audit_1', { limit: 5, before: seen[0]![4]!.id });
  t.same(page, seen[0]!.slice(5, 10));
});
