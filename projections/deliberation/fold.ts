import type { Recorded } from '../../streams/core/index.js';
import { type DeliberationFact, deliberation } from '../../streams/deliberation/index.js';
import { defineProjection } from '../core/projection.js';
import { type RowOf, Rows, rowsOf } from '../core/rows.js';
import { json, type Tx } from '../core/sql.js';
import { aboutDeliberations } from './about.js';

/** A query as it is stored. */
export const queryRows = new Rows({
  id: 'text collate "C" primary key',
  n: 'bigint not null',
  owner: 'text not null',
  visibility: 'text not null',
  status: 'text not null',
  strategy: 'text not null',
  models: 'text not null',
  rounds: 'integer not null',
  prompt: 'text not null',
  ceiling: 'bigint not null',
  injections: 'integer not null',
  created_at: 'timestamptz not null',
  started_at: 'timestamptz',
  completed_at: 'timestamptz',
  error: 'text',
  consensus: 'text',
  agreement: 'double precision',
  dissent: 'text',
});

const ending = {
  ended_seq: 'bigint',
  content: 'text',
  finish: 'text',
  error: 'text',
  ms: 'double precision',
} as const;
const spent = {
  tokens_in: 'bigint not null',
  tokens_out: 'bigint not null',
  cost: 'bigint not null',
  estimated: 'bigint not null',
} as const;
const [endingRows, spentRows] = [new Rows(ending), new Rows(spent)];
const callRows = new Rows({
  query_id: 'text collate "C" not null',
  round: 'integer not null',
  model: 'text collate "C" not null',
  attempts: 'integer not null',
  ...ending,
  ...spent,
});
const modelRows = new Rows({
  model: 'text collate "C" primary key',
  attempts: 'bigint not null',
  answers: 'bigint not null',
  failures: 'bigint not null',
  ...spent,
});

/**
 * Queries to several models. `queries` has one row each, `n` is the sequence of its creation. `calls` has one for
 * each model and round, over all attempts; round 0 is the synthesis, and `ended_seq` is the sequence of its
 * answer or of its final failure. `models` sums up over all queries, `statuses` counts them. Money is in
 * billionths of a US dollar; `estimated` is the part of `cost` that no provider stated.
 */
export const deliberations = defineProjection({
  name: 'deliberations',
  version: 2,
  streams: [deliberation],
  about: aboutDeliberations,
  ddl: (schema) => `
    ${queryRows.create(`${schema}.queries`)}
    create index on ${schema}.queries (n) where visibility = 'public';
    create index on ${schema}.queries (status, n) where visibility = 'public';
    create index on ${schema}.queries (owner, n);
    create index on ${schema}.queries (owner, status, n);
    ${callRows.create(`${schema}.calls`, { constraints: ['primary key (query_id, round, model)'] })}
    ${modelRows.create(`${schema}.models`)}
    create table ${schema}.statuses (status text primary key, queries bigint not null)`,
  apply: async (tx, facts, schema) => {
    await addQueries(tx, facts, schema);
    await changeQueries(tx, facts, schema);
    const changes = facts.flatMap(callChange);
    if (changes.length === 0) return;
    await changeCalls(tx, changes, schema);
    await changeModels(tx, changes, schema);
  },
});

async function addQueries(tx: Tx, facts: Recorded<DeliberationFact>[], schema: string): Promise<void> {
  const rows = facts.flatMap((fact) => {
    if (fact.type !== 'query.created') return [];
    const { query_id: id, models, ceiling_nano_usd: ceiling, ...query } = fact.data;
    return [{ ...query, id, models: json(models), ceiling, n: fact.seq, created_at: fact.at }];
  });
  if (rows.length === 0) return;
  await tx.query(
    `insert into ${schema}.queries (id, n, owner, visibility, status, strategy, models, rounds, prompt, ceiling,
       injections, created_at)
     select id, n, owner, visibility, 'queued', strategy, models, rounds, prompt, ceiling, 0, created_at
     from json_to_recordset($1::json) as row (id text, n bigint, owner text, visibility text, strategy text,
       models text, rounds integer, prompt text, ceiling bigint, created_at timestamptz)`,
    [json(rows)],
  );
  await countStatuses(tx, new Map([['queued', rows.length]]), schema);
}

const changeRows = new Rows({
  ...{
    id: 'text',
    status: 'text',
    visibility: 'text',
    started_at: 'timestamptz',
    completed_at: 'timestamptz',
  },
  ...{
    error: 'text',
    consensus: 'text',
    agreement: 'double precision',
    dissent: 'text',
    injections: 'integer',
  },
});

/** What a batch changes of a query; what it leaves alone is absent. */
interface QueryChange {
  status?: string;
  visibility?: string;
  started_at?: Date;
  completed_at?: Date;
  error?: string;
  consensus?: string;
  agreement?: number | null;
  dissent?: string;
  injections: number;
}

async function changeQueries(tx: Tx, facts: Recorded<DeliberationFact>[], schema: string): Promise<void> {
  const changes = new Map<string, QueryChange>();
  for (const fact of facts) {
    const { query_id } = fact.data;
    const before = changes.get(query_id) ?? { injections: 0 };
    const change = queryChange(before, fact);
    if (change) changes.set(query_id, change);
  }
  if (changes.size === 0) return;
  const ids = [...changes.keys()];
  const table = `${schema}.queries`;
  const stored = await rowsOf<{ id: string; status: string }>(tx, table, { id: ids }, 'id, status');
  const moved = new Map<string, number>();
  const count = (status: string, by: number) => moved.set(status, (moved.get(status) ?? 0) + by);
  for (const { id, status } of stored) {
    const { status: now = status } = changes.get(id)!;
    if (now === status) continue;
    count(status, -1);
    count(now, 1);
  }
  await tx.query(
    `update ${table} as q set ${changeRows.changed('c', 'q', 'id', 'injections')},
       injections = q.injections + c.injections
     from ${changeRows.fromJson('c')} where q.id = c.id`,
    [json([...changes].map(([id, change]) => ({ id, ...change })))],
  );
  await countStatuses(tx, moved, schema);
}

/** The change together with what one more fact changes; `undefined` when that is nothing. */
function queryChange(before: QueryChange, fact: Recorded<DeliberationFact>): QueryChange | undefined {
  const { type, data, at } = fact;
  switch (type) {
    case 'query.started':
      return { ...before, status: 'running', started_at: at };
    case 'model.asked':
      return data.round === 0 ? { ...before, status: 'synthesizing' } : undefined;
    case 'context.injected':
      return { ...before, injections: before.injections + 1 };
    case 'synthesis.completed': {
      const { consensus, agreement, dissent } = data;
      return { ...before, status: 'synthesizing', consensus, agreement, dissent: json(dissent) };
    }
    case 'query.completed':
      return { ...before, status: 'completed', completed_at: at };
    case 'query.failed':
      return { ...before, status: 'failed', completed_at: at, error: data.code };
    case 'visibility.changed':
      return { ...before, visibility: data.visibility };
    default:
      return undefined;
  }
}

/** What a fact changes of the call of a model in a round. */
type CallChange = RowOf<typeof callRows> & { answers: number; failures: number };

function callChange(fact: Recorded<DeliberationFact>): CallChange[] {
  const { type, data, seq } = fact;
  const nothing = {
    attempts: 0,
    answers: 0,
    failures: 0,
    tokens_in: 0,
    tokens_out: 0,
    cost: 0,
    estimated: 0,
  };
  const open = { ended_seq: null, content: null, finish: null, error: null, ms: null };
  switch (type) {
    case 'model.asked': {
      const { query_id, round, model, lost_nano_usd: cost } = data;
      return [{ query_id, round, model, ...nothing, ...open, attempts: 1, cost, estimated: cost }];
    }
    case 'response.received': {
      const { query_id, round, model, content, finish, ms, tokens, cost_nano_usd: cost } = data;
      const sums = { answers: 1, tokens_in: tokens.in, tokens_out: tokens.out, cost };
      const estimated = data.estimated ? cost : 0;
      const ended = { ended_seq: seq, content, finish, ms };
      return [{ query_id, round, model, ...nothing, ...open, ...sums, estimated, ...ended }];
    }
    case 'response.failed': {
      const { query_id, round, model, ms, code, final, cost_nano_usd: cost } = data;
      const ended = final ? { ended_seq: seq, error: code, ms } : {};
      const sums = { failures: 1, cost, estimated: cost };
      return [{ query_id, round, model, ...nothing, ...open, ...sums, ...ended }];
    }
    default:
      return [];
  }
}

async function changeCalls(tx: Tx, changes: CallChange[], schema: string): Promise<void> {
  const rows = summed(changes, ({ query_id, round, model }) => `${query_id} ${round} ${model}`);
  await tx.query(
    `insert into ${schema}.calls as c (${callRows.names}) select * from ${callRows.fromJson('row')}
     on conflict (query_id, round, model) do update set
       attempts = c.attempts + excluded.attempts, ${endingRows.changed('excluded', 'c')}, ${spentRows.added('c')}`,
    [json(rows)],
  );
}

async function changeModels(tx: Tx, changes: CallChange[], schema: string): Promise<void> {
  await tx.query(
    `insert into ${schema}.models as m
     select * from ${modelRows.fromJson('row')}
     on conflict (model) do update set ${modelRows.added('m', 'model')}`,
    [json(summed(changes, ({ model }) => model))],
  );
}

/** One change for each key: counts and amounts are added, and of the rest the last word counts. */
function summed(changes: CallChange[], keyOf: (change: CallChange) => string): CallChange[] {
  const rows = new Map<string, CallChange>();
  for (const change of changes) {
    const before = rows.get(keyOf(change));
    rows.set(keyOf(change), before ? added(before, change) : change);
  }
  return [...rows.values()];
}

function added(a: CallChange, b: CallChange): CallChange {
  return {
    ...b,
    attempts: a.attempts + b.attempts,
    answers: a.answers + b.answers,
    failures: a.failures + b.failures,
    ended_seq: b.ended_seq ?? a.ended_seq,
    content: b.content ?? a.content,
    finish: b.finish ?? a.finish,
    error: b.error ?? a.error,
    ms: b.ms ?? a.ms,
    tokens_in: a.tokens_in + b.tokens_in,
    tokens_out: a.tokens_out + b.tokens_out,
    cost: a.cost + b.cost,
    estimated: a.estimated + b.estimated,
  };
}

async function countStatuses(tx: Tx, by: Map<string, number>, schema: string): Promise<void> {
  if (by.size === 0) return;
  await tx.query(
    `insert into ${schema}.statuses as s select * from json_to_recordset($1::json) as row (status text, queries bigint)
     on conflict (status) do update set queries = s.queries + excluded.queries`,
    [json([...by].map(([status, queries]) => ({ status, queries })))],
  );
}
