import pTimeout from 'p-timeout';
import pg from 'pg';
import { valueTypes } from '../../../projections/core/postgres.js';
import { isSqlState, storeError, storeUnavailable } from '../../../projections/core/sql.js';
import type { QueryConnection, QueryResult } from './query-connection.js';

const connectTimeoutMs = 5_000;
/** How long a cancelled statement may take to end, and how often it is cancelled until then. */
const cancelBoundMs = 5_000;
const cancelEveryMs = 200;
/** The server ends a statement this long after its time, in case that nobody is left to cancel it; then we do not wait for the server. */
const graceMs = 5_000;

/** Connects to a PostgreSQL server, to ask a query that may take so long. Throws `Unavailable`. */
export async function openPostgresQuery(url: string, timeoutMs: number): Promise<PostgresQuery> {
  const statementMs = timeoutMs + graceMs;
  const client = await connect(url, statementMs + graceMs);
  const connection = new PostgresQuery(url, client);
  try {
    await connection.open(statementMs);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return connection;
}

class PostgresQuery implements QueryConnection {
  readonly #url: string;
  readonly #client: pg.Client;
  #processId = 0;
  /** The statement that runs: resolves when it has ended, well or not. */
  #running: Promise<void> | undefined;
  #isCancelled = false;

  constructor(url: string, client: pg.Client) {
    this.#url = url;
    this.#client = client;
  }

  async open(statementMs: number): Promise<void> {
    const { rows } = await this.run(`set statement_timeout = ${statementMs}; select pg_backend_pid()`);
    this.#processId = rows[0]![0] as number;
    // ends the statement of a process that was killed; servers before 14 and some systems do not have it
    await this.run("set client_connection_check_interval = '2s'").catch(() => {});
  }

  async run(text: string): Promise<QueryResult> {
    if (this.#isCancelled) throw storeUnavailable('the connection was cancelled');
    const asked = this.#client.query<unknown[]>({ text, rowMode: 'array' });
    this.#running = settled(asked);
    try {
      const result: pg.QueryArrayResult<unknown[]> | pg.QueryArrayResult<unknown[]>[] = await asked;
      const last = [result].flat().at(-1);
      return { columns: (last?.fields ?? []).map(({ name }) => name), rows: last?.rows ?? [] };
    } catch (error) {
      if (isSqlState((error as { code?: unknown }).code)) throw error;
      throw storeUnavailable((error as Error).message, error);
    } finally {
      this.#running = undefined;
    }
  }

  /** Ends the statement that runs, if one does, and its transaction, within seconds; nothing runs here afterwards. */
  async cancel(): Promise<void> {
    this.#isCancelled = true;
    if (this.#running) await this.#cancelStatement(this.#running);
    if (!this.#running) await within(cancelBoundMs, this.#client.query('rollback'));
  }

  async close(): Promise<void> {
    await within(cancelBoundMs, this.#client.end()); // breaks the connection off if a statement still runs
  }

  async #cancelStatement(running: Promise<void>): Promise<void> {
    const canceller = await connect(this.#url, cancelBoundMs).catch(() => undefined);
    // more than once: what has not reached the server yet cannot be cancelled there
    for (const until = Date.now() + cancelBoundMs; canceller && this.#running && Date.now() < until; ) {
      await settled(canceller.query('select pg_cancel_backend($1)', [this.#processId]));
      await within(cancelEveryMs, running);
    }
    if (canceller) await within(cancelBoundMs, canceller.end());
  }
}

async function connect(url: string, queryTimeoutMs: number): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'relay replay',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    types: valueTypes,
  });
  client.on('error', () => {}); // the statement that runs, or the next one, tells
  try {
    await client.connect();
  } catch (error) {
    throw storeError(error);
  }
  return client;
}

/** Resolves at the end of some work, well or not. */
async function settled(work: Promise<unknown>): Promise<void> {
  await work.catch(() => {});
}

/** The same, but waits no longer than so many milliseconds. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  await pTimeout(settled(work), { milliseconds: ms, message: false });
}
