import { mkdir, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { openSql } from '../../projections/core/open-sql.js';
import { Projector } from '../../projections/core/projector.js';
import type { Sql } from '../../projections/core/sql.js';
import { deliveryQueue } from '../../projections/delivery/fold.js';
import { type AnyFact, Log, type Recorded, type StreamDefinition } from '../../streams/core/index.js';
import { streams } from '../../streams/index.js';
import { operations, projectionSubject } from '../../streams/operations/facts.js';
import { queueHistory } from '../projections/queue-history.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { startPostgres, temporaryDirectory } from '../support/sql.js';
import { type Program, run } from './service-process.js';
import { relay } from './terminal.js';

const logger = pino({ level: 'silent' });
/** Longer than any test; the first part is so large that it is written to a file. */
const endless = 'select count(*) from generate_series(1, 500000) x, generate_series(1, 100000) y';
const tables = ['deliveries', 'events', 'outcomes', 'received', 'statuses'];

t.test('replay', async (t) => {
  const [nats, postgres] = await Promise.all([startNats(t), startPostgres(t)]);
  const embedded = { NATS_URL: nats.url };
  // most of it on PostgreSQL, which runs already: a throw-away PGlite is made again each time
  const env = { ...embedded, DATABASE_URL: postgres.url };
  const log = await Log.open({
    urls: nats.url,
    name: 'test',
    streams,
    replicas: 1,
    maxBytes: 100_000_000,
    logger,
  });
  t.teardown(() => log.close());

  const sql: Sql = await openSql({ databaseUrl: postgres.url, directory: '', logger });
  t.teardown(() => sql.close());
  const schemas = () =>
    sql.query<{ name: string }>(
      "select schema_name::text as name from information_schema.schemata where schema_name like '%replay%'",
    );
  const connections = () =>
    sql.query<{ query: string }>(
      "select query from pg_stat_activity where application_name = 'relay replay' order by backend_start",
    );
  const isAsking = async () => (await connections()).some(({ query }) => query.startsWith('fetch'));

  const { market, delivery } = queueHistory(600);
  const half = { market: market.length / 2, delivery: Math.floor(delivery.length / 2) };
  const append = async (facts: Recorded[]) => {
    for (const { stream, type, data, seq } of facts) {
      const definition = streams.find(({ name }) => name === stream) as StreamDefinition;
      const subject = `${stream.toLowerCase()}.event.${type === 'event.received' ? seq : 'any'}`;
      await log.append(definition, subject, { type, data } as AnyFact as never, { by: 'test' });
    }
  };
  await append(market.slice(0, half.market));
  await append(delivery.slice(0, half.delivery));
  const middle = (await log.next(streams[1]!, half.delivery))!.at;
  await eventually('a millisecond to pass', () => log.now().getTime() > middle.getTime() + 1);
  await append(market.slice(half.market));
  await append(delivery.slice(half.delivery));

  /** All rows of all tables, in one query because each replay takes a while. */
  const everything = (schema = '') => {
    const rowsOf = (table: string) =>
      `(select json_agg(row order by row::text) from ${schema}${table} as row) as ${table}`;
    return `select ${tables.map(rowsOf).join(', ')}`;
  };
  const ask = async (argv: string[], environment: NodeJS.ProcessEnv = env) => {
    const { code, out, err } = await relay(['replay', 'delivery_queue', ...argv, '--json'], {
      env: environment,
    });
    t.equal(code, 0, err);
    return JSON.parse(out);
  };
  const rowsAt = async (to: string[], environment?: NodeJS.ProcessEnv) =>
    (await ask([...to, '--query', everything()], environment)).rows[0];

  await t.test('OPERATE-06 to the end it has the rows of the live read model', async (t) => {
    const sql = await openSql({ directory: `${await temporaryDirectory(t)}/pg`, logger });
    t.teardown(() => sql.close());
    const projector = new Projector({ log, sql, projections: [deliveryQueue], logger, batch: 97 });
    t.teardown(() => projector.stop());
    await projector.start();
    for (const { name } of deliveryQueue.streams) {
      const seq = (name === 'MARKET' ? market : delivery).length;
      t.ok(await projector.reached('delivery_queue', { stream: name, seq }, 10_000), `${name} is folded`);
    }
    const schema = await projector.schema('delivery_queue');
    const [live] = await sql.query<{ events: unknown[] }>(everything(`${schema}.`));
    t.equal(live?.events.length, market.length);
    t.same(await rowsAt([], embedded), live, 'on PGlite');
    t.same(await rowsAt([]), live, 'on PostgreSQL');
  });

  await t.test('OPERATE-06 OPERATE-07 the same point gives the same rows, however it is named', async (t) => {
    const names = ['--to', `MARKET=${half.market},delivery=${half.delivery}`];
    const first = await rowsAt(names);
    t.equal(first.events.length, half.market);
    t.same(await rowsAt(names), first);
    t.same(await rowsAt(['--to', middle.toISOString()]), first, 'as the time of its last fact');
    const counting = ['--query', 'select count(*) as events from events'];
    const [partly] = (await ask(['--to', 'market=3', ...counting])).rows;
    t.same(partly, { events: 3 });
    const { reached, tables: counts } = await ask(['--to', String(half.market)]);
    t.match(
      reached,
      [
        { stream: 'MARKET', seq: half.market },
        { stream: 'DELIVERY', seq: 0, at: null },
      ],
      'what was recorded of deliveries until then: nothing',
    );
    t.match(counts, { events: half.market, outcomes: 0 });
  });

  await t.test('a summary, for people', async (t) => {
    const { code, out, err } = await relay(['replay', 'delivery_queue'], { env });
    t.equal(code, 0, err);
    t.match(out, /^TABLE +ROWS\n/);
    t.match(out, new RegExp(`^events +${market.length}$`, 'm'));
    t.match(out, /^pending {2}\d+$/m);
    t.match(
      err,
      new RegExp(`delivery_queue at MARKET ${market.length} \\(.*Z\\), DELIVERY ${delivery.length}`),
    );
    t.match(err, /100%/);
    const coloured = await relay(['replay', 'delivery_queue'], { env, terminal: { colours: true } });
    t.match(coloured.out, /^\x1b\[1mpending\x1b\[0m {2}\d+$/m);
    const rows = await relay(
      ['replay', 'delivery_queue', '--query', 'select id, event_id from events limit 2'],
      {
        env,
      },
    );
    t.match(rows.out, /^id +event_id\n 1 +event-1\n 2 +event-2$/);
  });

  await t.test('the progress ends at the total, also when a stream is folded in part', async (t) => {
    for (const to of [String(half.market), middle.toISOString(), 'market=3']) {
      const { code, err } = await relay(['replay', 'delivery_queue', '--to', to], { env });
      t.equal(code, 0, err);
      const shown = err.split('\n').findLast((line) => line.includes('%'));
      t.match(shown, /100% \((\d+) of \1\)$/, to);
    }
  });

  await t.test('OPERATE-07 what is no point', async (t) => {
    for (const to of ['0', 'yesterday', 'OPERATIONS=1', 'MARKET=x'])
      t.match(await relay(['replay', 'delivery_queue', '--to', to], { env }), { code: 2 }, to);
    t.match(await relay(['replay', 'delivery_queue', '--to', '601'], { env }), {
      code: 1,
      err: /MARKET ends at 600: 601 has not come yet/,
    });
    t.match(await relay(['replay', 'nothing'], { env }), {
      code: 2,
      err: /there is no read model "nothing"/,
    });
  });

  await t.test('OPERATE-08 nothing is changed and nothing left behind', async (t) => {
    const replays = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('relay-replay-'));
    // others may have theirs on this machine
    const before = await replays();
    for (const environment of [env, embedded]) {
      const writing = 'with gone as (delete from events returning id) select count(*) from gone';
      t.match(await relay(['replay', 'delivery_queue', '--query', writing], { env: environment }), {
        code: 1,
        err: /the query would change something, and was refused: .*read-only transaction/,
      });
      for (const query of ['delete from events', 'select 1; select 2', 'commit; drop schema public'])
        t.match(await relay(['replay', 'delivery_queue', '--query', query], { env: environment }), {
          code: 2,
          err: /--query must be one statement that reads, and begin with one of SELECT, /,
        });
      t.match(
        await relay(['replay', 'delivery_queue', '--query', 'select from where'], { env: environment }),
        {
          code: 2,
          err: /the query is wrong at character 13: syntax error at or near "where" \(42601\)\nusage: relay replay/,
        },
      );
    }
    t.same(await schemas(), []);
    const stop = new AbortController();
    const status = () => stop.abort();
    t.match(await relay(['replay', 'delivery_queue'], { env, stop: stop.signal, terminal: { status } }), {
      code: 1,
      err: /interrupted/,
    });
    t.same(await schemas(), [], 'after it was interrupted');
    const keeping = await relay(['replay', 'delivery_queue', '--keep'], {
      env,
      stop: AbortSignal.abort(),
    });
    t.match(keeping, { code: 1, err: /interrupted/ });
    t.same(await schemas(), [], 'what is not whole is not kept');
    t.same(
      (await replays()).filter((name) => !before.includes(name)),
      [],
    );
    t.match(await relay(['replay', 'delivery_queue', '--keep'], { env: embedded }), {
      code: 2,
      err: /needs DATABASE_URL/,
    });
    const kept = await relay(['replay', 'delivery_queue', '--keep', '--json'], { env });
    const { schema } = JSON.parse(kept.out);
    t.same(await schemas(), [{ name: schema }]);
    const [count] = await sql.query(`select count(*) as events from ${schema}.events`);
    t.same(count, { events: market.length });
    await sql.query(`drop schema ${schema} cascade`);
  });

  await t.test('OPERATE-16 a query ends in time and when it is interrupted', async (t) => {
    const TMPDIR = t.testdir();
    const folders = async () => (await readdir(TMPDIR)).filter((name) => name.startsWith('relay-'));
    const start = (environment: Record<string, string>) =>
      run(t, ['src/cli.ts', 'replay', 'delivery_queue', '--query', endless], { ...environment, TMPDIR });
    const sorting = async () => {
      const [folder] = await folders();
      return (await readdir(join(TMPDIR, folder!, 'pg/base/pgsql_tmp'))).length > 0;
    };
    for (const [environment, isUnderWay, signal] of [
      [env, isAsking, 'SIGTERM'],
      [embedded, sorting, 'SIGINT'],
    ] as const) {
      const late = ['replay', 'delivery_queue', '--query', endless, '--timeout', '1', '--json'];
      t.match(await relay(late, { env: environment }), {
        code: 1,
        err: /"the query has not ended within 1 s","code":"query_timeout","hint":".*--timeout SECONDS/,
      });
      t.same(await schemas(), [], 'after its time');
      const program = start(environment);
      await eventually('the query to run', isUnderWay);
      program.child.kill(signal);
      t.match(await program.ended(), { code: 1, err: /^relay: interrupted$/m }, signal);
      t.same(await schemas(), [], `after ${signal}`);
      await eventually('its connection to end', async () => (await connections()).length === 0);
      t.same(await folders(), []);
    }
    for (const seconds of ['0', 'soon', '86401'])
      t.match(
        await relay(['replay', 'delivery_queue', '--query', 'select 1', '--timeout', seconds], { env }),
        {
          code: 2,
          err: /--timeout must be /,
        },
      );
    t.match(await relay(['replay', 'delivery_queue', '--timeout', '1'], { env }), {
      code: 2,
      err: /--timeout bounds a --query/,
    });
  });

  await t.test('OPERATE-17 an answer has all its columns and a bounded size', async (t) => {
    for (const environment of [env, embedded]) {
      const twice = 'select a.id, b.id, b.event_id from events a join events b using (id) order by 1 limit 1';
      const [row] = (await ask(['--query', twice], environment)).rows;
      t.same(row, { id: 1, id_2: 1, event_id: 'event-1' });
      t.same(Object.keys(row), ['id', 'id_2', 'event_id']);
      t.match(await relay(['replay', 'delivery_queue', '--query', twice], { env: environment }), {
        out: 'id  id_2  event_id\n 1     1  event-1',
      });
      const crossed = 'select a.id from events a, events b';
      t.match(await relay(['replay', 'delivery_queue', '--query', crossed], { env: environment }), {
        code: 1,
        out: '',
        err: /the answer has more than 50000 rows\n.*LIMIT/,
      });
    }
    t.match(await relay(['replay', 'delivery_queue', '--query', 'select from events'], { env }), {
      code: 0,
      out: 'no columns',
    });
    t.match(await relay(['replay', 'delivery_queue', '--query', 'table events limit 0'], { env }), {
      code: 0,
      out: 'no rows',
    });
    const { out } = await relay(['replay', '--help']);
    t.match(out, /--timeout SECONDS +how long the query may run \(default: 60\)/);
    t.match(out, /at most 50000 rows and 32.0 MB as JSON.*name_2/s);
  });

  await t.test('OPERATE-15 schemas of killed replays are removed by the next one', async (t) => {
    const names = async () => (await schemas()).map(({ name }) => name).sort();
    const query = ['replay', 'delivery_queue', '--query', endless];
    const killed = run(t, ['src/cli.ts', ...query], env);
    await eventually('the query to run', isAsking);
    killed.child.kill('SIGKILL');
    await killed.ended();
    const [left] = await names();
    t.match(left, /^delivery_queue_replay_tmp_/);
    await eventually('the server to notice', async () => (await connections()).length === 0);

    const others = [
      'delivery_queue_replay_01234567',
      'delivery_queue_replay_tmp_1',
      'other_replay_tmp_01234567',
    ];
    for (const name of others) await sql.query(`create schema ${name}`);
    const stop = new AbortController();
    const running = relay(query, { env, stop: stop.signal });
    await eventually('the next one to run', isAsking);
    const own = (await names()).filter((name) => !others.includes(name));
    t.equal(own.length, 1);
    t.not(own[0], left, 'the next one has removed it');
    t.match(await relay(['replay', 'delivery_queue'], { env }), { code: 0 });
    t.same(await names(), [...others, ...own].sort(), 'that of a running one stays');
    stop.abort();
    t.match(await running, { code: 1, err: /interrupted/ });
    t.same(await names(), others);
    for (const name of others) await sql.query(`drop schema ${name}`);
  });

  await t.test('OPERATE-15 what was killed is tidied up by the next one', async (t) => {
    const TMPDIR = t.testdir();
    const start = () => run(t, ['src/cli.ts', 'replay', 'delivery_queue'], { ...embedded, TMPDIR });
    // besides those of the loader that runs this
    const folders = async () => (await readdir(TMPDIR)).filter((name) => !name.startsWith('tsx-'));
    const folderOf = async ({ child }: Program) =>
      await eventually('its folder', async () =>
        (await folders()).find((name) => name.includes(`-${child.pid}-`)),
      );
    const killed = start();
    const left = await folderOf(killed);
    killed.child.kill('SIGKILL');
    await killed.ended();
    const ended = start();
    await folderOf(ended);
    t.notOk((await folders()).includes(left), 'the next one has removed it');
    ended.child.kill('SIGTERM');
    t.match(await ended.ended(), { code: 1, err: /interrupted/ });
    t.same(await folders(), []);

    const of = (pid: number | undefined) => left.replace(`-${killed.child.pid}-`, `-${pid}-`);
    const others = [of(process.pid), `other-${left}`, left.replace('-replay-', '-other-'), `${left}.txt`];
    for (const name of [...others, of(ended.child.pid)]) await mkdir(join(TMPDIR, name));
    const last = start();
    const own = await folderOf(last);
    t.same((await folders()).sort(), [...others, own].sort(), 'only what nobody uses any more');
    last.child.kill('SIGINT');
    await last.ended();
    t.same((await folders()).sort(), others.sort());
  });

  await t.test('OPERATE-06 a fact that cannot be folded is named, unless it may be skipped', async (t) => {
    await log.connection.request('market.event.broken', 'no fact', { timeout: 30_000 });
    t.match(await relay(['replay', 'delivery_queue'], { env }), {
      code: 1,
      err: /delivery_queue cannot fold MARKET 601: .*\nLook at it: relay events MARKET --from 601/,
    });
    t.match(await relay(['replay', 'delivery_queue', '--to', '600'], { env }), { code: 0 });
    const { version } = deliveryQueue;
    const data = { projection: 'delivery_queue', version, stream: 'MARKET', seq: 601, reason: 'a test' };
    const subject = projectionSubject('delivery_queue');
    await log.append(operations, subject, { type: 'fact.skipped', data }, { by: 'test' });
    t.match(await relay(['replay', 'delivery_queue'], { env }), { code: 0, out: /^events +600$/m });
  });
});
