import t from 'tap';
import type { Projector } from '../../projections/core/projector.js';
import type { Sql } from '../../projections/core/sql.js';
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

  t.test('READ-22 who acts on an answer is not told what was true before', async (t) => {
    let hasReached = false;
    const projector = {
      schema: async () => 'fresh',
      reached: async () => hasReached,
    } as unknown as Projector;
    const models = new ReadModels(sql, projector);
    const query = (sql: Sql, schema: string) => sql.query(`select id from ${schema}.things`);
    const position = { stream: 'IRC', seq: 9 };
    await t.rejects(models.readAt('things', query, position), { code: 'read_model_behind', status: 503 });
    t.same(await models.read('things', query, position), [{ id: 7 }], 'who only looks is');
    hasReached = true;
    t.same(await models.readAt('things', query, position), [{ id: 7 }]);
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
