import type { Projector } from '../projections/core/projector.js';
import type { Sql } from '../projections/core/sql.js';
import type { Position } from '../streams/core/index.js';

/** How long a read waits for its read model to reach what the reader has just written, in milliseconds. */
const readYourWritesMs = 2_000;

/** The read models as queries see them. */
export class ReadModels {
  readonly #sql: Sql;
  readonly #projector: Projector;

  constructor(sql: Sql, projector: Projector) {
    this.#sql = sql;
    this.#projector = projector;
  }

  /** Runs a query on a read model; `after` waits, within bounds, until it has folded that position. */
  async read<T>(name: string, query: (sql: Sql, schema: string) => Promise<T>, after?: Position): Promise<T> {
    if (after) await this.#projector.reached(name, after, readYourWritesMs);
    return await query(this.#sql, await this.#schema(name));
  }

  /** Just after a start the read model catches up in a moment, which a reader rather waits than is refused. */
  async #schema(name: string): Promise<string> {
    const deadline = Date.now() + readYourWritesMs;
    for (;;) {
      try {
        return await this.#projector.schema(name);
      } catch (error) {
        if (Date.now() > deadline || (error as { code?: string }).code !== 'read_model_building') throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
}
