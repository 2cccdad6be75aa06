import type { Projector } from '../../projections/core/projector.js';
import type { Sql } from '../../projections/core/sql.js';
import { type Position, pause } from '../../streams/core/index.js';
import { Answers } from './answers.js';

/** How long a read waits for its read model to reach what the reader has just written, in milliseconds. */
const readYourWritesMs = 2_000;

/** The read models as queries see them. */
export class ReadModels {
  readonly #sql: Sql;
  readonly #projector: Projector;
  readonly #answers = new Map<string, Answers>();

  constructor(sql: Sql, projector: Projector) {
    this.#sql = sql;
    this.#projector = projector;
  }

  /** Runs a query on a read model; `after` waits, within bounds, until it has folded that position. */
  async read<T>(name: string, query: (sql: Sql, schema: string) => Promise<T>, after?: Position): Promise<T> {
    if (after) await this.reached(name, after);
    const schema = await this.#schema(name);
    try {
      return await query(this.#sql, schema);
    } catch (error) {
      // a rebuild has taken its place, and it was put away since: the one that is read now is as good
      if (!isGone(error)) throw error;
      return await query(this.#sql, await this.#schema(name, schema));
    }
  }

  /**
   * Like `read`, for what many ask: as long as the read model does not move, and for a second at most, the same
   * answer is given again. `key` names the question with everything that its answer depends on; nobody may change
   * the answer.
   */
  async recall<T>(
    name: string,
    key: string,
    query: (sql: Sql, schema: string) => Promise<T>,
    after?: Position,
  ): Promise<T> {
    if (after) await this.reached(name, after);
    const answers = this.#answers.get(name) ?? new Answers();
    this.#answers.set(name, answers);
    return await answers.of(key, this.#projector.stateOf(name), () => this.read(name, query));
  }

  /** Waits, within bounds, until a read model has folded a position; `false` when it has not by then. */
  async reached(name: string, position: Position): Promise<boolean> {
    return await this.#projector.reached(name, position, readYourWritesMs);
  }

  /**
   * Just after a start the read model catches up in a moment, and a process that does not fold learns in a moment
   * that a build is `gone`: a reader rather waits than is refused.
   */
  async #schema(name: string, gone?: string): Promise<string> {
    const deadline = Date.now() + readYourWritesMs;
    for (;;) {
      try {
        const schema = await this.#projector.schema(name);
        if (schema !== gone || Date.now() > deadline) return schema;
      } catch (error) {
        if (Date.now() > deadline || (error as { code?: string }).code !== 'read_model_building') throw error;
      }
      await pause(50);
    }
  }
}

/** SQL's words for a table, or a schema, that is not there. */
function isGone(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === '42P01' || code === '3F000';
}
