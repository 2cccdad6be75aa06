import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pino from 'pino';
import t from 'tap';
import { openSql } from '../../projections/core/open-sql.js';
import { openPglite } from '../../projections/core/pglite.js';
import { eventually } from '../support/eventually.js';
import { startPostgres, temporaryDirectory } from '../support/sql.js';
import { counted, startLog, tally } from './tally.js';

const within = 20_000;
/** PostgreSQL leaves everything as it is; after SIGKILL its backends would live on for a while. */
const crash = 'SIGQUIT';

/** A logger that keeps what it is told. */
function listen(): { logger: pino.Logger; said: { level: number; msg: string }[] } {
  const said: { level: number; msg: string }[] = [];
  const stream = { write: (line: string) => said.push(JSON.parse(line) as (typeof said)[number]) };
  return { logger: pino({ level: 'info' }, stream), said };
}

t.test('READ-08 PostgreSQL is killed while facts are folded', async (t) => {
  const postgres = await startPostgres(t);
  const { add, project } = await startLog(t);
  const { logger, said } = listen();
  const sql = await openSql({ databaseUrl: postgres.url, directory: '', logger });
  t.teardown(() => sql.close());
  const projector = project(sql, [tally()], { logger });
  await projector.start();
  t.ok(await projector.reached('tally', await add('x'), within));
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 30; n++) await add('x');
    await postgres.kill(crash);
    const last = await add('x');
    await t.rejects(sql.query('select 1', []), {
      kind: 'unavailable',
      code: 'store_unavailable',
      status: 503,
    });
    t.equal(await projector.reached('tally', last, 300), false);
    t.equal((await projector.status()).length, 1, 'the status can be asked');
    await postgres.start();
    t.ok(await projector.reached('tally', last, within));
    t.match(await counted(sql, 'tally_v1'), { things: last.seq, sums: { x: last.seq } });
  }
  const warnings = said.filter(({ level }) => level >= 40).map(({ msg }) => msg);
  t.same([...new Set(warnings)], ['read store does not answer, read models have to wait']);
  t.ok(warnings.length <= 4, `it was said when it began: ${warnings.length}`);
});

t.test('READ-08 PostgreSQL is not there at the start', async (t) => {
  const postgres = await startPostgres(t);
  await postgres.kill(crash);
  const { add, project } = await startLog(t);
  const { logger } = listen();
  const sql = await openSql({ databaseUrl: postgres.url, directory: '', logger });
  t.teardown(() => sql.close());
  const projector = project(sql, [tally()], { logger });
  await projector.start();
  t.notOk(projector.caughtUp());
  await t.rejects(projector.schema('tally'), { code: 'read_model_building' });
  const last = await add('x');
  await postgres.start();
  t.ok(await projector.reached('tally', last, within));
});

t.test('READ-08 the log and PostgreSQL are both away at a stop', async (t) => {
  const postgres = await startPostgres(t);
  const { nats, add, project } = await startLog(t);
  const sql = await openSql({ databaseUrl: postgres.url, directory: '', logger: listen().logger });
  t.teardown(() => sql.close());
  const projector = project(sql, [tally()]);
  await projector.start();
  t.ok(await projector.reached('tally', await add('x'), within));
  await Promise.all([nats.kill(), postgres.kill(crash)]);
  await projector.stop();
  t.pass('it ends');
});

t.test('READ-09 an embedded store that cannot be opened is moved aside and folded anew', async (t) => {
  const { add, project } = await startLog(t);
  const directory = join(await temporaryDirectory(t), 'deep', 'pg');
  const { logger, said } = listen();
  const use = async (): Promise<void> => {
    const sql = await openSql({ directory, logger });
    const projector = project(sql, [tally()]);
    await projector.start();
    const last = await add('x');
    t.ok(await projector.reached('tally', last, within));
    t.equal((await counted(sql, 'tally_v1')).things, last.seq, 'it has all facts');
    await projector.stop();
    await sql.close();
  };
  const aside = async () => (await readdir(dirname(directory))).filter((name) => name !== 'pg');
  await use();
  await use();
  t.same(await aside(), []);
  t.same(said, [], 'nothing to say so far');

  t.comment('a file of the database is not what it was');
  await writeFile(join(directory, 'global', 'pg_control'), 'damaged');
  await use();
  t.match((await aside()).join(), /^pg\.damaged-\d{8}T\d{6}Z$/);
  t.match(said.at(-1), { level: 50, msg: /moved aside/ });

  t.comment('the machine went down while it was open');
  await writeFile(join(directory, 'relay-session'), 'another boot');
  const before = said.length;
  await use();
  t.equal(said.length, before + 1);
  t.equal((await aside()).length, 1, 'only the last one is kept');

  t.comment('a file where the directory should be');
  const elsewhere = join(await temporaryDirectory(t), 'pg');
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, 'PG_VERSION'), '9');
  const sql = await openSql({ directory: elsewhere, logger });
  t.same(await sql.query('select 1 as one', []), [{ one: 1 }]);
  await sql.close();
});

t.test('READ-09 an embedded store that crashes is opened again', async (t) => {
  const { add, project } = await startLog(t);
  const { logger, said } = listen();
  const sql = await openSql({ directory: join(await temporaryDirectory(t), 'pg'), logger });
  t.teardown(() => sql.close());
  const projector = project(sql, [tally()]);
  await projector.start();
  t.ok(await projector.reached('tally', await add('x'), within));
  // it knows no programs, and goes down on being asked for one
  const killing = sql.query(`copy tally_v1.sums from program 'any'`);
  const behind = sql.query('select 1', []);
  await t.rejects(killing, { code: 'store_unavailable' });
  await t.rejects(behind, { code: 'store_unavailable' });
  let last = await add('x');
  t.ok(await projector.reached('tally', last, within));
  t.match(await counted(sql, 'tally_v1'), { things: last.seq });
  t.match(said, [{ level: 50, msg: /crashed/ }]);

  t.comment('a second time soon after, its files are to blame');
  await t.rejects(sql.query(`copy tally_v1.sums from program 'any'`), { code: 'store_unavailable' });
  last = await add('x');
  t.ok(await projector.reached('tally', last, within));
  t.match(await counted(sql, 'tally_v1'), { things: last.seq });
  t.match(said.at(-1), { msg: /moved aside/ });
});

t.test('READ-09 a statement of an embedded store that never ends is ended', async (t) => {
  const { logger, said } = listen();
  const sql = await openPglite(join(await temporaryDirectory(t), 'pg'), logger, 2_000);
  t.teardown(() => sql.close());
  await sql.query('create table kept (one int)');
  await sql.query('insert into kept values (1)');
  const endless = sql.query('select count(*) from generate_series(1, 1000000000000) as one', []);
  const behind = sql.query('select 1', []);
  await t.rejects(endless, { code: 'store_unavailable' });
  await t.rejects(behind, { code: 'store_unavailable' });
  const kept = await eventually('the store to be opened again', () =>
    sql.query('select one from kept', []).catch(() => undefined),
  );
  t.same(kept, [{ one: 1 }]);
  t.match(said, [{ level: 50, msg: /crashed/, reason: 'a statement took longer than 2000 ms' }]);
});

t.test('READ-09 files of an embedded store vanish while it is open', async (t) => {
  const { add, project } = await startLog(t);
  const { logger, said } = listen();
  const directory = join(await temporaryDirectory(t), 'pg');
  const sql = await openSql({ directory, logger });
  t.teardown(() => sql.close());
  const projector = project(sql, [tally()]);
  await projector.start();
  t.ok(await projector.reached('tally', await add('x'), within));
  await rm(join(directory, 'base'), { recursive: true });
  await t.rejects(sql.query('create table another (n integer)'), { code: 'store_unavailable' });
  const last = await add('x');
  t.ok(await projector.reached('tally', last, within));
  t.match(await counted(sql, 'tally_v1'), { things: last.seq });
  t.match(said.at(-1), { msg: /moved aside/ });
});

t.test('READ-17 the write-ahead log of an embedded store does not grow for ever', async (t) => {
  const sql = await openSql({ directory: join(await temporaryDirectory(t), 'pg'), logger: listen().logger });
  t.teardown(() => sql.close());
  await sql.query('create table notes (text text)');
  const redo = async () => {
    const [row] = await sql.query<{ at: string }>('select redo_lsn::text as at from pg_control_checkpoint()');
    return row!.at;
  };
  const before = await redo();
  const text = 'a note that is written many times '.repeat(30_000);
  for (let n = 0; n < 40; n++) {
    await sql.transaction((tx) => tx.query('insert into notes select left($1::text, 1000)', [text]));
  }
  await eventually('a checkpoint', async () => (await redo()) !== before);
});
