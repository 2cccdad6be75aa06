import { LRUCache } from 'lru-cache';
import type { Projector } from '../../projections/core/projector.js';
import type { Sql } from '../../projections/core/sql.js';
import { type Position, pause, Unavailable } from '../../streams/core/index.js';
import { keep, type Shared } from './kept-answers.js';

/** How long a read waits for its read model to reach what the reader has written, in milliseconds. */
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

  /** Runs a query on a read model. `after` waits, within bounds, until the model has folded that position. */
  async read<T>(name: string, query: (sql: Sql, schema: string) => Promise<T>, after?: Position): Promise<T> {
    if (after) await this.reached(name, after);
    for (let gone: string | undefined; ; ) {
      const schema = await this.#schema(name, gone);
      try {
        return await query(this.#sql, schema);
      } catch (error) {
        if (!isGone(error)) throw error;
        // the store has lost it, and it is being rebuilt
        if (schema === gone)
          throw new Unavailable('read_model_building', `The read model ${name} is gone`, 2);
        // a rebuild has taken its place, and it was removed since: the present one is as good
        gone = schema;
      }
    }
  }

  /**
   * Like `read`, for a caller that acts on the answer. Throws `read_model_behind` rather than answer what was
   * true before that position.
   */
  async readAt<T>(
    name: string,
    query: (sql: Sql, schema: string) => Promise<T>,
    after?: Position,
  ): Promise<T> {
    if (after && !(await this.reached(name, after)))
      throw new Unavailable('read_model_behind', `The read model ${name} lags`, 1);
    return await this.read(name, query);
  }

  /**
   * Like `read`, for questions that many ask. The same answer is given again as long as the read model does
   * not move, and for a second at most. `key` names the question with everything that its answer depends on.
   */
  async recall<T>(
    name: string,
    key: string,
    query: (sql: Sql, schema: string) => Promise<T>,
    after?: Position,
  ): Promise<Shared<T>> {
    if (after) await this.reached(name, after);
    const answers = this.#answers.get(name) ?? new Answers();
    this.#answers.set(name, answers);
    return await answers.of(key, this.#projector.stateOf(name), () => this.read(name, query));
  }

  /** Waits, within bounds, until a read model has folded a position; `false` if it has not by then. */
  async reached(name: string, position: Position): Promise<boolean> {
    return await this.#projector.reached(name, position, readYourWritesMs);
  }

  /**
   * After a start the read model catches up in a moment. A process that does not fold learns in a moment that
   * a build is `gone`. So a reader waits rather than is refused.
   */
  async #schema(name: string, gone?: string): Promise<string> {
    const deadline = performance.now() + readYourWritesMs;
    for (;;) {
      try {
        const schema = await this.#projector.schema(name);
        if (schema !== gone || performance.now() > deadline) return schema;
      } catch (error) {
        if (performance.now() > deadline || (error as { code?: string }).code !== 'read_model_building')
          throw error;
      }
      await pause(50);
    }
  }
}

/** SQL's codes for a missing table or schema. */
function isGone(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === '42P01' || code === '3F000';
}

/** At most this many answers are kept for each read model. */
const mostKept = 1_000;
/** No answer is given again after this time, in milliseconds: some of them depend on the time of day. */
const longestMs = 1_000;

/**
 * Answers of one read model, given again while it does not move: what many ask at a time is looked up once. A
 * question that comes after a fact was folded gets an answer that contains it.
 */
export class Answers {
  readonly #byKey: LRUCache<string, Promise<unknown>>;
  #state: string | undefined;

  /** `now` gives milliseconds that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.#byKey = new LRUCache({ max: mostKept, ttl: longestMs, ttlResolution: 0, perf: { now } });
  }

  /**
   * The answer under `key`, which names the question with everything it depends on. `state` identifies the
   * state of the read model. If that is not known (`undefined`), the question is asked each time. Failures
   * are not kept.
   */
  async of<T>(key: string, state: string | undefined, ask: () => Promise<T>): Promise<Shared<T>> {
    if (state === undefined) return (await ask()) as Shared<T>;
    if (state !== this.#state) this.#byKey.clear();
    this.#state = state;
    const kept = this.#byKey.get(key);
    if (kept) return (await kept) as Shared<T>;
    const given = ask().then(keep) as Promise<Shared<T>>;
    this.#byKey.set(key, given);
    try {
      return await given;
    } catch (error) {
      if (this.#byKey.peek(key) === given) this.#byKey.delete(key);
      throw error;
    }
  }
}
