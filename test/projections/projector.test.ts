import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Projection } from '../../projections/core/projection.js';
import type { Sql } from '../../projections/core/sql.js';
import { storeUnavailable } from '../../projections/core/sql.js';
import type { Log } from '../../streams/core/index.js';
import { eventually } from '../support/eventually.js';
import { eachSql } from '../support/sql.js';
import { counted, others, startLog, tally, things } from './tally.js';

const within = 10_000;

eachSql(t, async (t, open) => {
  t.test('READ-02 READ-03 what is recorded before and after the start is folded once', async (t) => {
    const { sql } = await open();
    const { add, project } = await startLog(t);
    for (let n = 1; n <= 25; n++) await add('early', n);
    const projector = project(sql, [tally()]);
    await projector.start();
    const late = await add('late', 5, others);
    t.equal(await projector.reached('tally', late, within), true);
    await eventually('everything folded', async () => {
      const [status] = await projector.status();
      return status!.streams.every(({ lag, head }) => lag === 0 && head > 0) && projector.caughtUp();
    });
    t.match(await counted(sql, await projector.schema('tally')), {
      things: 25,
      others: 1,
      sums: { early: 325, late: 5 },
    });
    const [status] = await projector.status();
    t.match(status, { name: 'tally', version: 1, schema: 'tally_v1', state: 'live', error: null });
    t.equal(await projector.reached('tally', { stream: 'THINGS', seq: 26 }, 50), false, 'not yet recorded');
    await t.rejects(projector.reached('tally', { stream: 'ELSEWHERE', seq: 1 }, 50), /not made of/);
    await t.rejects(projector.schema('unheard_of'), { kind: 'refusal', code: 'not_found', status: 404 });
  });

  t.test('READ-02 two processes that fold the same read model fold each fact once', async (t) => {
    const store = await open();
    const { add, project } = await startLog(t);
    const first = project(store.sql, [tally()], { batch: 7 });
    const second = project(await store.connect(), [tally()], { batch: 5 });
    await Promise.all([first.start(), second.start()]);
    let last = await add('x');
    for (let n = 0; n < 150; n++) last = await add('x');
    t.ok(await first.reached('tally', last, within));
    t.ok(await second.reached('tally', last, within));
    t.match(await counted(store.sql, 'tally_v1'), { things: 151, sums: { x: 151 } });
    for (const projector of [first, second]) t.equal((await projector.status())[0]!.state, 'live');
  });

  t.test(
    'READ-02 READ-08 transactions that fail, also after they were stored, lose and double nothing',
    async (t) => {
      const { sql } = await open();
      const { add, project } = await startLog(t);
      let tries = 0;
      const flaky: Sql = {
        engine: sql.engine,
        losses: 0,
        query: (text, params) => sql.query(text, params),
        close: () => sql.close(),
        transaction: async (work) => {
          tries += 1;
          if (tries % 3 === 1) throw storeUnavailable('lost before it began');
          const result = await sql.transaction(async (tx) => {
            const done = await work(tx);
            if (tries % 5 === 2) throw storeUnavailable('lost before the commit');
            return done;
          });
          if (tries % 4 === 3) throw storeUnavailable('lost after the commit');
          return result;
        },
      };
      let last = await add('x');
      for (let n = 0; n < 60; n++) last = await add('x');
      const projector = project(flaky, [tally()]);
      await projector.start();
      t.ok(await projector.reached('tally', last, 30_000));
      t.match(await counted(sql, 'tally_v1'), { things: 61, sums: { x: 61 } });
      t.ok(tries > 8, 'it was not easy');
    },
  );

  t.test(
    'READ-04 READ-05 a fact that cannot be folded halts its read model until it is skipped',
    async (t) => {
      const { sql } = await open();
      const { log, add, project } = await startLog(t);
      for (let n = 0; n < 7; n++) await add('good');
      await add('poison', 8);
      // more than a batch: it has not caught up where it halts, however the facts come
      for (let n = 0; n < 4; n++) await add('good');
      const last = await add('good');
      const tolerant = { ...tally({ name: 'tolerant' }), apply: async () => {} };
      const projector = project(sql, [tally(), tolerant], { batch: 4 });
      await projector.start();
      await eventually('a halt', async () =>
        (await projector.status()).some(({ state }) => state === 'halted'),
      );
      const halted = (await projector.status()).find(({ name }) => name === 'tally')!;
      t.match(halted, { state: 'halted', error: { stream: 'THINGS', seq: 8, message: 'cannot count 8' } });
      t.match(
        await counted(sql, 'tally_v1'),
        { things: 7, sums: { good: 7 } },
        'everything before it is folded',
      );
      t.ok(await projector.reached('tolerant', last, within), 'the other read model goes on');
      t.ok(projector.caughtUp(), 'the rest of the service may be used');
      await t.rejects(projector.schema('tally'), { code: 'read_model_building', status: 503 });

      const skip = { stream: 'THINGS', seq: 8, reason: 'a producer bug', by: 'ann' };
      await t.rejects(projector.upkeep.skip('tally', { ...skip, seq: 7 }), {
        code: 'not_halted',
        status: 409,
      });
      await t.rejects(projector.upkeep.skip('tolerant', skip), { code: 'not_halted' });
      await projector.upkeep.skip('tally', skip);
      t.ok(await projector.reached('tally', last, within));
      t.match(await counted(sql, 'tally_v1'), { things: 12, sums: { good: 12 } });
      await eventually('no halt', async () =>
        (await projector.status()).every(({ error }) => error === null),
      );

      t.comment('bytes that are no fact');
      log.connection.publish('things.any', 'not a fact');
      const next = await add('good');
      await eventually('a halt', async () => (await projector.status())[0]!.state === 'halted');
      t.equal((await projector.status())[0]!.error?.seq, next.seq - 1);
      t.equal(await projector.schema('tally'), 'tally_v1', 'what was folded can be read');
      await projector.upkeep.skip('tally', { ...skip, seq: next.seq - 1 });
      t.ok(await projector.reached('tally', next, within));

      t.comment('a new build skips by the same commands');
      await projector.upkeep.rebuild('tally');
      await eventually('the switch', async () => (await projector.schema('tally')) === 'tally_v1_g2');
      t.match(await counted(sql, 'tally_v1_g2'), { things: 13, sums: { good: 13 } });
    },
  );

  t.test('READ-06 READ-07 a rebuild goes on beside the build that is read', async (t) => {
    const { sql } = await open();
    const { add, project } = await startLog(t);
    let openGate = () => {};
    const opened = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    const slow = tally({ gate: { schema: 'tally_v1_g2', opened } });
    // on PGlite a transaction that waits would keep everybody else out
    const projector = project(sql, [sql.engine === 'pglite' ? tally() : slow]);
    await projector.start();
    await projector.reached('tally', await add('x'), within);
    t.equal(await projector.schema('tally'), 'tally_v1');
    t.match(await projector.upkeep.rebuild('tally'), { name: 'tally', version: 1, schema: 'tally_v1_g2' });
    if (sql.engine === 'postgres') {
      t.ok(await projector.reached('tally', await add('x'), within), 'what is read stays up to date');
      t.equal(await projector.schema('tally'), 'tally_v1');
      t.same(
        (await projector.status()).map(({ schema, state }) => `${schema} ${state}`),
        ['tally_v1 live', 'tally_v1_g2 building'],
      );
      t.same(await projector.upkeep.prune(), [], 'neither is in the way');
    }
    openGate();
    await eventually('the switch', async () => (await projector.schema('tally')) === 'tally_v1_g2');
    const last = await add('x');
    t.ok(await projector.reached('tally', last, within));
    t.equal((await counted(sql, 'tally_v1_g2')).things, last.seq);
    t.same(await projector.upkeep.prune(), ['tally_v1']);
    await t.rejects(counted(sql, 'tally_v1'), { code: '42P01' });
    t.equal(await projector.schema('tally'), 'tally_v1_g2');
    t.equal(
      await sql.query(`select 1 from projections.builds where name = 'tally'`).then((rows) => rows.length),
      1,
    );
  });

  t.test('READ-07 views show what is read, under the name of the read model', async (t) => {
    const store = await open();
    const { sql } = store;
    const { add, project } = await startLog(t);
    const things = async () => (await sql.query<{ n: number }>('select total as n from tally.sums'))[0]!.n;
    const isSwitched =
      (to: string, of = projector) =>
      async () =>
        (await of.schema('tally')) === to;
    const projector = project(sql, [tally()]);
    await projector.start();
    await projector.reached('tally', await add('x'), within);
    await eventually('the first build', isSwitched('tally_v1'));
    if (sql.engine === 'pglite') {
      await t.rejects(things(), { code: '42P01' }, 'nobody else can open an embedded store');
      return;
    }
    await eventually('the views', async () => (await things().catch(() => 0)) === 1);
    await projector.upkeep.rebuild('tally');
    await eventually('the switch', isSwitched('tally_v1_g2'));
    const defined = async () =>
      (await sql.query<{ by: string }>(`select pg_get_viewdef('tally.sums'::regclass) as by`))[0]!.by;
    await eventually('the views of the second build', async () => /tally_v1_g2/.test(await defined()));
    t.same(await projector.upkeep.prune(), ['tally_v1']);
    await projector.reached('tally', await add('x'), within);
    t.equal(await things(), 2, 'the build that was dropped took no view with it');

    const newer = project(await store.connect(), [tally({ version: 2 })]);
    await newer.start();
    await eventually('the new version', isSwitched('tally_v2', newer));
    await eventually('its views', async () => /tally_v2/.test(await defined()));
    const old = project(await store.connect(), [tally()]);
    await old.start();
    await eventually('the old version', isSwitched('tally_v1_g2', old));
    await projector.reached('tally', await add('x'), within);
    t.match(await defined(), /tally_v2/, 'a process with an older version leaves the views of the newer one');
  });

  t.test('READ-07 a schema of the name that somebody else made is left alone', async (t) => {
    const { sql } = await open();
    const { add, project } = await startLog(t);
    await sql.query('create schema tally; create table tally.things (own text)');
    const projector = project(sql, [tally()]);
    await projector.start();
    t.ok(await projector.reached('tally', await add('x'), within));
    await projector.upkeep.rebuild('tally');
    await eventually('the switch', async () => (await projector.schema('tally')) === 'tally_v1_g2');
    await projector.stop();
    t.same(await sql.query('select own from tally.things'), []);
    await sql.query('drop schema tally cascade');
  });

  t.test(
    'READ-06 READ-07 a new version takes over when it has caught up, and the old code can come back',
    async (t) => {
      const store = await open();
      const { sql } = store;
      const { add, project } = await startLog(t);
      for (let n = 0; n < 30; n++) await add('x');
      const old = project(sql, [tally()]);
      await old.start();
      await eventually('the first version', () => old.schema('tally'));

      const { promise, openGate } = gate();
      const isPostgres = sql.engine === 'postgres';
      const upgraded = project(await store.connect(), [
        tally({ version: 2, ...(isPostgres ? { gate: { schema: 'tally_v2', opened: promise } } : {}) }),
      ]);
      await upgraded.start();
      if (isPostgres) {
        t.equal(await upgraded.schema('tally'), 'tally_v1', 'reads go on where they were');
        t.notOk(upgraded.caughtUp());
        const picky = project(await store.connect(), [tally({ version: 2, readsFrom: 2 })]);
        await t.rejects(picky.schema('tally'), { code: 'read_model_building' }, 'unless the queries cannot');
      }
      openGate();
      await eventually('the new version', async () => (await upgraded.schema('tally')) === 'tally_v2');
      await eventually('readiness', () => upgraded.caughtUp());
      t.equal(await old.schema('tally'), 'tally_v1', 'a process with the old code reads its own tables');
      const last = await add('x');
      t.ok(await old.reached('tally', last, within));
      t.ok(await upgraded.reached('tally', last, within));
      for (const schema of ['tally_v1', 'tally_v2']) t.equal((await counted(sql, schema)).things, last.seq);

      t.same(await old.upkeep.prune(), [], 'a newer version is not the old code’s business');
      await old.stop();
      t.same(await upgraded.upkeep.prune(), ['tally_v1']);
      const without = project(sql, [tally({ name: 'another' })]);
      await without.start();
      await upgraded.stop();
      t.same(
        await without.upkeep.prune(),
        ['tally_v2'],
        'read models that the code no longer has are dropped',
      );
    },
  );

  t.test('READ-20 what is far behind gives way to requests', async (t) => {
    const { sql } = await open();
    const { add, project } = await startLog(t);
    const facts = 900;
    const added = await Promise.all(Array.from({ length: facts }, () => add('x')));
    const last = added.reduce((one, other) => (one.seq > other.seq ? one : other));
    let isBusy = true;
    const batches: { size: number; wasBusy: boolean; pending: number }[] = [];
    const watched = tally();
    const projection: Projection = {
      ...watched,
      apply: async (tx, all, schema) => {
        if (all[0]!.stream === last.stream)
          batches.push({ size: all.length, wasBusy: isBusy, pending: last.seq - all.at(-1)!.seq });
        await watched.apply(tx, all, schema);
        if (last.seq - all.at(-1)!.seq <= facts / 2) isBusy = false;
      },
    };
    const projector = project(sql, [projection], { batch: 250, isBusy: () => isBusy });
    await projector.start();
    await eventually('everything', () => projector.reached('tally', last, within));
    t.equal((await counted(sql, 'tally_v1')).things, facts);
    const far = batches.filter(({ pending }) => pending >= 250);
    const busy = far.filter(({ wasBusy }) => wasBusy).map(({ size }) => size);
    t.ok(busy.length >= 4, `${busy}`);
    t.ok(
      busy.every((size) => size <= 100),
      `${busy}`,
    );
  });

  t.test('READ-21 facts that come fast are folded many at a time while nobody waits', async (t) => {
    const { sql } = await open();
    const { add, project } = await startLog(t);
    const facts = 4_000;
    let transactions = 0;
    const watched = tally();
    const projection: Projection = {
      ...watched,
      apply: async (tx, all, schema) => {
        transactions += 1;
        await watched.apply(tx, all, schema);
      },
    };
    const projector = project(sql, [projection], { batch: 10_000 });
    await projector.start();
    await projector.reached('tally', await add('first'), within);
    transactions = 0;
    const startedAt = performance.now();
    for (let n = 0; n < facts; n += 100) {
      await Promise.all(Array.from({ length: 100 }, () => add('x')));
      await sleep(30);
    }
    const ms = performance.now() - startedAt;
    await eventually('everything', async () => (await counted(sql, 'tally_v1')).things === facts + 1);
    // where appending is slow they do not come fast: 20 transactions a second are for facts that trickle in
    const perSecond = facts / ms > 1 ? 4 : 21;
    t.ok(transactions <= (ms / 1_000) * perSecond + 4, `${transactions} transactions in ${ms} ms`);
  });

  t.test('READ-13 a process that does not fold reads what others fold', async (t) => {
    const store = await open();
    const { add, project } = await startLog(t);
    const reader = project(await store.connect(), [tally()]);
    await t.rejects(reader.schema('tally'), { code: 'read_model_building', status: 503 });
    t.equal(await reader.reached('tally', { stream: 'THINGS', seq: 1 }, 20), false);
    t.notOk(reader.caughtUp());
    const projector = project(store.sql, [tally()]);
    await projector.start();
    t.ok(await reader.reached('tally', await add('x'), within));
    await eventually('the schema', async () => (await reader.schema('tally')) === 'tally_v1');
    await eventually('readiness', () => reader.caughtUp());
    t.match(await reader.status(), [{ schema: 'tally_v1', state: 'live', error: null }]);
    await reader.upkeep.rebuild('tally');
    await eventually('the switch', async () => (await reader.schema('tally')) === 'tally_v1_g2');

    const bad = await add('poison');
    await eventually('a halt', async () =>
      (await reader.status()).some(({ error }) => error?.seq === bad.seq),
    );
    await reader.upkeep.skip('tally', { stream: 'THINGS', seq: bad.seq, reason: 'bad', by: 'ann' });
    t.ok(await reader.reached('tally', await add('x'), within));
  });

  t.test('READ-10 facts that the stream no longer has do not hold up a read model', async (t) => {
    const { sql } = await open();
    const { log, add, project } = await startLog(t);
    for (let n = 0; n < 20; n++) await add('x');
    for (let n = 0; n < 5; n++) await add('y', 1, others);
    await log.manager.streams.purge('THINGS', { seq: 15 });
    await log.manager.streams.purge('OTHERS');
    const projector = project(sql, [tally()]);
    await projector.start();
    await eventually('no lag', async () =>
      (await projector.status())[0]!.streams.every(({ lag }) => lag === 0),
    );
    const schema = await eventually('the build', () => projector.schema('tally'));
    t.match(await counted(sql, schema), { things: 6, others: 0 });
    t.ok(await projector.reached('tally', { stream: 'OTHERS', seq: 5 }, within));
    t.ok(await projector.reached('tally', await add('y', 1, others), within));
    await projector.stop();
    for (let n = 0; n < 20; n++) await add('x');
    await log.manager.streams.purge('THINGS');
    const again = project(sql, [tally()]);
    await again.start();
    t.ok(await again.reached('tally', { stream: 'THINGS', seq: 40 }, within));
    t.ok(await again.reached('tally', await add('x'), within));
  });

  t.test('READ-11 folding goes on after the log server was killed', async (t) => {
    const { sql } = await open();
    const { nats, add, project } = await startLog(t);
    const projector = project(sql, [tally()]);
    await projector.start();
    t.ok(await projector.reached('tally', await add('x'), within));
    for (let round = 0; round < 2; round++) {
      await nats.kill();
      t.equal(await projector.schema('tally'), 'tally_v1', 'reads do not need the log');
      await nats.start();
      const last = await eventually('an append', () => add('x'));
      t.ok(await projector.reached('tally', last, 20_000));
      t.equal((await counted(sql, 'tally_v1')).things, last.seq);
    }
  });

  t.test('READ-11 a reader that fell silent is replaced', async (t) => {
    const { sql } = await open();
    const { log, add, project } = await startLog(t);
    let silent = 0;
    const follow: Log['follow'] = async function* (stream, options) {
      if (silent++ >= 2) yield* log.follow(stream, options);
      else await new Promise((resolve) => options.signal.addEventListener('abort', resolve));
    };
    const lossy = new Proxy(log, {
      get: (target, name) => {
        if (name === 'follow') return follow;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const projector = project(sql, [tally()], { log: lossy, stallMs: 100 });
    for (const stream of [things, others]) await add('x', 1, stream);
    await projector.start();
    t.ok(await projector.reached('tally', await add('x'), within));
  });

  t.test('READ-16 a log that is shorter than the read model halts it until it is rebuilt', async (t) => {
    const { sql } = await open();
    const { log, add, project } = await startLog(t);
    for (let n = 0; n < 20; n++) await add('x');
    const before = project(sql, [tally()]);
    await before.start();
    t.ok(await before.reached('tally', { stream: 'THINGS', seq: 20 }, within));
    await before.stop();
    await log.manager.streams.delete('THINGS');
    await log.manager.streams.add({ name: 'THINGS', subjects: ['things.>'], allow_direct: true });
    await add('new');
    const projector = project(sql, [tally()]);
    await projector.start();
    await eventually('a halt', async () => (await projector.status())[0]!.state === 'halted');
    t.match((await projector.status())[0]!.error, { stream: 'THINGS', seq: 20, message: /not the same log/ });
    await projector.upkeep.rebuild('tally');
    await eventually('the switch', async () => (await projector.schema('tally')) === 'tally_v1_g2');
    t.match(await counted(sql, 'tally_v1_g2'), { things: 1, sums: { new: 1 } });
  });

  t.test(
    'READ-02 a store that lost its last commits, or everything, is filled again without a new fact',
    async (t) => {
      const { sql } = await open();
      const { add, project } = await startLog(t);
      for (let n = 0; n < 20; n++) await add('x');
      const projector = project(sql, [tally()]);
      await projector.start();
      t.ok(await projector.reached('tally', { stream: 'THINGS', seq: 20 }, within));
      await sql.query(`begin;
      update projections.builds set positions = positions || '{"THINGS": 12}';
      delete from tally_v1.seen where seq > 12;
      update tally_v1.sums set total = 12;
      commit`);
      const whole = async (schema: string) => (await counted(sql, schema)).sums.x === 20;
      await eventually('the lost facts', () => whole('tally_v1'));
      await sql.query('drop schema projections cascade; drop schema tally_v1 cascade');
      await eventually('all facts', async () => whole(await projector.schema('tally')));
    },
  );

  t.test('READ-02 a stop finishes what is in hand, and the next start goes on from there', async (t) => {
    const { sql } = await open();
    const { add, project } = await startLog(t);
    for (let n = 0; n < 100; n++) await add('x');
    for (let round = 0; round < 4; round++) {
      const projector = project(sql, [tally()]);
      await projector.start();
      await projector.reached('tally', { stream: 'THINGS', seq: (round + 1) * 20 }, within);
      await projector.stop();
      const [build] = await sql.query<{ positions: Record<string, number> }>(
        'select positions from projections.builds',
      );
      t.equal((await counted(sql, 'tally_v1')).things, build!.positions.THINGS);
    }
  });

  t.test('READ-04 tables that cannot be created halt their read model only', async (t) => {
    const { sql } = await open();
    const { add, project } = await startLog(t);
    const broken = { ...tally({ name: 'broken' }), ddl: () => 'create tabel x ()' };
    const projector = project(sql, [broken, tally()]);
    await projector.start();
    t.ok(await projector.reached('tally', await add('x'), within));
    await eventually('a halt', async () => (await projector.status())[0]!.state === 'halted');
    t.match((await projector.status())[0]!.error?.message, /syntax error/);
  });

  t.test('READ-04 streams of one read model are folded by themselves', async (t) => {
    const { sql } = await open();
    const { add, project } = await startLog(t);
    const projector = project(sql, [tally()]);
    await projector.start();
    t.ok(await projector.reached('tally', await add('x'), within));
    await add('poison');
    await eventually('a halt', async () => (await projector.status())[0]!.state === 'halted');
    t.ok(await projector.reached('tally', await add('y', 1, others), within));
    t.equal((await projector.status())[0]!.error?.stream, things.name);
  });
});

function gate(): { promise: Promise<void>; openGate: () => void } {
  let openGate = () => {};
  const promise = new Promise<void>((resolve) => {
    openGate = resolve;
  });
  return { promise, openGate };
}
