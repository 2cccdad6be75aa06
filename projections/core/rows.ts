import type { Param, Scalar, Tx } from './sql.js';

/** What a column holds, from its definition. */
type Value<Definition extends string> =
  | (Definition extends `text${string}`
      ? string
      : Definition extends `boolean${string}`
        ? boolean
        : Definition extends `timestamptz${string}`
          ? Date
          : number)
  | (Definition extends `${string}${'not null' | 'primary key'}${string}` ? never : null);

/** A row as it is stored. */
export type RowOf<R> =
  R extends Rows<infer Definitions>
    ? { -readonly [Column in keyof Definitions]: Value<Definitions[Column]> }
    : never;

/**
 * The shape of rows that go to the store many at a time. It has their columns in order, each with its
 * definition in SQL. A definition begins with the type.
 */
export class Rows<const Definitions extends Readonly<Record<string, string>>> {
  /** The names of the columns, as an `insert` lists them. */
  readonly names: string;
  readonly #columns: readonly (keyof Definitions & string)[];
  readonly #definitions: Definitions;

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
    this.#columns = Object.keys(definitions);
    this.names = this.#columns.join(', ');
  }

  /** Creates a table of such rows. `constraints` follow the columns, `settings` follow the table. */
  create(table: string, { constraints = [] as string[], settings = '' } = {}): string {
    const columns = this.#columns.map((column) => `${column} ${this.#definitions[column]}`);
    return `create table ${table} (${[...columns, ...constraints].join(', ')}) ${settings};`;
  }

  /**
   * The rows as a table of a statement. `params` makes its parameters, from `$first` on. `numbered` adds the
   * index of each row as `n`.
   */
  from(name: string, { first = 1, numbered = false } = {}): string {
    const lists = this.#columns.map((column, index) => `$${first + index}::${this.#typeOf(column)}[]`);
    const [ordinality, n] = numbered ? [' with ordinality', ', n'] : ['', ''];
    return `unnest(${lists.join(', ')})${ordinality} as ${name} (${this.names}${n})`;
  }

  /** One parameter for each column: its values in all rows. */
  params(rows: readonly Readonly<Record<keyof Definitions, Scalar>>[]): Param[] {
    return this.#columns.map((column) => rows.map((row) => row[column]));
  }

  /** The rows as a table of a statement, from `$1` as one JSON text. What a row leaves out is null. */
  fromJson(name: string): string {
    const columns = this.#columns.map((column) => `${column} ${this.#typeOf(column)}`);
    return `json_to_recordset($1::json) as ${name} (${columns.join(', ')})`;
  }

  /** The `set` of an `on conflict`: all columns but the keys take the values of the new row. */
  replaced(...keys: (keyof Definitions)[]): string {
    return this.#each(keys, (column) => `${column} = excluded.${column}`);
  }

  /** The `set` of an `update` whose rows, named `to`, hold only changes: null leaves a column as it was. */
  changed(to: string, from: string, ...keys: (keyof Definitions)[]): string {
    return this.#each(keys, (column) => `${column} = coalesce(${to}.${column}, ${from}.${column})`);
  }

  /** The `set` of an `on conflict`: the numbers of the new row are added to those of the row in `table`. */
  added(table: string, ...keys: (keyof Definitions)[]): string {
    return this.#each(keys, (column) => `${column} = ${table}.${column} + excluded.${column}`);
  }

  #typeOf(column: keyof Definitions): string {
    return /^(?:double precision|\w+)/.exec(this.#definitions[column]!)![0];
  }

  #each(except: (keyof Definitions)[], set: (column: string) => string): string {
    return this.#columns
      .filter((column) => !except.includes(column))
      .map(set)
      .join(', ');
  }
}

/**
 * The rows of a table that have one of these keys; each key is a list of texts. They are looked up one by
 * one: with a join, the planner might read the whole table for every batch.
 */
export async function rowsOf<R>(
  tx: Tx,
  table: string,
  keys: Readonly<Record<string, readonly string[]>>,
  columns = '*',
): Promise<R[]> {
  const wanted = new Rows(Object.fromEntries(Object.keys(keys).map((key) => [key, 'text'])));
  const isWanted = Object.keys(keys).map((key) => `${key} = wanted.${key}`);
  return await tx.query<R>(
    `select found.* from ${wanted.from('wanted')}, lateral (
       select ${columns} from ${table} where ${isWanted.join(' and ')} limit 1) as found`,
    Object.values(keys),
  );
}
