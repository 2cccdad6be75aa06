import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import pino from 'pino';
import t, { type Test } from 'tap';
import { openPglite } from '../../projections/core/pglite.js';
import { openGuest } from '../../projections/core/pglite-guest.js';
import type { Projection } from '../../projections/core/projection.js';
import type { Sql } from '../../projections/core/sql.js';
import { eventually } from '../support/eventually.js';
import { programFile } from '../support/programs.js';
import { eachSql, temporaryDirectory } from '../support/sql.js';
import { counted, others, startLog, tally, things } from './tally.js';

const within = 30_000;
const from = 50;
/** A thread takes its time to start where many do. */
const stallMs = 20_000;
const program = (name: string) => pathToFileURL(resolve(programFile(`test/projections/${name}.ts`)));

/** A tally that counts the facts of each build that were folded in this thread. */
function watched(): { projection: Projection; foldedHere: Record<string, number> } {
  const foldedHere: Record<string, number> = {};
  const projection = {
    ...tally(),
    apply: async (...[tx, facts, schema]: Parameters<Projection['apply']>) => {
      foldedHere[schema] = (foldedHere[schema] ?? 0) + facts.length;
      await tally().apply(tx, facts, schema);
    },
  };
  return { projection, foldedHere };
}

/** A logger that keeps what it is told. */
function listen(): { logger: pino.Logger; said: { level: number; msg: string; projection?: string }[] } {
  const said: { level: number; msg: string }[] = [];
  const stream = { write: (line: string) => said.push(JSON.parse(line) as (typeof said)[number]) };
  return { logger: pino({ level: 'debug' }, stream), said };
}

async function startLongLog(t: Test, facts: number) {
  const log = await startLog(t);
  await Promise.all(Array.from({ length: facts }, () => log.add('x')));
  const place = (name: string) => ({ program: program(name), logUrls: log.nats.url, from });
  return { ...log, place };
}

eachSql(t, async (t, open) => {
  t.test(
    'READ-23 what is far behind is folded by another thread, and what follows by this one',
    async (t) => {
      const { sql } = await open();
      const { add, project, place } = await startLongLog(t, 400);
      const { projection, foldedHere } = watched();
      const { logger, said } = listen();
      for (let n = 1; n <= 7; n++) await add('few', n, others);
      const options = { catchUp: place('tally-catch-up'), logger, stallMs };
      const projector = project(sql, [projection], options);
      await projector.start();
      const seen = new Set<number>();
      const late = await add('late');
      await eventually('everything', async () => {
        const [status] = await projector.status();
        seen.add(status!.streams.find(({ stream }) => stream === things.name)!.position);
        return await projector.reached('tally', late, 5);
      });
      t.match(await counted(sql, 'tally_v1'), { things: 401, others: 7, sums: { x: 400, late: 1, few: 28 } });
      t.ok(foldedHere.tally_v1! >= 7, 'the stream that is not far behind');
      t.ok(foldedHere.tally_v1! < 7 + from, `${foldedHere.tally_v1} folded here`);
      t.ok(seen.size > 3, `the status shows how far it is: ${[...seen]}`);
      t.ok(projector.caughtUp());
      t.ok(
        said.some(
          ({ msg, level, projection }) => msg === 'batch' && level === 20 && projection === 'tally_v1',
        ),
        'lines of the thread are in the log',
      );

      await projector.upkeep.rebuild('tally');
      await eventually('the switch', async () => (await projector.schema('tally')) === 'tally_v1_g2');
      t.same(await counted(sql, 'tally_v1_g2'), await counted(sql, 'tally_v1'));
      t.ok(foldedHere.tally_v1_g2! < 7 + from, `${foldedHere.tally_v1_g2} folded here`);
      await projector.stop();

      await Promise.all(Array.from({ length: 200 }, () => add('x')));
      const again = project(sql, [projection], options);
      await again.start();
      t.ok(
        await again.reached('tally', await add('last'), within),
        'a build that is read may be far behind too',
      );
      t.match(await counted(sql, 'tally_v1_g2'), { things: 602, sums: { x: 600 } });
    },
  );

  t.test('READ-04 READ-23 a fact that cannot be folded there halts its read model here', async (t) => {
    const { sql } = await open();
    const { add, project, place } = await startLongLog(t, 300);
    const poison = await add('poison', 8);
    await Promise.all(Array.from({ length: 100 }, () => add('y')));
    const { logger, said } = listen();
    const projector = project(sql, [tally()], { catchUp: place('tally-catch-up'), logger, stallMs });
    await projector.start();
    await eventually('a halt', async () => (await projector.status())[0]!.state === 'halted');
    const { seq } = poison;
    t.match((await projector.status())[0], { error: { stream: 'THINGS', seq, message: 'cannot count 8' } });
    t.match(await counted(sql, 'tally_v1'), { things: 300, sums: { x: 300 } }, 'all before it is folded');
    t.equal(said.filter(({ msg }) => msg === 'read model halted').length, 1);
    await projector.upkeep.skip('tally', { stream: 'THINGS', seq, reason: 'a bug', by: 'ann' });
    t.ok(await projector.reached('tally', await add('y'), within));
    t.match(await counted(sql, 'tally_v1'), { things: 401, sums: { x: 300, y: 101 } });
  });

  t.test('READ-23 a thread that dies loses and doubles nothing, and at last it is folded here', async (t) => {
    const { sql } = await open();
    const { add, project, place } = await startLongLog(t, 400);
    const { projection, foldedHere } = watched();
    const { logger, said } = listen();
    const projector = project(sql, [projection], { catchUp: place('dying-catch-up'), logger, stallMs });
    await projector.start();
    t.ok(await projector.reached('tally', await add('x'), within));
    t.match(await counted(sql, 'tally_v1'), { things: 401, sums: { x: 401 } });
    t.ok(foldedHere.tally_v1! > 100, `${foldedHere.tally_v1}`);
    t.ok(foldedHere.tally_v1! < 400, `what it had stored was not folded again: ${foldedHere.tally_v1}`);
    t.equal(said.filter(({ msg, level }) => level === 50 && /has died/.test(msg)).length, 3);
  });

  t.test('READ-23 a program that is not there is folded without', async (t) => {
    const { sql } = await open();
    const { add, project, place } = await startLongLog(t, 100);
    const projector = project(sql, [tally()], { catchUp: place('no-such-program'), stallMs });
    await projector.start();
    t.ok(await projector.reached('tally', await add('x'), within));
    t.match(await counted(sql, 'tally_v1'), { things: 101, sums: { x: 101 } });
  });

  t.test('READ-02 READ-23 a stop ends the thread with its batch, and the next start goes on', async (t) => {
    const { sql } = await open();
    const { add, project, place } = await startLongLog(t, 700);
    const options = { catchUp: place('tally-catch-up'), stallMs };
    let before = 0;
    for (let round = 0; round < 2; round++) {
      const projector = project(sql, [tally()], options);
      await projector.start();
      await eventually('a step', async () => (await projector.status())[0]!.streams[0]!.position > before);
      await projector.stop();
      const [build] = await sql.query<{ at: number }>(
        `select (positions ->> 'THINGS')::bigint as at from projections.builds`,
      );
      t.ok(build!.at > before, `${build!.at}`);
      t.equal((await counted(sql, 'tally_v1')).things, build!.at);
      before = build!.at;
    }
    const projector = project(sql, [tally()], options);
    await projector.start();
    t.ok(await projector.reached('tally', await add('x'), within));
    t.match(await counted(sql, 'tally_v1'), { things: 701, sums: { x: 701 } });
  });
});

t.test('READ-09 READ-23 an embedded store crashes while another thread folds', async (t) => {
  const { add, project, place } = await startLongLog(t, 400);
  const { logger, said } = listen();
  const sql = await openPglite(`${await temporaryDirectory(t)}/pg`, logger);
  t.teardown(() => sql.close());
  const { projection, foldedHere } = watched();
  const projector = project(sql, [projection], { catchUp: place('tally-catch-up'), logger, stallMs });
  await projector.start();
  await eventually('a step', async () => (await projector.status())[0]!.streams[0]!.position > 0);
  // it knows no programs, and goes down on being asked for one
  await t.rejects(sql.query(`copy tally_v1.sums from program 'any'`), { code: 'store_unavailable' });
  t.ok(await projector.reached('tally', await add('x'), within));
  t.match(await counted(sql, 'tally_v1'), { things: 401, sums: { x: 401 } });
  t.ok((foldedHere.tally_v1 ?? 0) < from, 'another thread went on with the new store');
  t.equal(
    said.filter(({ level }) => level === 50).length,
    1,
    'the crash of the store is told of, and no other',
  );
});

t.test('READ-12 READ-23 transactions of two threads on one embedded store do not mix', async (t) => {
  const directory = await temporaryDirectory(t);
  const logger = pino({ level: 'silent' });
  const sql = await openPglite(`${directory}/pg`, logger);
  t.teardown(() => sql.close());
  await sql.query('create table counts (who text primary key, n integer not null)');
  const guest = openGuest(invitation(sql));
  t.equal(guest.engine, 'pglite');

  const add = async (on: Sql, who: string) => {
    await on.query('insert into counts values ($1, 0)', [who]);
    await on.transaction(async (tx) => {
      for (let n = 0; n < 50; n++) await tx.query('update counts set n = n + 1 where who = $1', [who]);
      const [row] = await tx.query<{ n: number }>('select n from counts where who = $1', [who]);
      if (row!.n !== 50) throw new Error(`${who} has ${row!.n}`);
    });
    const undone = on.transaction(async (tx) => {
      for (let n = 0; n < 20; n++) await tx.query('update counts set n = n + 1 where who = $1', [who]);
      throw new Error('undo this');
    });
    await t.rejects(undone, /undo this/);
    await t.rejects(on.query('select 1 / 0'), { code: '22012' });
  };
  await Promise.all([add(sql, 'a'), add(guest, 'b'), add(sql, 'c'), add(guest, 'd')]);
  const counts = () => sql.query('select who, n from counts order by who');
  t.same(
    await counts(),
    ['a', 'b', 'c', 'd'].map((who) => ({ who, n: 50 })),
  );

  t.comment('a guest that goes away in a transaction takes it with it, and lets nobody wait');
  const port = invitation(sql);
  const brief = openGuest(port);
  const left = brief.transaction(async (tx) => {
    await tx.query('delete from counts');
    port.close();
    await tx.query('select 1');
  });
  await t.rejects(left, { kind: 'unavailable', code: 'store_unavailable' });
  t.equal((await counts()).length, 4);
  t.equal(brief.losses, 1);
  await t.rejects(brief.query('select 1'), { code: 'store_unavailable' });

  t.comment('a guest of a store that is closed learns it');
  await sql.close();
  await t.rejects(guest.query('select 1'), { code: 'store_unavailable' });
  t.throws(() => sql.share!(), /closed/);
});

function invitation(sql: Sql) {
  const store = sql.share!();
  if (!('guest' in store)) throw new Error('not an embedded store');
  return store.guest;
}
