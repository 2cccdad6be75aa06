import type { Build } from './builds.js';
import type { Projection } from './projection.js';
import type { Sql, Tx } from './sql.js';

/** The comment on each schema of views begins with it, and ends with the schema of the build that they show. */
const mark = 'Views of a read model, for people. They show the build ';
/** Any number: it keeps two processes from making the same views at the same moment. */
const viewsLock = 5_309_452;

/** What became of the views of a read model: they show the build, or a newer one, or the schema is somebody else's. */
export type Shown = 'shown' | 'newer' | 'foreign';

/** A view as people see it: its name, what is said of it, and its columns with their types and what is said of them. */
interface View {
  view: string;
  says: string | null;
  columns: { name: string; type: string; says: string | null }[];
}

/**
 * Makes views that show the tables of a build under the name of its read model, as in `delivery_queue.events`, so that
 * people find what is read now. They say what they and their columns are, and show JSON as `jsonb`. The service does not
 * read them. A schema of that name that others made stays as it is.
 */
export async function showBuild(
  sql: Sql,
  projection: Projection,
  build: Build,
  builds: readonly Build[],
): Promise<Shown> {
  const { name, schema } = build;
  return await sql.transaction(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(${viewsLock})`);
    const [found] = await tx.query<{ says: string | null }>(
      `select obj_description(oid, 'pg_namespace') as says from pg_namespace where nspname = $1`,
      [name],
    );
    if (found && !found.says?.startsWith(mark)) return 'foreign';
    const shown = found?.says?.slice(mark.length);
    const other = builds.find((one) => one.schema === shown);
    if (shown !== schema && other?.caughtUpAt && isNewer(other, build)) return 'newer';
    const tables = await viewsOf(tx, schema);
    const wanted = await wantedViews(tx, projection, tables);
    // another version of the service may have said something else of the same tables
    if (shown === schema && JSON.stringify(wanted) === JSON.stringify(await viewsOf(tx, name)))
      return 'shown';
    await tx.query(
      `drop schema if exists ${name} cascade; create schema ${name};
       ${wanted.map((view, index) => createView(view, name, schema, tables[index]!)).join('')}
       comment on schema ${name} is '${mark}${schema}'`,
    );
    return 'shown';
  });
}

/** The tables of a schema, or its views, with their columns in order. */
async function viewsOf(tx: Tx, schema: string): Promise<View[]> {
  return await tx.query<View>(
    `select relname as view, obj_description(c.oid, 'pg_class') as says, columns
     from pg_class as c cross join lateral (
       select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod),
         'says', col_description(c.oid, attnum)) order by attnum) as columns
       from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) as listed
     where relnamespace = $1::text::regnamespace and relkind in ('r', 'v') and columns is not null order by relname`,
    [schema],
  );
}

/** The views that show a build. Nothing may be said of columns of an older version. */
async function wantedViews(tx: Tx, { about }: Projection, tables: View[]): Promise<View[]> {
  const [server] = await tx.query<{ checks: boolean }>(
    `select current_setting('server_version_num')::integer >= ${firstToCheck} as checks`,
  );
  return tables.map(({ view, columns }) => ({
    view,
    says: about[view]?.says ?? null,
    columns: columns.map(({ name, type }) => ({
      name,
      type: server?.checks && type === 'text' && about[view]?.json?.includes(name) ? 'jsonb' : type,
      says: about[view]?.columns[name] ?? null,
    })),
  }));
}

/** The first version of the server that tells whether a text is JSON. Before it, JSON stays text. */
const firstToCheck = 160_000;

function createView({ view, says, columns }: View, name: string, schema: string, table: View): string {
  // a text that jsonb does not take, such as one with a zero character, is shown as a text
  const shown = columns.map(({ name: column, type }, index) =>
    type !== table.columns[index]?.type
      ? `case when pg_input_is_valid("${column}"::text, 'jsonb') then "${column}"::jsonb else to_jsonb("${column}") end as "${column}"`
      : `"${column}"`,
  );
  const comments = columns.flatMap((column) =>
    column.says === null
      ? []
      : [`comment on column ${name}.${view}."${column.name}" is ${quoted(column.says)};`],
  );
  return `create view ${name}.${view} as select ${shown.join(', ')} from ${schema}.${view};
    ${says === null ? '' : `comment on view ${name}.${view} is ${quoted(says)};`}
    ${comments.join(' ')}`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** While versions of the service replace each other, both read a build of their own. The views show the newer one. */
function isNewer(one: Build, other: Build): boolean {
  return one.version > other.version || (one.version === other.version && one.generation > other.generation);
}
