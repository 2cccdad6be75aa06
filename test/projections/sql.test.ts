import t from 'tap';
import { json, storeError } from '../../projections/core/sql.js';
import { eachSql } from '../support/sql.js';

t.test('READ-08 a connection that breaks is no fault of the statement', async (t) => {
  const broken = (code: string) => Object.assign(new Error(`write ${code}`), { code });
  for (const code of ['EPIPE', 'ECONNRESET', '57P01', '08006', '40001']) {
    t.match(storeError(broken(code)), { kind: 'unavailable', code: 'store_unavailable' }, code);
  }
  for (const code of ['23505', '22012', 'P0001', 'XX000']) t.match(storeError(broken(code)), { code }, code);
});

eachSql(t, async (t, open) => {
  const { sql } = await open();

  t.test('READ-12 values of both engines are the same', async (t) => {
    const at = new Date('2026-03-01T10:20:30.456Z');
    const [row] = await sql.query(
      `select $1::bigint as big, $2::text as text, $3::boolean as yes, $4::timestamptz as at, $5::text as nothing,
         $6::text[] as texts, $7::bigint[] as numbers, $8::jsonb as document, $9::integer as small,
         1.5::float8 as half, 1.50::numeric as exact, date '2026-03-01' as day,
         timestamp '2026-03-01 10:20:30.456' as local, count(*) as counted from generate_series(1, 3)`,
      [
        9_007_199_254_740_991,
        'é"\\\'',
        true,
        at,
        null,
        ['a', 'b"\\,{}', null, ''],
        [1, null, 3],
        json({ a: [1, { b: null }] }),
        -5,
      ],
    );
    t.same(row, {
      big: 9_007_199_254_740_991,
      text: 'é"\\\'',
      yes: true,
      at,
      nothing: null,
      texts: ['a', 'b"\\,{}', null, ''],
      numbers: [1, null, 3],
      document: { a: [1, { b: null }] },
      small: -5,
      half: 1.5,
      exact: '1.50',
      day: '2026-03-01',
      local: at,
      counted: 3,
    });
  });

  t.test(
    'READ-12 text that PostgreSQL cannot hold is stored as far as it goes and found again',
    async (t) => {
      await sql.query('create table texts (value text, document jsonb)');
      const hostile = 'a\0b\ud800c\udc00d\\u0000 \\ud800 😀';
      const document = { [hostile]: [hostile, '\u001f', '"\\'] };
      await sql.query('insert into texts select unnest($1::text[]), $2::jsonb', [[hostile], json(document)]);
      const [row] = await sql.query('select * from texts where value = $1', [hostile]);
      const kept = 'a\ufffdb\ufffdc\ufffdd\\u0000 \\ud800 😀';
      t.same(row, { value: kept, document: { [kept]: [kept, '\u001f', '"\\'] } });
    },
  );

  t.test('READ-12 several statements without parameters give the rows of the last', async (t) => {
    t.same(
      await sql.query(
        'create table several (n integer); insert into several values (1), (2); select n from several',
      ),
      [{ n: 1 }, { n: 2 }],
    );
    t.same(await sql.query('delete from several'), []);
  });

  t.test('READ-12 errors carry their SQLSTATE, and the next statement works', async (t) => {
    await t.rejects(sql.query('select * from nowhere', []), { code: '42P01' });
    await t.rejects(sql.query('select 1 / $1::integer', [0]), { code: '22012' });
    t.same(await sql.query('select 1 as one', []), [{ one: 1 }]);
  });

  t.test('READ-12 a statement that is run again sees what changed', async (t) => {
    await sql.query('create table changing (a integer primary key)');
    const all = () => sql.query('select * from changing order by a', []);
    const add = (n: number) => sql.query('insert into changing (a) values ($1)', [n]);
    await add(1);
    t.same(await all(), [{ a: 1 }]);
    await sql.query("alter table changing add column b text not null default 'b'");
    t.same(await all(), [{ a: 1, b: 'b' }], 'other columns');
    for (let time = 0; time < 3; time++) await t.rejects(add(1), { code: '23505' });
    await t.rejects(sql.query('select * from changing where a = $1', ['x']), { code: '22P02' });
    t.same(await sql.query('select * from changing where a = $1', [1]), [{ a: 1, b: 'b' }]);
    await add(2);
    await sql.query(
      'drop table changing; create table changing (a text); insert into changing values ($$x$$)',
    );
    t.same(await all(), [{ a: 'x' }], 'another table of the same name');
    t.same(
      await sql.query('select * from changing where a = $1', ['x']),
      [{ a: 'x' }],
      'and of another type',
    );
    await t.rejects(
      sql.transaction(async (tx) => {
        await tx.query('alter table changing add column c integer');
        await tx.query('select * from nowhere where a = $1', ['x']);
      }),
      { code: '42P01' },
    );
    t.same(await sql.query('select * from changing where a = $1', ['x']), [{ a: 'x' }]);
    for (let n = 0; n < 300; n++)
      t.same(await sql.query(`select $1::integer + ${n} as sum`, [1]), [{ sum: n + 1 }]);
    t.same(await all(), [{ a: 'x' }], 'also after many others');
  });

  t.test('READ-12 a transaction is all or nothing', async (t) => {
    await sql.query('create table ledger (n integer primary key)');
    const failing = sql.transaction(async (tx) => {
      await tx.query('insert into ledger values ($1)', [1]);
      throw new Error('changed my mind');
    });
    await t.rejects(failing, { message: 'changed my mind' });
    const violating = sql.transaction(async (tx) => {
      await tx.query('insert into ledger values ($1)', [2]);
      await tx.query('insert into ledger values ($1)', [2]);
    });
    await t.rejects(violating, { code: '23505' });
    const careless = sql.transaction(async (tx) => {
      await tx.query('insert into ledger values ($1)', [3]);
      await tx.query('insert into ledger values ($1)', [3]).catch(() => {});
    });
    await t.rejects(careless, /had failed/, 'a failure that was passed over is not a success');
    t.same(await sql.query('select * from ledger'), []);
    t.equal(
      await sql.transaction(async (tx) => (await tx.query('insert into ledger values ($1)', [4])).length),
      0,
    );
    t.same(await sql.query('select * from ledger'), [{ n: 4 }]);
  });

  t.test('READ-12 transactions and queries given at once do not mix', async (t) => {
    await sql.query('create table counter (n integer); insert into counter values (0)');
    const add = () =>
      sql.transaction(async (tx) => {
        const [row] = await tx.query<{ n: number }>('select n from counter for update', []);
        await tx.query('update counter set n = $1', [row!.n + 1]);
      });
    const reads: number[] = [];
    const read = async () => {
      const [row] = await sql.query<{ n: number }>('select n from counter', []);
      reads.push(row!.n);
    };
    await Promise.all(Array.from({ length: 60 }, (_, i) => (i % 2 ? add() : read())));
    t.same(await sql.query('select n from counter'), [{ n: 30 }]);
    t.equal(reads.length, 30);
  });

  t.test('READ-12 a closed store says so', async (t) => {
    const { sql } = await open();
    await sql.close();
    await t.rejects(sql.query('select 1', []), { kind: 'unavailable', code: 'store_unavailable' });
  });
});
