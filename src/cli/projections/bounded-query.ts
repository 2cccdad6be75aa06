import pTimeout from 'p-timeout';
import { isSqlState, storeError } from '../../../projections/core/sql.js';
import { Failed, UsageError } from '../core/failure.js';
import { bytes } from '../core/terminal.js';
import type { QueryConnection, QueryResult } from './query-connection.js';
import { readerOf } from './read-query.js';

/** What a query may take at most. */
export interface Bounds {
  /** Its time, in milliseconds. */
  timeoutMs: number;
  /** Rows of its answer, and their size as JSON text in characters. */
  rows: number;
  size: number;
  /**
   * Of files for sorting and joining what does not fit into memory, in bytes. A server must allow this bound.
   */
  temporary: number;
  /** Ends it before its time. */
  stop: AbortSignal;
}

/**
 * A statement whose answer PostgreSQL sends in parts. Every reading statement can be one, except two whose
 * answers are short anyway.
 */
const cursor = 'declare answer no scroll cursor for ';
const withoutCursor = ['SHOW', 'EXPLAIN'];
const rowsAtATime = 500;

/** SQLSTATEs: a statement that would write; too many temporary files; too little memory. */
const readOnlyTransaction = '25006';
const temporaryFileLimit = '53400';
const outOfMemory = '53200';
/** PostgreSQL's name for the function that finds that a cursor would write. */
const cursorCheck = 'transformDeclareCursorStmt';
/** SQLSTATEs of a query that cannot be answered as it is: wrong SQL, wrong values, missing tables. */
const wrongQuery = /^(0A|2[0-2]|2F|34|38|39|3F|42|54|58P0|P0)/;

/**
 * Runs one reading query on the tables of a schema. Throws `UsageError` if the query is wrong. Throws
 * `Failed` if it would change something, takes too long, has too large an answer, or was stopped. It may
 * still run then, until the connection is cancelled.
 */
export async function askBounded(
  connection: QueryConnection,
  schema: string,
  query: string,
  bounds: Bounds,
): Promise<QueryResult> {
  const asked = ask(connection, schema, query, bounds);
  asked.catch(() => {}); // nobody waits for it any more once its time is over
  const { timeoutMs, stop } = bounds;
  try {
    return await pTimeout(asked, { milliseconds: timeoutMs, message: timedOut(timeoutMs), signal: stop });
  } catch (error) {
    throw stop.aborted ? new Failed('interrupted', 'interrupted') : error;
  }
}

/** Names without duplicates: the second of several equal ones becomes `name_2`, the third `name_3`. */
export function distinctNames(names: string[]): string[] {
  const taken = new Set(names);
  const seen = new Set<string>();
  return names.map((name) => {
    let distinct = name;
    for (let n = 2; seen.has(name) && taken.has(distinct); n++) distinct = `${name}_${n}`;
    seen.add(name);
    taken.add(distinct);
    return distinct;
  });
}

async function ask(
  connection: QueryConnection,
  schema: string,
  query: string,
  bounds: Bounds,
): Promise<QueryResult> {
  await connection.run(`begin read only; set local search_path to ${schema}`);
  try {
    await boundTemporaryFiles(connection, bounds.temporary);
    return await read(connection, query, bounds);
  } finally {
    await connection.run('rollback').catch(() => {}); // what has broken is not needed any more
  }
}

/** Sets the bound if that is allowed. On a server it needs a right of its own; a lower bound stays. */
async function boundTemporaryFiles(connection: QueryConnection, most: number): Promise<void> {
  const kilobytes = Math.ceil(most / 1024);
  try {
    await connection.run('savepoint allowed');
    await connection.run(
      `select set_config('temp_file_limit', '${kilobytes}', true) from pg_catalog.pg_settings
       where name = 'temp_file_limit' and setting::bigint not between 0 and ${kilobytes}`,
    );
  } catch {
    await connection.run('rollback to savepoint allowed');
  }
}

async function read(connection: QueryConnection, query: string, bounds: Bounds): Promise<QueryResult> {
  const prefix = withoutCursor.includes(readerOf(query) ?? '') ? '' : cursor;
  try {
    const answer = await connection.run(prefix + query);
    return prefix ? await fetchAll(connection, bounds) : answer;
  } catch (error) {
    throw explained(error, prefix.length);
  }
}

/**
 * Fetches rows in portions. Their size comes from the largest row so far, so that a portion does not exceed
 * the bound by much.
 */
async function fetchAll(connection: QueryConnection, bounds: Bounds): Promise<QueryResult> {
  const rows: unknown[][] = [];
  let size = 0;
  let largest = 1;
  for (let count = 1; ; ) {
    const { columns, rows: more } = await connection.run(`fetch ${count} from answer`);
    for (const row of more) {
      const length = JSON.stringify(row).length;
      size += length;
      largest = Math.max(largest, length);
      rows.push(row);
    }
    if (rows.length > bounds.rows) throw tooLarge(`more than ${bounds.rows} rows`);
    if (size > bounds.size) throw tooLarge(`more than ${bytes(bounds.size)}`);
    if (more.length < count) return { columns, rows };
    const room = Math.ceil((bounds.size - size + 1) / largest);
    count = Math.min(rowsAtATime, bounds.rows + 1 - rows.length, room);
  }
}

/** Tells an error of the query from one of the store. `before`: characters that were put before the query. */
function explained(error: unknown, before: number): unknown {
  const { code, message, routine } = error as Error & { code?: unknown; routine?: string };
  if (!isSqlState(code)) return error;
  if (routine === cursorCheck) return refused('WITH can only read in a read-only transaction');
  if (code === readOnlyTransaction) return refused(message);
  if (code === temporaryFileLimit || code === outOfMemory) return tooDemanding(message);
  if (wrongQuery.test(code)) return wrong(error as SqlError, before);
  const known = storeError(error);
  return known === error ? new Failed(`the query failed: ${message} (${code})`, 'query_failed') : known;
}

interface SqlError extends Error {
  code: string;
  /** Where in the statement the error is, in characters; the first one is 1. */
  position?: string;
  hint?: string;
}

function wrong({ message, code, position, hint }: SqlError, before: number): UsageError {
  const at = Number(position ?? 0) - before;
  const where = at > 0 ? ` at character ${at}` : '';
  return new UsageError(`the query is wrong${where}: ${message} (${code})${hint ? `. ${hint}` : ''}`);
}

function refused(reason: string): Failed {
  return new Failed(`the query would change something, and was refused: ${reason}`, 'query_refused');
}

function tooDemanding(reason: string): Failed {
  return new Failed(
    `the query needs too much room: ${reason}`,
    'query_too_large',
    'Join or sort fewer rows: narrow each table down with WHERE.',
  );
}

function tooLarge(what: string): Failed {
  return new Failed(
    `the answer has ${what}`,
    'answer_too_large',
    'Ask for a part of it with LIMIT, or let the query count or group.',
  );
}

function timedOut(timeoutMs: number): Failed {
  return new Failed(
    `the query has not ended within ${timeoutMs / 1_000} s`,
    'query_timeout',
    'Ask for less, or give it longer with --timeout SECONDS.',
  );
}
