import t from 'tap';
import { emptyBuild, ensureBuild } from '../../projections/core/builds.js';
import type { Sql } from '../../projections/core/sql.js';
import { showBuild } from '../../projections/core/views.js';
import { projections } from '../../projections/index.js';
import { eachSql } from '../support/sql.js';
import { tally } from './tally.js';

interface Column {
  table: string;
  name: string;
  type: string;
  table_says: string | null;
  says: string | null;
}

/** The columns of the views, or of the tables, of a schema, with what is said of them. */
function columnsOf(sql: Sql, schema: string): Promise<Column[]> {
  return sql.query<Column>(
    `select table_name as table, column_name as name, data_type as type,
       obj_description((quote_ident(table_schema) || '.' || quote_ident(table_name))::regclass, 'pg_class') as table_says,
       col_description((quote_ident(table_schema) || '.' || quote_ident(table_name))::regclass, ordinal_position) as says
     from information_schema.columns where table_schema = $1 order by 1, ordinal_position`,
    [schema],
  );
}

eachSql(t, async (t, open) => {
  const { sql } = await open();

  t.test('READ-07 every view and every column says what it is, and JSON is jsonb', async (t) => {
    for (const projection of projections) {
      const build = emptyBuild(projection, 1);
      await ensureBuild(sql, projection, 1);
      t.equal(await showBuild(sql, projection, build, [build]), 'shown');
      const { name, about } = projection;
      const shown = await columnsOf(sql, name);
      const stored = await columnsOf(sql, build.schema);
      const places = (columns: { table: string; name: string }[]) =>
        columns.map((column) => `${column.table}.${column.name}`);
      t.same(places(shown), places(stored), `${name} has views of all tables`);
      const told = Object.entries(about).flatMap(([table, { columns }]) =>
        Object.keys(columns).map((name) => ({ table, name })),
      );
      t.same(places(told).sort(), places(stored).sort(), `${name} says something of each column`);
      for (const [index, { table, name: column, type, ...says }] of shown.entries()) {
        const place = `${name}.${table}.${column}`;
        t.equal(says.table_says, about[table]?.says, place);
        t.match(says.says, /^[A-Z].*\.$/, place);
        const isJson = about[table]?.json?.includes(column);
        t.equal(type, isJson ? 'jsonb' : stored[index]?.type, place);
        if (isJson) t.equal(stored[index]?.type, 'text', `${place} is a text in the table`);
      }
      // servers before 16 do not have it, and all texts stay texts there
      const definitions = await sql.query<{ text: string }>(
        `select pg_get_viewdef(c.oid) as text from pg_class as c
         where relnamespace = $1::text::regnamespace and relkind = 'v'`,
        [name],
      );
      const checks = definitions.flatMap(({ text }) => text.match(/pg_input_is_valid/g) ?? []);
      const texts = Object.values(about).flatMap(({ json }) => json ?? []);
      t.equal(checks.length, texts.length, `${name} checks texts alone`);
    }
  });

  t.test('READ-07 JSON can be asked, and a text that jsonb does not take is shown as it is', async (t) => {
    const rows = [
      [1, 'a', '{"bounty": 5, "skills": ["x"]}'],
      [2, 'b', '{"title": "a\\u0000b"}'],
    ] as const;
    for (const row of rows)
      await sql.query(
        `insert into delivery_queue_v3.events values ($1, $2, 'task.published', 'test', $3, '["#a"]', 'line', now())`,
        [...row],
      );
    const found = await sql.query(
      `select id, payload, payload ->> 'bounty' as bounty, target_channels ->> 0 as first
       from delivery_queue.events order by id`,
    );
    t.same(found, [
      { id: 1, payload: { bounty: 5, skills: ['x'] }, bounty: '5', first: '#a' },
      { id: 2, payload: rows[1][2], bounty: null, first: '#a' },
    ]);
  });

  t.test('READ-07 views of a version that said something else are made again, others are kept', async (t) => {
    const said = (says: string) => ({
      ...tally(),
      about: { sums: { says, columns: { name: `It's ${says}` } } },
    });
    const before = tally();
    const build = emptyBuild(before, 1);
    await ensureBuild(sql, before, 1);
    const oid = async () =>
      (await sql.query<{ oid: number }>(`select 'tally.sums'::regclass::oid::integer as oid`))[0]!.oid;
    const oids: number[] = [];
    for (const projection of [before, said('new'), said('new'), said('newer')]) {
      t.equal(await showBuild(sql, projection, build, [build]), 'shown');
      oids.push(await oid());
    }
    t.equal(new Set(oids).size, 3, 'not twice for the same words');
    t.equal(oids[1], oids[2]);
    t.match(await columnsOf(sql, 'tally'), [
      { table: 'seen', says: null },
      { table: 'seen', says: null },
      { table: 'sums', name: 'name', table_says: 'newer', says: "It's newer" },
      { table: 'sums', name: 'total', says: null },
    ]);
  });
});
