import type { Sql } from '../../projections/core/sql.js';
import type { Position } from '../../streams/core/index.js';
import type { Shared } from './kept-answers.js';
import type { ReadModels } from './read-models.js';

/** A read model as its own service reads it: what this process has written is in what it reads afterwards. */
export class OwnReadModel {
  readonly #readModels: ReadModels;
  readonly #name: string;
  #written: Position | undefined;

  constructor(readModels: ReadModels, name: string) {
    this.#readModels = readModels;
    this.#name = name;
  }

  /**
   * Runs a query, with its own arguments, on tables that hold, within bounds, everything that was written
   * before.
   */
  async read<T, Args extends unknown[]>(
    query: (sql: Sql, schema: string, ...args: Args) => Promise<T>,
    ...args: Args
  ): Promise<T> {
    const ask = (sql: Sql, schema: string) => query(sql, schema, ...args);
    return await this.#readModels.read(this.#name, ask, this.#written);
  }

  /**
   * Like `read`, with an answer that is given again while the read model does not move; see
   * `ReadModels.recall`.
   */
  async recall<T>(key: string, query: (sql: Sql, schema: string) => Promise<T>): Promise<Shared<T>> {
    return await this.#readModels.recall(this.#name, key, query, this.#written);
  }

  /** Notes the position of a fact that a command has written, or found written. */
  wrote(position: Position): void {
    if (position.seq > (this.#written?.seq ?? 0)) this.#written = position;
  }
}
