import t from 'tap';
import { json, type Sql } from '../../../projections/core/sql.js';
import { eachSql } from '../../support/sql.js';
import { runIn } from '../scenario.js';
import { World } from '../world.js';
import { startEngine } from './engine.js';
import { SimulatedStore, troubles } from './server.js';

const boundMs = 60_000;

/** What a store answers to all that the product asks of one. */
async function script(sql: Sql): Promise<unknown[]> {
  const answers: unknown[] = [];
  const note = async (work: Promise<unknown>) => {
    answers.push(
      await work.catch(({ code, kind, message }) => ({
        code,
        kind,
        message: code === undefined ? message : '',
      })),
    );
  };
  await note(sql.query('select * from nowhere'));
  await note(
    sql.query('create schema s; create table s.rows (n bigint primary key, at timestamptz, data jsonb)'),
  );
  const at = new Date(1_700_000_000_000);
  await note(sql.query('insert into s.rows values ($1, $2, $3)', [1, at, json({ a: 'é\0' })]));
  await note(sql.query('select * from s.rows where n = any($1::bigint[])', [[1, 2]]));
  await note(
    sql.query('select sum(n), count(*), max(at)::date as day from s.rows where $1::text[] is not null', [
      ['x', null],
    ]),
  );
  await note(
    sql.transaction(async (tx) => {
      // sent together: what follows an error fails, too
      const all = ['insert into s.rows values (2)', 'insert into s.rows values (1)', 'select 1'];
      return (await Promise.allSettled(all.map((text) => tx.query(text)))).map(({ status }) => status);
    }),
  );
  await note(
    sql.transaction(async (tx) => {
      await tx.query('insert into s.rows values (3)');
      await tx.query('select 1 / 0');
    }),
  );
  await note(
    sql.transaction(async (tx) => {
      await tx.query('insert into s.rows values (4)');
      throw new Error('no more');
    }),
  );
  await note(
    Promise.all(
      [5, 6, 7].map((n) =>
        sql.transaction((tx) => tx.query('insert into s.rows values ($1) returning n', [n])),
      ),
    ),
  );
  await note(sql.query('select n from s.rows order by n'));
  return answers;
}

t.test('SIM-13 the simulated store answers what the real ones answer', async (t) => {
  await startEngine();
  const world = new World(1);
  const simulated = await runIn(world, boundMs, async () => {
    const sql = (await SimulatedStore.open(world)).connect();
    const answers = await script(sql);
    await sql.close();
    return answers;
  });
  await world.pass(1_000);
  t.equal(world.waiting, 0);
  eachSql(t, async (t, open) => {
    const { sql } = await open();
    t.same(simulated, await script(sql));
  });
});

/** A store with one row for each number that was written, and what became of the writing. */
async function written(
  play: (store: SimulatedStore, write: (n: number) => Promise<void>, sql: Sql) => Promise<void>,
): Promise<{ rows: number[]; outcomes: Record<number, string>; losses: number }> {
  const world = new World(7);
  return await runIn(world, boundMs, async () => {
    const store = await SimulatedStore.open(world);
    const sql = store.connect();
    await sql.query('create table numbers (n bigint)');
    await new Promise((resolve) => world.after(1_000, () => resolve(undefined)));
    const outcomes: Record<number, string> = {};
    const write = async (n: number) => {
      const writing = sql.transaction((tx) => tx.query('insert into numbers values ($1)', [n]));
      outcomes[n] = await writing.then(
        () => 'written',
        ({ code }) => code,
      );
    };
    await play(store, write, sql);
    store.heal();
    const rows = await store.look<{ n: number }>('select n from numbers order by n').catch(() => []);
    const { losses } = sql;
    await sql.close();
    return { rows: rows.map(({ n }) => n), outcomes, losses };
  });
}

const away = 'store_unavailable';

t.test('SIM-13 a commit that fails, and one whose answer is lost', async (t) => {
  const found = await written(async (store, write) => {
    store.failCommits(['lost before', 'lost after', 'refused']);
    for (const n of [1, 2, 3, 4]) await write(n);
  });
  t.same(found, {
    rows: [2, 4],
    losses: 2,
    outcomes: { 1: away, 2: away, 3: away, 4: 'written' },
  });
});

t.test('SIM-13 a crash loses the last commits, one in good order none, a new one all', async (t) => {
  const crashed = await written(async (store, write) => {
    await write(1);
    await write(2);
    await store.crash(10);
    await write(3);
  });
  t.same(crashed, { rows: [], losses: 1, outcomes: { 1: 'written', 2: 'written', 3: away } });
  const ended = await written(async (store, write) => {
    await write(1);
    await store.restart(0);
    await write(2);
    await write(3);
  });
  t.same(ended, { rows: [1, 3], losses: 1, outcomes: { 1: 'written', 2: away, 3: 'written' } });
  const cut = await written(async (store, write, sql) => {
    const half = sql.transaction(async (tx) => {
      await tx.query('insert into numbers values (1)');
      await store.restart(0);
      await tx.query('insert into numbers values (2)');
    });
    await half.catch(() => {});
    await write(3);
  });
  t.same(cut, { rows: [3], losses: 1, outcomes: { 3: 'written' } }, 'what is not committed is lost');
  const lost = await written(async (store, write) => {
    await write(1);
    await store.loseAll(0);
  });
  t.same(lost, { rows: [], losses: 0, outcomes: { 1: 'written' } });
});

t.test('SIM-13 refused statements and cut connections say nothing about the statements', async (t) => {
  for (const error of Object.values(troubles)) {
    const { rows, outcomes } = await written(async (store, write) => {
      store.trouble(error, 1, 1_000);
      await write(1);
      store.heal();
      await write(2);
    });
    t.same(outcomes[2], 'written');
    t.same(rows, [2], String(outcomes[1]));
  }
});
