import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { openSql } from '../../projections/core/open-sql.js';
import { askBounded, type Bounds, distinctNames } from '../../src/cli/projections/bounded-query.js';
import type { QueryConnection } from '../../src/cli/projections/query-connection.js';
import { openPgliteQuery } from '../../src/cli/projections/query-pglite.js';
import { openPostgresQuery } from '../../src/cli/projections/query-postgres.js';
import { eventually } from '../support/eventually.js';
import { startPostgres, temporaryDirectory } from '../support/sql.js';

const logger = pino({ level: 'silent' });
/** More than the time of any test. */
const endless = 'select count(*) from generate_series(1, 500000) x, generate_series(1, 100000) y';

t.test('OPERATE-17 columns of the same name are told apart', async (t) => {
  t.same(distinctNames([]), []);
  t.same(distinctNames(['a', 'b']), ['a', 'b']);
  t.same(distinctNames(['a', 'b', 'a', 'a', 'b']), ['a', 'b', 'a_2', 'a_3', 'b_2']);
  t.same(distinctNames(['a', 'a', 'a_2']), ['a', 'a_3', 'a_2'], 'a name that is taken stays what it is');
  t.same(distinctNames(['a_2', 'a', 'a', 'a_2']), ['a_2', 'a', 'a_3', 'a_2_2']);
});

t.test('on PGlite', async (t) => {
  const directory = join(await temporaryDirectory(t), 'pg');
  await mkdir(directory, { recursive: true });
  const sql = await openSql({ directory, logger });
  await sql.query('create table numbers as select n from generate_series(1, 2000) n');
  await sql.close();
  await bounded(t, () => openPgliteQuery(directory));
});

t.test('on PostgreSQL', async (t) => {
  const { url } = await startPostgres(t);
  const sql = await openSql({ databaseUrl: url, directory: '', logger });
  t.teardown(() => sql.close());
  await sql.query('create table numbers as select n from generate_series(1, 2000) n');
  await bounded(t, () => openPostgresQuery(url, 60_000));

  await t.test('OPERATE-17 a role that may not bound temporary files can ask', async (t) => {
    await sql.query('create role reader login; grant select on numbers to reader');
    const connection = await openPostgresQuery(url.replace('//relay@', '//reader@'), 60_000);
    t.teardown(() => connection.close());
    const bounds = { ...wide, stop: new AbortController().signal };
    t.same((await askBounded(connection, 'public', 'select count(*) from numbers', bounds)).rows, [[2_000]]);
    await t.rejects(askBounded(connection, 'public', 'select * from pg_authid', bounds), {
      kind: 'usage',
      message: 'the query is wrong: permission denied for table pg_authid (42501)',
    });
  });

  await t.test('OPERATE-16 what is cancelled ends on the server too', async (t) => {
    const connection = await openPostgresQuery(url, 60_000);
    t.teardown(() => connection.close());
    const [[pid]] = (await connection.run('select pg_backend_pid()')).rows as [[number]];
    const stop = new AbortController();
    const asked = askBounded(connection, 'public', endless, { ...wide, stop: stop.signal });
    const active = () =>
      sql.query<{ query: string }>("select query from pg_stat_activity where pid = $1 and state <> 'idle'", [
        pid,
      ]);
    await eventually('the query to run', async () => (await active())[0]?.query.startsWith('fetch'));
    stop.abort();
    await t.rejects(asked, { code: 'interrupted' });
    t.same((await active()).length, 1, 'not yet');
    await connection.cancel();
    t.same(await active(), [], 'neither a statement nor a transaction');
    await t.rejects(connection.run('select 1'), { message: /cancelled/ }, 'and none begins');
  });

  await t.test('OPERATE-16 what nobody could cancel ends when its program has gone', async (t) => {
    const connection = await openPostgresQuery(url, 60_000);
    const asked = askBounded(connection, 'public', endless, { ...wide, stop: new AbortController().signal });
    const active = () =>
      sql.query("select from pg_stat_activity where application_name = 'relay replay' and state <> 'idle'");
    await eventually('the query to run', async () => (await active()).length > 0);
    await Promise.all([connection.close(), t.rejects(asked, { message: /The read store is not available/ })]);
    await eventually('the query to end', async () => (await active()).length === 0);
  });
});

const wide = { timeoutMs: 60_000, rows: 10_000, size: 10_000_000, temporary: 1_000_000_000 };

async function bounded(t: Test, open: () => Promise<QueryConnection>): Promise<void> {
  let connection = await open();
  t.teardown(() => connection.close());
  const ask = (query: string, over: Partial<Bounds> = {}) =>
    askBounded(connection, 'public', query, { ...wide, stop: new AbortController().signal, ...over });

  await t.test('OPERATE-17 answers are whole, with all columns', async (t) => {
    t.same(await ask('select 1 as a, 2 as a, $$x$$ as b'), {
      columns: ['a', 'a', 'b'],
      rows: [[1, 2, 'x']],
    });
    t.same(await ask('select n from numbers where false'), { columns: ['n'], rows: [] });
    const { rows } = await ask('table numbers;');
    t.same(
      rows,
      Array.from({ length: 2_000 }, (_, index) => [index + 1]),
      'in their order',
    );
    t.same(await ask('show search_path'), { columns: ['search_path'], rows: [['public']] });
    t.match(await ask('explain (costs off) select n from numbers'), { rows: [['Seq Scan on numbers']] });
    t.same(
      (await ask("select 9007199254740991, 1.50, date '2026-01-02', timestamp '2026-01-02 03:04'")).rows,
      [[9007199254740991, '1.50', '2026-01-02', new Date('2026-01-02T03:04:00Z')]],
    );
  });

  await t.test('OPERATE-17 an answer that is too large is refused', async (t) => {
    for (const rows of [1, 499, 500, 501, 1_000]) {
      const query = `select n from numbers limit ${rows}`;
      t.equal((await ask(query, { rows })).rows.length, rows, `${rows} of ${rows}`);
      await t.rejects(
        ask(`select n from numbers limit ${rows + 1}`, { rows }),
        { code: 'answer_too_large', message: `the answer has more than ${rows} rows`, hint: /LIMIT/ },
        `one more than ${rows}`,
      );
    }
    const wideRows = "select repeat('x', 998) from numbers limit";
    t.equal((await ask(`${wideRows} 9`, { size: 9_020 })).rows.length, 9, 'brackets and quotes count');
    await t.rejects(ask(`${wideRows} 10`, { size: 9_020 }), {
      code: 'answer_too_large',
      message: 'the answer has more than 9.0 kB',
      hint: /LIMIT/,
    });
    await t.rejects(ask(endless.replace('count(*)', '*')), { code: 'answer_too_large' });
    await t.rejects(
      ask('select a.n from numbers a, numbers b order by a.n, b.n', { temporary: 10_000_000 }),
      {
        code: 'query_too_large',
        message: /the query needs too much room: .*temp_file_limit/,
        hint: /WHERE/,
      },
    );
  });

  await t.test('OPERATE-18 what is wrong with a query is said', async (t) => {
    const wrong = [
      ['select from where', 'at character 13: syntax error at or near "where" (42601)'],
      ['select nn from numbers', 'at character 8: column "nn" does not exist (42703). Perhaps '],
      ["select 'ü', nn from numbers", 'at character 13: column "nn" does not exist (42703). Perhaps '],
      ['explain select nn from numbers', 'at character 16: column "nn" does not exist (42703). Perhaps '],
      ['table nothing', 'at character 7: relation "nothing" does not exist (42P01)'],
      ['select 1 / (n - 1000) from numbers', ': division by zero (22012)'],
      ["select pg_read_file('nothing')", ': could not open file "nothing" for reading'],
      ['select (select n from numbers)', ': more than one row returned by a subquery'],
    ] as const;
    for (const [query, message] of wrong) {
      const error = await ask(query).catch((error) => error);
      t.match(error, { kind: 'usage' }, query);
      t.ok(
        error.message.replace('wrong:', 'wrong :').startsWith(`the query is wrong ${message}`),
        error.message,
      );
    }
  });

  await t.test('OPERATE-08 what would change something is refused', async (t) => {
    const writing = [
      'with gone as (delete from numbers returning n) select count(*) from gone',
      'select n from numbers for update',
      'explain analyze delete from numbers',
      "select set_config('transaction_read_only', 'off', true), lo_create(0)",
    ];
    for (const query of writing) {
      const error = await ask(query).catch((error) => error);
      t.notOk(error.rows, query);
      t.match(error, { message: /read-only transaction|read-write mode/ }, query);
    }
    t.same((await ask('select count(*) from numbers')).rows, [[2_000]]);
  });

  await t.test('OPERATE-16 a query ends when its time is over or it is stopped', async (t) => {
    for (const query of [endless, 'select pg_sleep(10000)']) {
      await t.rejects(ask(query, { timeoutMs: 500 }), {
        code: 'query_timeout',
        message: 'the query has not ended within 0.5 s',
        hint: /--timeout/,
      });
      await connection.close();
      await t.rejects(connection.run('select 1'), { message: /./ }, 'it is over');
      connection = await open();
    }
    await t.rejects(ask('select 1', { stop: AbortSignal.abort() }), { code: 'interrupted' });
  });
}
