import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { openSql } from '../../../projections/core/open-sql.js';
import type { Sql } from '../../../projections/core/sql.js';
import { projections } from '../../../projections/index.js';
import { withScratch } from '../core/scratch.js';
import { askBounded, type Bounds } from './bounded-query.js';
import type { QueryConnection, QueryResult } from './query-connection.js';

/** A schema for the tables of a replay, and what they can be asked with. */
export interface SideTables {
  /** Of no use any more after `ask` where it is embedded. */
  sql: Sql;
  /** Not there yet. */
  schema: string;
  /** Asks one query that reads; columns of the same name are left as they are. Throws as `askBounded` does. */
  ask(query: string): Promise<QueryResult>;
  /** Leaves the schema in the database, under a lasting name, which it returns; on a server only. */
  keep(): Promise<string>;
}

export interface SideTablesOptions {
  /** The read model that is replayed. */
  name: string;
  databaseUrl: string | undefined;
  bounds: Bounds;
  /** Tells the operator what could not be tidied up. */
  warn(text: string): void;
}

const logger = pino({ level: 'silent' });
/** Schemas that a replay removes at its end, or the next one does; one that is kept is not named so. */
const temporary = /^(\w+)_replay_tmp_[0-9a-f]{8}$/;
/** The first half of the keys by which a replay locks its schema: any number that nobody else uses. */
const lockClass = 0x7265706c;
const dropTimeoutMs = 5_000;

/** Lends a schema and a store to make it in; what was made is removed afterwards unless it was kept. */
export function withSideTables(
  options: SideTablesOptions,
  work: (tables: SideTables) => Promise<void>,
): Promise<void> {
  const { name, databaseUrl } = options;
  const schema = `${name}_replay_tmp_${randomBytes(4).toString('hex')}`;
  if (databaseUrl) return onServer({ ...options, databaseUrl }, schema, work);
  return withScratch('replay', (directory) => embedded(join(directory, 'pg'), options, schema, work));
}

async function embedded(
  directory: string,
  { bounds }: SideTablesOptions,
  schema: string,
  work: (tables: SideTables) => Promise<void>,
): Promise<void> {
  const sql = await openSql({ directory, logger });
  let connection: QueryConnection | undefined;
  try {
    await work({
      sql,
      schema,
      async ask(query) {
        await sql.close(); // a directory is open once at a time
        const { openPgliteQuery } = await import('./query-pglite.js');
        connection = await openPgliteQuery(directory);
        return await askBounded(connection, schema, query, bounds);
      },
      keep: () => Promise.reject(new Error('An embedded database is thrown away')),
    });
  } finally {
    await connection?.close();
    await sql.close();
  }
}

async function onServer(
  options: SideTablesOptions & { databaseUrl: string },
  schema: string,
  work: (tables: SideTables) => Promise<void>,
): Promise<void> {
  const { name, databaseUrl, bounds, warn } = options;
  const { openPostgresQuery } = await import('./query-postgres.js');
  const connection = await openPostgresQuery(databaseUrl, bounds.timeoutMs);
  const sql = await openSql({ databaseUrl, directory: '', logger });
  let isKept = false;
  try {
    await connection.run(`select pg_advisory_lock(${lockKey(schema)})`);
    await removeLeft(connection);
    await work({
      sql,
      schema,
      ask: (query) => askBounded(connection, schema, query, bounds),
      async keep() {
        const lasting = `${name}_replay_${randomBytes(4).toString('hex')}`;
        await sql.query(`alter schema ${schema} rename to ${lasting}`);
        isKept = true;
        return lasting;
      },
    });
  } finally {
    await connection.cancel(); // what is still read cannot be dropped
    if (!isKept) {
      await drop(sql, schema).catch(({ message }: Error) =>
        warn(`the schema ${schema} could not be removed, the next replay tries again: ${message}`),
      );
    }
    await connection.close(); // gives the lock back
    await sql.close();
  }
}

/** Removes what replays that were killed have left: nobody holds a lock on it any more. */
async function removeLeft(connection: QueryConnection): Promise<void> {
  const { rows } = await connection.run('select nspname::text from pg_namespace order by 1');
  for (const [name] of rows as [string][]) {
    const readModel = temporary.exec(name)?.[1];
    if (!projections.some((projection) => projection.name === readModel)) continue;
    const locked = await connection.run(`select pg_try_advisory_lock(${lockKey(name)})`);
    if (locked.rows[0]![0] !== true) continue;
    // what belongs to another role stays: there is nothing to be done about it here
    await connection.run(dropping(name)).catch(() => {});
    await connection.run(`select pg_advisory_unlock(${lockKey(name)})`);
  }
}

async function drop(sql: Sql, schema: string): Promise<void> {
  await sql.transaction((tx) => tx.query(dropping(schema)));
}

/** Several statements: without a transaction around them they are one of their own. */
function dropping(schema: string): string {
  return `set local lock_timeout = ${dropTimeoutMs}; drop schema if exists ${schema} cascade`;
}

function lockKey(schema: string): string {
  return `${lockClass}, hashtext('${schema}')`;
}
