import type { Recorded } from '../streams/core/index.js';
import { type AuditFact, audit } from '../streams/marketplace/index.js';
import { defineProjection } from './core/projection.js';
import { json, type Tx } from './core/sql.js';

/** The calls that change something at the marketplace, one row each; `id` is the sequence of their start. */
export const auditLog = defineProjection({
  name: 'audit_log',
  version: 1,
  streams: [audit],
  ddl: (schema) => `
    create table ${schema}.calls (
      id bigint primary key,
      at timestamptz not null,
      actor text not null,
      method text not null,
      path text not null,
      task_id text,
      request_id text not null,
      body_sha256 text not null,
      status integer,
      ms double precision,
      error text
    )`,
  about: {
    calls: {
      says: 'Calls that change something at the marketplace.',
      columns: {
        id: 'Sequence of its start in the stream AUDIT.',
        at: 'When it began.',
        actor: 'Name of the key, or the wallet, that made it.',
        method: 'HTTP method.',
        path: 'Path at the marketplace.',
        task_id: 'Id of the task.',
        request_id: 'Id of the request that led to it.',
        body_sha256: 'SHA-256 of what was sent.',
        status: 'HTTP status of the answer; null while it is not known.',
        ms: 'How long it took, in milliseconds.',
        error: 'Why it failed.',
      },
    },
  },
  apply: async (tx, facts: Recorded<AuditFact>[], schema) => {
    const started = facts.filter((fact) => fact.type === 'call.started');
    const ended = facts.filter((fact) => fact.type === 'call.ended');
    if (started.length > 0) {
      const rows = started.map(({ seq, at, data }) => ({ id: seq, at, ...data }));
      await tx.query(
        `insert into ${schema}.calls (id, at, actor, method, path, task_id, request_id, body_sha256)
         select * from json_to_recordset($1::json) as row (id bigint, at timestamptz, actor text, method text,
           path text, task_id text, request_id text, body_sha256 text)`,
        [json(rows)],
      );
    }
    if (ended.length > 0) {
      await tx.query(
        `update ${schema}.calls set status = ended.status, ms = ended.ms, error = ended.error
         from json_to_recordset($1::json) as ended (call bigint, status integer, ms double precision, error text)
         where id = ended.call`,
        [json(ended.map(({ data }) => data))],
      );
    }
  },
});

/** An audited call as operators see it; `status` and `ms` are `null` until its end is known. */
export interface AuditEntry extends FactData<'call.started'> {
  id: number;
  /** ISO 8601. */
  at: string;
  status: number | null;
  /** Milliseconds. */
  ms: number | null;
  error: string | null;
}

type FactData<Type> = Extract<AuditFact, { type: Type }>['data'];

/** The newest calls before an id, newest first. */
export async function auditedCalls(
  sql: Tx,
  schema: string,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<AuditEntry[]> {
  const rows = await sql.query<Omit<AuditEntry, 'at'> & { at: Date }>(
    `select id, at, actor, method, path, task_id, status, ms, request_id, body_sha256, error
     from ${schema}.calls where $2::bigint is null or id < $2::bigint order by id desc limit $1`,
    [limit, before ?? null],
  );
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }));
}
