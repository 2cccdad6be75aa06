import t from 'tap';
import type { Sql } from '../../projections/core/sql.js';
import { deliberations } from '../../projections/deliberation/fold.js';
import {
  costSummary,
  listedQueries,
  queryCosts,
  queryCounts,
  queryResponses,
  queryResult,
  storedQuery,
} from '../../projections/deliberation/queries.js';
import type { Recorded } from '../../streams/core/index.js';
import type { DeliberationFact } from '../../streams/deliberation/index.js';
import { eachSql } from '../support/sql.js';
import { history, queryId } from './history.js';

const queries = 40;
const facts = history(queries);

async function rowsOf(sql: Sql, schema: string): Promise<unknown[]> {
  const tables = ['queries order by id', 'calls order by query_id, round, model', 'models order by model'];
  const rows = await Promise.all(tables.map((table) => sql.query(`select * from ${schema}.${table}`)));
  return [...rows, await sql.query(`select * from ${schema}.statuses where queries > 0 order by status`)];
}

/** What a fact says a call cost. */
const costOf = ({ type, data }: Recorded<DeliberationFact>) =>
  type === 'model.asked'
    ? data.lost_nano_usd
    : type === 'response.received' || type === 'response.failed'
      ? data.cost_nano_usd
      : 0;

eachSql(t, async (t, open) => {
  const { sql } = await open();
  const seen: unknown[] = [];
  for (const size of [1, 2, 7, 64, facts.length]) {
    const schema = `deliberations_${size}`;
    await sql.query(`create schema ${schema}; ${deliberations.ddl(schema)}`);
    for (let from = 0; from < facts.length; from += size) {
      await sql.transaction((tx) => deliberations.apply(tx, facts.slice(from, from + size), schema));
    }
    seen.push(await rowsOf(sql, schema));
  }
  for (const rows of seen.slice(1))
    t.same(rows, seen[0], 'BRAIN-20 the same rows, however they were batched');

  const schema = 'deliberations_7';
  t.test('BRAIN-13 costs are what the facts say', async (t) => {
    const expected = facts.reduce((sum, fact) => sum + costOf(fact), 0);
    const summary = await costSummary(sql, schema);
    t.equal(summary.queries, queries);
    t.equal(summary.cost_usd, expected / 1e9);
    t.equal(summary.calls, facts.filter(({ type }) => type === 'model.asked').length);
    const sum = (key: 'cost_usd' | 'estimated_usd') =>
      Math.round(summary.by_model.reduce((sum, model) => sum + model[key], 0) * 1e9) / 1e9;
    t.equal(sum('cost_usd'), summary.cost_usd);
    t.equal(sum('estimated_usd'), summary.estimated_usd);
    t.ok(summary.estimated_usd > 0 && summary.estimated_usd < summary.cost_usd);
    for (const n of [1, 4, 5, 7, 20]) {
      const costs = await queryCosts(sql, schema, (await storedQuery(sql, schema, queryId(n)))!);
      const own = facts
        .filter(({ data }) => data.query_id === queryId(n))
        .reduce((sum, fact) => sum + costOf(fact), 0);
      t.equal(costs.cost_usd, own / 1e9, `query ${n}`);
      const parts = [...costs.by_round, ...(costs.synthesis ? [costs.synthesis] : [])];
      t.equal(Math.round(parts.reduce((sum, { cost_usd }) => sum + cost_usd, 0) * 1e9), own);
    }
  });

  t.test('BRAIN-05 lists', async (t) => {
    const ids = async (owner?: string, status?: 'completed' | 'failed' | 'queued', limit = 100) =>
      (await listedQueries(sql, schema, { owner, status, limit })).map(({ id }) => id);
    const isPublic = (n: number) => n % 3 === 0 || (n % 9 === 0 && n % 7 !== 0);
    const all = Array.from({ length: queries }, (_, n) => n + 1);
    const created = new Map(
      facts.map(({ seq, data, type }) => [type === 'query.created' ? data.query_id : '', seq]),
    );
    const newestFirst = (ns: number[]) => ns.map(queryId).sort((a, b) => created.get(b)! - created.get(a)!);
    t.same(await ids(), newestFirst(all.filter(isPublic)));
    t.same(await ids('ann'), newestFirst(all.filter((n) => n % 3 !== 0)), 'whatever their visibility');
    t.same(await ids('bob'), newestFirst(all.filter((n) => n % 3 === 0)));
    t.same(await ids('carl'), []);
    t.same(await ids('ann', 'failed', 3), (await ids('ann', 'failed')).slice(0, 3));
    t.same((await ids('ann', 'queued')).sort(), [11, 22].map(queryId));
    t.same(await queryCounts(sql, schema), {
      queued: 3,
      running: 0,
      synthesizing: 3,
      failed: 5,
      completed: 29,
    });
  });

  t.test('BRAIN-04 results and responses', async (t) => {
    t.match(await queryResult(sql, schema, queryId(1)), {
      status: 'completed',
      consensus: 'because 1',
      agreement: 0.01,
      dissent: ['not 1'],
      error: null,
      models: ['one', 'two', 'three'],
    });
    t.match(await queryResult(sql, schema, queryId(7)), {
      status: 'failed',
      consensus: null,
      agreement: null,
      dissent: [],
      error: 'too_few_answers',
    });
    t.match(await queryResult(sql, schema, queryId(2)), { agreement: null, consensus: 'because 2' });
    const responses = await queryResponses(sql, schema, queryId(20));
    t.same(
      responses.map(({ model, round, error }) => [model, round, error]),
      [1, 2, 3].flatMap((round) => [
        ['one', round, null],
        ['two', round, 'model_timeout'],
      ]),
    );
    t.match(responses[0], {
      content: 'one in 1\ufffd',
      tokens: { in: 20, out: 1 },
      timing_ms: 5,
      cost_usd: 701 / 1e9,
    });
    t.match(responses[1], { content: null, tokens: { in: 0, out: 0 }, cost_usd: 500 / 1e9 });
    t.equal((await storedQuery(sql, schema, queryId(6)))!.injections, 3);
    t.equal(await storedQuery(sql, schema, queryId(99)), undefined);
  });
});
