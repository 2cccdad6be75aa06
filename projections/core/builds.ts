import type { Projection } from './projection.js';
import type { Sql, Tx } from './sql.js';

/** One build of a read model: a version of it in tables of its own. */
export interface Build {
  name: string;
  version: number;
  /** 1, and one more each time an operator rebuilds the same version. */
  generation: number;
  /** SQL schema with its tables. */
  schema: string;
  /** Sequence up to which each stream is folded. */
  positions: Record<string, number>;
  /** The fact that each stream stopped at, if any. */
  halts: Record<string, Halt>;
  /** When it had caught up for the first time: from then on it is read. */
  caughtUpAt: Date | null;
}

/** A fact that could not be folded. */
export interface Halt {
  seq: number;
  message: string;
}

/** Any number: it keeps two processes from creating the registry at the same moment. */
const registryLock = 5_309_451;
/** SQLSTATEs. */
const undefinedTable = '42P01';
const divisionByZero = '22012';

/** A build before it exists. */
export function emptyBuild({ name, version }: Projection, generation: number): Build {
  const schema = `${name}_v${version}${generation > 1 ? `_g${generation}` : ''}`;
  return { name, version, generation, schema, positions: {}, halts: {}, caughtUpAt: null };
}

/** Creates the registry of builds if it does not exist. */
async function prepareBuilds(sql: Sql): Promise<void> {
  await sql.transaction(async (tx) => {
    await tx.query(`
      select pg_advisory_xact_lock(${registryLock});
      create schema if not exists projections;
      create table if not exists projections.builds (
        name text not null,
        version integer not null,
        generation integer not null,
        schema text not null unique,
        positions jsonb not null default '{}',
        halts jsonb not null default '{}',
        caught_up_at timestamptz,
        primary key (name, version, generation)
      )`);
  });
}

/** All builds, oldest first; empty if there is no registry yet. */
export async function readBuilds(on: Tx): Promise<Build[]> {
  try {
    return await on.query<Build>(
      `select name, version, generation, schema, positions, halts, caught_up_at as "caughtUpAt"
       from projections.builds order by name, version, generation`,
      [],
    );
  } catch (error) {
    if ((error as { code?: unknown }).code === undefinedTable) return [];
    throw error;
  }
}

/**
 * Creates a build with its tables if it does not exist. Of several processes one does it, and the others wait
 * for it.
 */
export async function ensureBuild(sql: Sql, projection: Projection, generation: number): Promise<void> {
  try {
    await createBuild(sql, projection, generation);
  } catch (error) {
    if ((error as { code?: unknown }).code !== undefinedTable) throw error;
    await prepareBuilds(sql);
    await createBuild(sql, projection, generation);
  }
}

async function createBuild(sql: Sql, projection: Projection, generation: number): Promise<void> {
  const { name, version, schema } = emptyBuild(projection, generation);
  await sql.transaction(async (tx) => {
    const created = await tx.query(
      `insert into projections.builds (name, version, generation, schema) values ($1, $2, $3, $4)
       on conflict do nothing returning schema`,
      [name, version, generation, schema],
    );
    if (created.length === 0) return;
    await tx.query(`create schema ${schema}; ${projection.ddl(schema)}`);
  });
}

/** Sequence up to which a build has folded a stream; `undefined` when the build does not exist. */
export async function readPosition(on: Tx, schema: string, stream: string): Promise<number | undefined> {
  const [row] = await on.query<{ seq: number }>(
    `select coalesce((positions ->> $2::text)::bigint, 0) as seq from projections.builds where schema = $1`,
    [schema, stream],
  );
  return row?.seq;
}

/**
 * Moves a position on if it is still what the caller believes. The row stays locked until the transaction
 * ends. So of several processes only one applies a fact, and only one at a time changes a build's tables. If
 * the position is another one, the transaction is over: statements that were sent after this one fail without
 * touching anything.
 */
export async function advance(
  tx: Tx,
  schema: string,
  stream: string,
  from: number,
  to: number,
): Promise<boolean> {
  try {
    await tx.query(
      `with moved as (
         update projections.builds
         set positions = positions || jsonb_build_object($2::text, $4::bigint), halts = halts - $2::text
         where schema = $1 and coalesce((positions ->> $2::text)::bigint, 0) = $3::bigint returning schema
       ) select 1 / count(*) from moved`,
      [schema, stream, from, to],
    );
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === divisionByZero) return false;
    throw error;
  }
}

/** Records, for all processes, at which fact a build stopped. */
export async function recordHalt(on: Tx, schema: string, stream: string, halt: Halt): Promise<void> {
  await on.query(
    `update projections.builds set halts = halts || jsonb_build_object($2::text, $3::jsonb) where schema = $1`,
    [schema, stream, JSON.stringify(halt)],
  );
}

/**
 * Lets reads go to a build from now on, unless it lags the one that is read now. A reader who has seen a fact
 * there must see it here. A halted build is not waited for: it may have folded another log. Answers whether
 * reads go to the build.
 */
export async function completeBuild(on: Tx, schema: string, readNow: string | undefined): Promise<boolean> {
  const completed = await on.query(
    `update projections.builds as fresh set caught_up_at = now()
     where schema = $1 and caught_up_at is null and not exists (
       select from projections.builds as old, jsonb_each_text(old.positions) as position
       where old.schema = $2 and not jsonb_exists(old.halts, position.key)
         and position.value::bigint > (fresh.positions ->> position.key)::bigint
     ) returning schema`,
    [schema, readNow ?? null],
  );
  return completed.length > 0;
}

/** Removes a build and its tables. */
export async function dropBuild(sql: Sql, schema: string): Promise<void> {
  await sql.transaction(async (tx) => {
    await tx.query(`delete from projections.builds where schema = $1`, [schema]);
    await tx.query(`drop schema if exists ${schema} cascade`);
  });
}

/**
 * Where reads of a process with this version of the read model go: to its own version, else to an older one
 * that it can read.
 */
export function activeBuild(builds: Build[], { name, version, readsFrom }: Projection): Build | undefined {
  return builds.findLast(
    (build) =>
      build.name === name && build.caughtUpAt && build.version <= version && build.version >= readsFrom,
  );
}

/**
 * The builds that a process with these read models no longer reads, and those of read models that it does not
 * have. Builds of newer versions are not among them.
 */
export function unusedBuilds(builds: Build[], projections: ReadonlyMap<string, Projection>): Build[] {
  return builds.filter((build) => {
    const projection = projections.get(build.name);
    if (!projection) return true;
    const active = activeBuild(builds, projection);
    const isUsed = build === active || buildsToFold(builds, projection).includes(build);
    return !isUsed && active?.version === projection.version && build.version <= projection.version;
  });
}

/**
 * The builds that a process with this version keeps up to date: the one that is read, and one that is being
 * built.
 */
export function buildsToFold(builds: Build[], projection: Projection): Build[] {
  const own = builds.filter(
    (build) => build.name === projection.name && build.version === projection.version,
  );
  return own.filter((build, index) => index === own.length - 1 || build === activeBuild(builds, projection));
}
