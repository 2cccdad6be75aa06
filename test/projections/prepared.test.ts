import t from 'tap';
import { Prepared } from '../../projections/core/prepared.js';
import type { Param, Tx } from '../../projections/core/sql.js';
import { eachSql } from '../support/sql.js';

eachSql(t, async (t, open) => {
  const { sql } = await open();
  await sql.query('create table notes (id bigint primary key, text text not null)');
  const insert = `insert into notes select * from unnest($1::bigint[], $2::text[])`;
  const notes = () => sql.query('select id, text from notes order by id');

  t.test('READ-02 work begins before its transaction and is stored with it', async (t) => {
    const params: Param[] = [
      [1, 2],
      ['one', 'two\0'],
    ];
    const before: string[] = [];
    const prepared = new Prepared(async (tx) => {
      before.push('began');
      await tx.query(insert, params);
      const [row] = await tx.query<{ count: number }>('select count(*) from notes');
      await tx.query(insert, [[3], [`behind ${row?.count}`]]);
    });
    t.same(before, ['began']);
    params.length = 0; // they are on the wire already
    t.same(await notes(), []);
    await sql.transaction((tx) => prepared.run(tx));
    t.same(await notes(), [
      { id: 1, text: 'one' },
      { id: 2, text: 'two\ufffd' },
      { id: 3, text: 'behind 2' },
    ]);
  });

  t.test('READ-02 what the work throws is thrown in its transaction, and nothing is stored', async (t) => {
    const before = await notes();
    const works: ((tx: Tx) => Promise<void>)[] = [
      () => {
        throw new Error('at once');
      },
      async (tx) => {
        await tx.query(insert, [[4], ['four']]);
        throw new Error('in the middle');
      },
      async (tx) => {
        await tx.query(insert, [
          [5, 5],
          ['five', 'five'],
        ]);
      },
    ];
    const errors = [{ message: 'at once' }, { message: 'in the middle' }, { code: '23505' }];
    for (const [index, work] of works.entries()) {
      const prepared = new Prepared(work);
      await t.rejects(
        sql.transaction((tx) => prepared.run(tx)),
        errors[index]!,
      );
    }
    t.same(await notes(), before);
  });
});
