import t from 'tap';
import type { Projector } from '../../projections/core/projector.js';
import { ReadModels } from '../../src/stores/read-models.js';
import { eachSql } from '../support/sql.js';

eachSql(t, async (t, open) => {
  const { sql } = await open();
  await sql.query('create schema fresh');
  await sql.query('create table fresh.things (id integer)');
  await sql.query('insert into fresh.things values (7)');
  await sql.query('create schema hollow');

  t.test('READ-19 a build that is put away while it is read is read again in its successor', async (t) => {
    for (const gone of ['nowhere', 'hollow']) {
      const known = [gone, gone, 'fresh'];
      const projector = { schema: async () => known.shift() ?? 'fresh' } as unknown as Projector;
      const read = new ReadModels(sql, projector).read('things', (sql, schema) =>
        sql.query<{ id: number }>(`select id from ${schema}.things`),
      );
      t.same(await read, [{ id: 7 }], gone);
      t.same(known, [], 'what it knew was old for a moment');
    }
  });

  t.test('READ-19 a statement that is wrong stays wrong', async (t) => {
    let asked = 0;
    const schema = async () => {
      asked += 1;
      return 'fresh';
    };
    const projector = { schema } as unknown as Projector;
    const models = new ReadModels(sql, projector);
    await t.rejects(
      models.read('things', (sql, schema) => sql.query(`select nothing from ${schema}.things`)),
      { code: '42703' },
    );
    t.equal(asked, 1, 'it is not tried twice');
  });
});
