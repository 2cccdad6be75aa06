import type { Sql } from '../../projections/core/sql.js';
import type { Position } from '../../streams/core/index.js';
import type { ReadModels } from './read-models.js';

/** A read model as the service behind it reads it: what this process has written is in what it reads afterwards. */
export class OwnReadModel {
  readonly #readModels: ReadModels;
  readonly #name: string;
  #written: Position | undefined;

  constructor(readModels: ReadModels, name: string) {
    this.#readModels = readModels;
    this.#name = name;
  }

  /** Runs a query on tables that hold, within bounds, everything that was written before. */
  async read<T>(query: (sql: Sql, schema: string) => Promise<T>): Promise<T> {
    return await this.#readModels.read(this.#name, query, this.#written);
  }

  /** Like `read`, with an answer that is given again while nothing moves; see `ReadModels.recall`. */
  async recall<T>(key: string, query: (sql: Sql, schema: string) => Promise<T>): Promise<T> {
    return await this.#readModels.recall(this.#name, key, query, this.#written);
  }

  /** Notes up to where a command has written, or found written. */
  wrote(position: Position): void {
    if (position.seq > (this.#written?.seq ?? 0)) this.#written = position;
  }
}
