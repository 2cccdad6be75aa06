import { settings } from '../../../projections/core/pglite.js';
import { PgliteThread } from '../../../projections/core/pglite-thread.js';
import { Failed } from '../core/failure.js';
import type { QueryConnection } from './query-connection.js';

/**
 * Opens the database in a directory that nobody else has open, in a thread of its own. PGlite cannot interrupt a
 * statement: what ends one is the end of the thread.
 */
export async function openPgliteQuery(directory: string): Promise<QueryConnection> {
  const thread = await PgliteThread.open(directory, { settings, died: () => {} });
  return {
    run: (text) => thread.runForTable(text).catch((error) => Promise.reject(brokenDown(error) ?? error)),
    close: () => thread.kill(),
  };
}

/** No fault that PostgreSQL found but one of the engine, such as too little memory. */
function brokenDown(error: Error & { kind?: unknown }): Failed | undefined {
  if (error.kind !== 'unavailable') return undefined;
  return new Failed(error.message, 'query_failed');
}
