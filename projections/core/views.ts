import type { Build } from './builds.js';
import type { Sql } from './sql.js';

/** The comment on each schema of views begins with it, and ends with the schema of the build that they show. */
const mark = 'Views of a read model, for people. They show the build ';
/** Any number: it keeps two processes from making the same views at the same moment. */
const viewsLock = 5_309_452;

/** What became of the views of a read model: they show the build, or a newer one, or the schema is somebody else's. */
export type Shown = 'shown' | 'newer' | 'foreign';

/**
 * Makes views that show the tables of a build under the name of its read model, as in `delivery_queue.events`, so that
 * people find what is read now. The service does not read them. A schema of that name that others made stays as it is.
 */
export async function showBuild(sql: Sql, build: Build, builds: readonly Build[]): Promise<Shown> {
  const { name, schema } = build;
  return await sql.transaction(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(${viewsLock})`);
    const [found] = await tx.query<{ says: string | null }>(
      `select obj_description(oid, 'pg_namespace') as says from pg_namespace where nspname = $1`,
      [name],
    );
    if (found && !found.says?.startsWith(mark)) return 'foreign';
    const shown = found?.says?.slice(mark.length);
    if (shown === schema) return 'shown';
    const other = builds.find((one) => one.schema === shown);
    if (other?.caughtUpAt && isNewer(other, build)) return 'newer';
    const tables = await tx.query<{ table: string }>(
      `select tablename as table from pg_tables where schemaname = $1 order by tablename`,
      [schema],
    );
    const views = tables.map(
      ({ table }) => `create view ${name}.${table} as select * from ${schema}.${table};`,
    );
    await tx.query(
      `drop schema if exists ${name} cascade; create schema ${name}; ${views.join(' ')}
       comment on schema ${name} is '${mark}${schema}'`,
    );
    return 'shown';
  });
}

/** While versions of the service replace each other, both read a build of their own. The views show the newer one. */
function isNewer(one: Build, other: Build): boolean {
  return one.version > other.version || (one.version === other.version && one.generation > other.generation);
}
