import type { TableResult as QueryResult } from '../../../projections/core/pglite-requests.js';

export type { QueryResult };

/**
 * A connection to ask one query on. Unlike those of the read store it can be ended in the middle of a statement,
 * and tells columns of the same name apart. Values are those of `Sql`.
 */
export interface QueryConnection {
  /**
   * Runs one statement, or several: what the last one gave. Rejects with an error whose `code` is the SQLSTATE, with
   * `Failed` or `Unavailable` when the connection is of no use any more.
   */
  run(text: string): Promise<QueryResult>;
  /** Ends the connection whatever it does: what runs rejects. */
  close(): Promise<void>;
}
