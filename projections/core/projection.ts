import type { FactOf, Position, Recorded, StreamDefinition } from '../../streams/core/index.js';
import type { Sql, Tx } from './sql.js';

/** What people who look at the tables of a read model are told of each. The service itself does not read it. */
export type About = Readonly<Record<string, AboutTable>>;

/** What is said of a table, and of each of its columns. */
export interface AboutTable {
  says: string;
  columns: Readonly<Record<string, string>>;
  /** Columns of text that hold JSON: people see them as `jsonb`. */
  json?: readonly string[];
}

/** A read model as a value: its streams, its tables, and how facts change them. */
export interface Projection {
  name: string;
  version: number;
  streams: readonly StreamDefinition[];
  /**
   * Oldest version whose tables this version's queries can read. Reads go there until this version has caught
   * up.
   */
  readsFrom: number;
  about: About;
  ddl(schema: string): string;
  apply(tx: Tx, facts: Recorded[], schema: string): Promise<void>;
}

/** Runs a query on one read model. `after` waits, within bounds, until the model has folded that position. */
export type Read = <T>(query: (sql: Sql, schema: string) => Promise<T>, after?: Position) => Promise<T>;

/**
 * Defines a read model. Raise `version` when the tables or the fold change: the new one is built next to the
 * old one, and reads switch when it has caught up. `readsFrom` defaults to 1. Set it to `version` when the
 * queries cannot read the tables of earlier versions.
 *
 * `ddl` creates its tables in a schema of its own. `apply` gets facts of one stream in order, a batch at a
 * time, in the transaction that also moves the position on. Each stream is folded by itself. So what `apply`
 * does may depend on the order within a stream, never on how the streams interleave. It must not reach the
 * world or look at the clock. If it throws, the read model halts at that fact.
 */
export function defineProjection<const S extends readonly StreamDefinition[]>(definition: {
  name: string;
  version: number;
  streams: S;
  readsFrom?: number;
  about?: About;
  ddl: (schema: string) => string;
  apply: (tx: Tx, facts: Recorded<FactOf<S[number]>>[], schema: string) => Promise<void>;
}): Projection {
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(definition.name)) {
    throw new Error(`${definition.name} is no name for a read model: it becomes the name of an SQL schema`);
  }
  return { readsFrom: 1, about: {}, ...definition } as Projection;
}
