import t from 'tap';
import type { Sql } from '../../projections/core/sql.js';
import { deliveryQueue } from '../../projections/delivery/fold.js';
import {
  deadLetters,
  deliveryStatus,
  type QueueRow,
  queueCounts,
  queueRow,
  queueStatistics,
} from '../../projections/delivery/queries.js';
import type { Recorded } from '../../streams/core/index.js';
import { eachSql } from '../support/sql.js';
import { expectedRows, queueHistory } from './queue-history.js';

async function fold(sql: Sql, schema: string, facts: Recorded[], batch: number): Promise<void> {
  for (let from = 0; from < facts.length; from += batch) {
    await sql.transaction((tx) => deliveryQueue.apply(tx, facts.slice(from, from + batch), schema));
  }
}

async function createTables(sql: Sql, schema: string): Promise<void> {
  await sql.query(`create schema ${schema}; ${deliveryQueue.ddl(schema)}`);
}

async function allRows(sql: Sql, schema: string): Promise<(QueueRow | undefined)[]> {
  const ids = await sql.query<{ event_id: string }>(`select event_id from ${schema}.events order by id`);
  return await Promise.all(ids.map(({ event_id }) => queueRow(sql, schema, event_id)));
}

const history = queueHistory(300);
const expected = expectedRows(history);
const withStatus = (status: string) => expected.filter((row) => row.status === status);

eachSql(t, async (t, open) => {
  const { sql } = await open();
  const { market, delivery } = history;

  for (const [name, batch, order] of [
    ['one_by_one', 1, [market, delivery]],
    ['in_sevens', 7, [delivery, market]],
    ['at_once', 1_000, [market, delivery]],
    ['at_once_turned', 1_000, [delivery, market]],
  ] as const) {
    t.test(`READ-01 READ-14 rows and counts, folded ${name}`, async (t) => {
      await createTables(sql, name);
      for (const facts of order) await fold(sql, name, facts, batch);
      t.same(await allRows(sql, name), expected);
      t.same(await queueCounts(sql, name), {
        pending: withStatus('pending').length,
        delivered: withStatus('delivered').length,
        dead_letter: withStatus('dead_letter').length,
        expired: withStatus('expired').length,
      });
      for (const day of ['2026-03-01', '2026-03-02', '2026-03-03']) {
        t.same(await queueStatistics(sql, name, new Date(`${day}T12:00:00Z`)), {
          pending: withStatus('pending').length,
          delivered_today: expected.filter((row) => row.delivered_at?.startsWith(day)).length,
          dead_letter: withStatus('dead_letter').length,
          last_event_received: expected.at(-1)!.created_at,
        });
      }
    });
  }

  t.test('READ-15 dead letters and expired events are listed newest first, page by page', async (t) => {
    for (const status of ['dead_letter', 'expired'] as const) {
      const rows: QueueRow[] = [];
      for (;;) {
        const before = rows.at(-1)?.id;
        const page = await deadLetters(sql, 'at_once', { status, limit: 7, ...(before ? { before } : {}) });
        rows.push(...page);
        if (page.length < 7) break;
      }
      t.same(rows, withStatus(status).reverse());
    }
  });

  t.test('READ-14 the status of one event', async (t) => {
    for (const row of expected.slice(0, 40)) {
      t.equal(await deliveryStatus(sql, 'at_once', row.event_id), row.status);
    }
    t.equal(await deliveryStatus(sql, 'at_once', 'never received'), undefined);
    t.equal(await queueRow(sql, 'at_once', 'never received'), undefined);
  });

  t.test('READ-18 what was delivered in the end shows no error', async (t) => {
    const failed = new Set(
      delivery
        .filter(({ type }) => type === 'attempt.failed')
        .map(({ data }) => (data as { seq: number }).seq),
    );
    const mended = expected.filter((row) => row.status === 'delivered' && failed.has(row.id));
    t.ok(mended.length > 10);
    for (const { event_id } of mended) {
      t.equal((await queueRow(sql, 'one_by_one', event_id))?.last_error, null, event_id);
    }
  });

  t.test('READ-14 an empty queue, and one whose events are not folded yet', async (t) => {
    await createTables(sql, 'empty');
    const nothing = { pending: 0, delivered_today: 0, dead_letter: 0, last_event_received: null };
    t.same(await queueStatistics(sql, 'empty', new Date()), nothing);
    t.same(await queueCounts(sql, 'empty'), { pending: 0, delivered: 0, dead_letter: 0, expired: 0 });
    t.same(await deadLetters(sql, 'empty', { status: 'dead_letter', limit: 10 }), []);
    await fold(sql, 'empty', delivery, 50);
    t.equal((await queueStatistics(sql, 'empty', new Date())).pending, 0, 'never less than none');
    t.same(await deadLetters(sql, 'empty', { status: 'dead_letter', limit: 10 }), []);
  });

  t.test('READ-15 the list reads its index and not what was delivered', async (t) => {
    await createTables(sql, 'big');
    await sql.query(`insert into big.outcomes (id, status, retry_count)
      select n, case when n % 5000 = 0 then 'expired' else 'delivered' end, 0 from generate_series(1, 20000) as n`);
    const plan = await sql.query<{ 'QUERY PLAN': string }>(
      `explain select * from big.outcomes as o where o.status = 'expired' and o.status in ('dead_letter', 'expired')
         and o.id < 9223372036854775807 order by o.id desc limit 10`,
    );
    t.match(plan.map((line) => line['QUERY PLAN']).join('\n'), /Index Scan.*status/);
  });
});
