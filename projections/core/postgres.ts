import pg from 'pg';
import type { Logger } from 'pino';
import {
  assertCommitted,
  type Param,
  type Sql,
  storeError,
  type Tx,
  valueParsers,
  wireParam,
} from './sql.js';

/** Connections at most: of the thread that answers requests, and of one that only folds. */
const poolSize = { usual: 10, folding: 5 };
const connectTimeoutMs = 5_000;
/**
 * Bound of one statement, in milliseconds: longer than any batch takes, shorter than an operator's patience.
 */
const statementTimeoutMs = 60_000;

/** Makes the driver read values as `Sql` gives them. */
export const valueTypes = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    valueParsers[oid] ?? pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig;

/** The read store on a PostgreSQL server; reconnects by itself. */
export function openPostgres(
  url: string,
  logger: Logger,
  { use = 'usual' }: { use?: keyof typeof poolSize } = {},
): Sql {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'relay',
    max: poolSize[use],
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: statementTimeoutMs,
    keepAlive: true,
    pipeline: true,
    types: valueTypes,
  });
  let losses = 0;
  // an idle connection that breaks would end the process if nobody listened
  pool.on('error', (error) => {
    losses += 1;
    logger.debug({ err: error }, 'idle PostgreSQL connection lost');
  });
  pool.on('connect', (client) => {
    client.on('error', () => {
      losses += 1;
    });
  });

  return {
    engine: 'postgres',
    get losses() {
      return losses;
    },
    query: (text, params) => run(pool, text, params),
    transaction: async (work) => {
      const client = await pool.connect().catch((error) => {
        throw storeError(error);
      });
      let broken = false;
      const onError = () => {
        broken = true;
      };
      client.on('error', onError);
      try {
        return await inTransaction(client, work);
      } catch (error) {
        broken ||= (error as { kind?: unknown }).kind === 'unavailable';
        throw error;
      } finally {
        client.off('error', onError);
        client.release(broken);
      }
    },
    share: () => ({ databaseUrl: url }),
    close: async () => {
      if (!pool.ended && !pool.ending) await pool.end();
    },
  };
}

async function inTransaction<T>(client: pg.PoolClient, work: (tx: Tx) => Promise<T>): Promise<T> {
  // all that is stored here can be folded again: losing the last commits in a crash loses nothing
  const begun = run(client, 'begin; set local synchronous_commit = off');
  begun.catch(() => {}); // not awaited here: what follows is sent after it
  try {
    const result = await work({ query: (text, params) => run(client, text, params) });
    await begun;
    const { command } = await client.query('commit').catch((error) => {
      throw storeError(error);
    });
    assertCommitted(command);
    return result;
  } catch (error) {
    // a connection that is lost or silent is thrown away instead
    if ((error as { kind?: unknown }).kind !== 'unavailable') await client.query('rollback').catch(() => {});
    throw error;
  }
}

async function run<R>(on: pg.Pool | pg.PoolClient, text: string, params?: readonly Param[]): Promise<R[]> {
  try {
    const result: pg.QueryResult | pg.QueryResult[] = await (params
      ? on.query(text, params.map(wireParam))
      : on.query(text));
    const last = Array.isArray(result) ? result[result.length - 1] : result;
    return (last?.rows ?? []) as R[];
  } catch (error) {
    throw storeError(error);
  }
}
