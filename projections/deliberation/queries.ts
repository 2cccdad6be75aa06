import {
  type DeliberationData,
  type QueryStatus,
  type Strategy,
  usd,
  type Visibility,
} from '../../streams/deliberation/index.js';
import type { RowOf } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import type { queryRows } from './fold.js';

/** A query as it is stored, without its result; `ceiling` is in billionths of a US dollar. */
export type StoredQuery = Omit<RowOf<typeof queryRows>, 'n' | 'consensus' | 'agreement' | 'dissent'> & {
  visibility: Visibility;
  status: QueryStatus;
  strategy: Strategy;
};

/** A query as callers see it; times are ISO 8601. */
export interface QueryView {
  id: string;
  status: QueryStatus;
  strategy: Strategy;
  models: string[];
  visibility: Visibility;
  rounds: number;
  prompt: string;
  /** How many contexts were injected. */
  injections: number;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  /** Milliseconds from the start to the end; `null` before that. */
  timing_ms: number | null;
  /** Stable code of why it failed. */
  error: string | null;
}

/** What a model answered in a round, or why it did not. */
export interface ResponseView {
  model: string;
  round: number;
  content: string | null;
  /** Milliseconds. */
  timing_ms: number;
  tokens: { in: number; out: number };
  cost_usd: number;
  /** Stable code; `null` where it answered. */
  error: string | null;
}

/** The result of a query. `consensus` and `agreement` are `null` before it is completed, and if it failed. */
export interface QueryResult {
  id: string;
  status: QueryStatus;
  consensus: string | null;
  agreement: number | null;
  dissent: string[];
  models: string[];
  completed_at: string | null;
  error: string | null;
}

/** What calls cost, in US dollars; `estimated_usd` is the part that no provider stated. */
export interface Costs {
  /** Attempts that were made. */
  calls: number;
  tokens: { in: number; out: number };
  cost_usd: number;
  estimated_usd: number;
}

/** What one query costs so far. */
export interface QueryCosts extends Costs {
  id: string;
  ceiling_usd: number;
  /** The costs of each model, those of the synthesis included. */
  by_model: ({ model: string } & Costs)[];
  by_round: ({ round: number } & Costs)[];
  synthesis: Costs | null;
}

/** What all queries cost so far. */
export interface CostSummary extends Costs {
  queries: number;
  by_model: ({ model: string; answers: number; failures: number } & Costs)[];
}

const columns =
  'id, owner, visibility, status, strategy, models, rounds, prompt, ceiling, injections, created_at, started_at, ' +
  'completed_at, error';

/** One query; `undefined` if it does not exist. */
export async function storedQuery(sql: Tx, schema: string, id: string): Promise<StoredQuery | undefined> {
  const [row] = await sql.query<StoredQuery>(`select ${columns} from ${schema}.queries where id = $1`, [id]);
  return row;
}

/** The newest public queries, or all queries of one owner, newest first. */
export async function listedQueries(
  sql: Tx,
  schema: string,
  { owner, status, limit }: { owner: string | undefined; status?: QueryStatus | undefined; limit: number },
): Promise<QueryView[]> {
  const whose = owner === undefined ? "visibility = 'public'" : 'owner = $2';
  const params = [limit, ...(owner === undefined ? [] : [owner])];
  const ofStatus = status === undefined ? '' : `and status = $${params.length + 1}`;
  const rows = await sql.query<StoredQuery>(
    `select ${columns} from ${schema}.queries where ${whose} ${ofStatus} order by n desc limit $1`,
    status === undefined ? params : [...params, status],
  );
  return rows.map(queryView);
}

/** A stored query as callers see it. */
export function queryView(row: StoredQuery): QueryView {
  const { id, status, strategy, visibility, rounds, prompt, injections, error } = row;
  const { created_at, started_at, completed_at } = row;
  return {
    id,
    status,
    strategy,
    models: JSON.parse(row.models) as string[],
    visibility,
    rounds,
    prompt,
    injections,
    created_at: created_at.toISOString(),
    started_at: started_at?.toISOString() ?? null,
    completed_at: completed_at?.toISOString() ?? null,
    timing_ms: started_at && completed_at ? completed_at.getTime() - started_at.getTime() : null,
    error,
  };
}

/** A newly created query, as callers see it. */
export function queuedView(data: DeliberationData<'query.created'>, created_at: Date): QueryView {
  const { query_id: id, models, ceiling_nano_usd: ceiling, ...query } = data;
  const nothingYet = { injections: 0, started_at: null, completed_at: null, error: null };
  const stored = { ...query, ...nothingYet, id, ceiling, models: JSON.stringify(models), created_at };
  return queryView({ ...stored, status: 'queued' });
}

/** The result of a query; `undefined` if the query does not exist. */
export async function queryResult(sql: Tx, schema: string, id: string): Promise<QueryResult | undefined> {
  const [row] = await sql.query<
    StoredQuery & { consensus: string | null; agreement: number | null; dissent: string | null }
  >(`select ${columns}, consensus, agreement, dissent from ${schema}.queries where id = $1`, [id]);
  if (!row) return undefined;
  const { status, models, completed_at, error } = queryView(row);
  const { consensus, agreement, dissent } = row;
  const said = { consensus, agreement, dissent: JSON.parse(dissent ?? '[]') as string[] };
  return { id, status, ...said, models, completed_at, error };
}

/** What the models of a query answered, in the order in which it was recorded. */
export async function queryResponses(sql: Tx, schema: string, id: string): Promise<ResponseView[]> {
  const rows = await sql.query<
    Sums & { model: string; round: number; content: string | null; ms: number } & {
      error: string | null;
    }
  >(
    `select model, round, content, ms, error, attempts, tokens_in, tokens_out, cost, estimated
     from ${schema}.calls where query_id = $1 and round > 0 and ended_seq is not null order by ended_seq`,
    [id],
  );
  return rows.map(({ model, round, content, ms, error, ...sums }) => {
    const { tokens, cost_usd } = costsOf([sums]);
    return { model, round, content, timing_ms: ms, tokens, cost_usd, error };
  });
}

interface Sums {
  attempts: number;
  tokens_in: number;
  tokens_out: number;
  cost: number;
  estimated: number;
}

/** The cost of a query so far; calls under way are counted separately. */
export async function queryCosts(sql: Tx, schema: string, { id, ceiling }: StoredQuery): Promise<QueryCosts> {
  const rows = await sql.query<Sums & { model: string; round: number }>(
    `select model, round, attempts, tokens_in, tokens_out, cost, estimated from ${schema}.calls
     where query_id = $1 order by round, model`,
    [id],
  );
  const synthesis = rows.filter(({ round }) => round === 0);
  const by = <Key extends 'model' | 'round'>(key: Key, among: typeof rows) =>
    [...new Set(among.map((row) => row[key]))].map((value) => ({
      [key]: value,
      ...costsOf(among.filter((row) => row[key] === value)),
    }));
  return {
    id,
    ...costsOf(rows),
    ceiling_usd: usd(ceiling),
    by_model: by('model', rows) as QueryCosts['by_model'],
    by_round: by(
      'round',
      rows.filter(({ round }) => round > 0),
    ) as QueryCosts['by_round'],
    synthesis: synthesis.length > 0 ? costsOf(synthesis) : null,
  };
}

/** What all queries cost, by model. */
export async function costSummary(sql: Tx, schema: string): Promise<CostSummary> {
  const rows = await sql.query<Sums & { model: string; answers: number; failures: number }>(
    `select model, attempts, answers, failures, tokens_in, tokens_out, cost, estimated
     from ${schema}.models order by model`,
  );
  const counts = await queryCounts(sql, schema);
  return {
    queries: Object.values(counts).reduce((sum, count) => sum + count, 0),
    ...costsOf(rows),
    by_model: rows.map((row) => ({
      model: row.model,
      answers: row.answers,
      failures: row.failures,
      ...costsOf([row]),
    })),
  };
}

/** How many queries there are of each status. */
export async function queryCounts(sql: Tx, schema: string): Promise<Record<QueryStatus, number>> {
  const rows = await sql.query<{ status: QueryStatus; queries: number }>(
    `select status, queries from ${schema}.statuses`,
  );
  const none = { queued: 0, running: 0, synthesizing: 0, completed: 0, failed: 0 };
  return { ...none, ...Object.fromEntries(rows.map(({ status, queries }) => [status, queries])) };
}

function costsOf(rows: Sums[]): Costs {
  const sum = (key: keyof Sums) => rows.reduce((sum, row) => sum + row[key], 0);
  return {
    calls: sum('attempts'),
    tokens: { in: sum('tokens_in'), out: sum('tokens_out') },
    cost_usd: usd(sum('cost')),
    estimated_usd: usd(sum('estimated')),
  };
}
