/** What a statement gave: its columns as PostgreSQL names them, and its rows with the values in that order. */
export interface QueryResult {
  columns: string[];
  rows: unknown[][];
}

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
