import { join } from 'node:path';
import { openSql } from '../../projections/core/open-sql.js';
import { Projector } from '../../projections/core/projector.js';
import type { Sql } from '../../projections/core/sql.js';
import { projections } from '../../projections/index.js';
import type { Log } from '../../streams/core/index.js';
import type { Bench } from './bench.js';
import { quiet } from './log.js';
import { startPostgres, temporaryFolder } from './servers.js';
import { eventually } from './wait.js';

/** Opens empty read stores of one engine. */
export interface Engine {
  name: string;
  open(): Promise<Sql>;
}

const foldBoundMs = 10 * 60_000;

/** Both engines, PostgreSQL as a server that syncs. */
export async function engines(t: Bench): Promise<Engine[]> {
  const postgres = await startPostgres(t);
  let databases = 0;
  return [
    {
      name: 'PostgreSQL',
      open: async () => openStore(t, await newDatabase(postgres, `bench${++databases}`)),
    },
    { name: 'PGlite', open: () => openStore(t, '') },
  ];
}

/** Opens the read store at an address, or without one a database in a folder of its own. */
export async function openStore(t: Bench, databaseUrl: string): Promise<Sql> {
  const directory = join(await temporaryFolder(t), 'pg');
  const sql = await openSql({ databaseUrl, directory, logger: quiet });
  t.teardown(() => sql.close());
  return sql;
}

/** Creates a database on the server and returns its address. */
export async function newDatabase(postgres: string, name: string): Promise<string> {
  const admin = await openSql({ databaseUrl: postgres, directory: '', logger: quiet });
  await admin.query(`create database ${name}`);
  await admin.close();
  return postgres.replace(/[^/]*$/, name);
}

/** Starts to fold the log into a store. */
export async function project(t: Bench, log: Log, sql: Sql): Promise<Projector> {
  const projector = new Projector({ log, sql, projections, logger: quiet });
  t.teardown(() => projector.stop());
  await projector.start();
  return projector;
}

/** Waits until the queue is read from a schema other than `before`, and names it. */
export async function nextSchema(projector: Projector, before?: string): Promise<string> {
  return await eventually(
    'the read model to catch up',
    async () => {
      const schema = await projector.schema('delivery_queue');
      return schema !== before && schema;
    },
    foldBoundMs,
  );
}
