import type { LimitFunction } from 'p-limit';
import type { Logger } from 'pino';
import { clock } from '../../streams/core/clock.js';
import { isExpected, type Recorded, type StreamDefinition } from '../../streams/core/index.js';
import { advance, type Build, ensureBuild, type Halt, readPosition, recordHalt } from './builds.js';
import { Prepared } from './prepared.js';
import type { Projection } from './projection.js';
import type { Sql } from './sql.js';

/** What a cursor works with. */
export interface CursorOptions {
  sql: Sql;
  logger: Logger;
  projection: Projection;
  build: Build;
  stream: StreamDefinition;
  /** A build runs one transaction at a time, and all builds together run a few at a time. */
  limits: { build: LimitFunction; all: LimitFunction };
}

const overtaken = Symbol('overtaken');

/**
 * `code` of the error that says that the store has less than it had. It was restored or replaced, or it
 * crashed and lost its last commits: nobody waited for them to reach the disk.
 */
export const storeWentBack = 'store_went_back';

/** The position of one stream in one build. It moves only together with the rows, in one transaction. */
export class Cursor {
  readonly #options: CursorOptions;
  readonly #stream: string;
  #position = 0;
  /** The store's count of losses when it was last known to be at the position. */
  #losses = -1;

  constructor(options: CursorOptions) {
    this.#options = options;
    this.#stream = options.stream.name;
  }

  /** Sequence up to which the stream is folded, as far as this process knows. */
  get position(): number {
    return this.#position;
  }

  /** Whether the store certainly holds everything up to the position. */
  get isCertain(): boolean {
    return this.#losses === this.#options.sql.losses;
  }

  /** The store was seen at the position or after it, at this count of losses. */
  confirm(losses: number): void {
    this.#losses = losses;
  }

  /** Another thread, which folds in its place, has moved the position. */
  moved(position: number): void {
    this.#position = position;
    this.#losses = -1;
  }

  /**
   * Loads the position from the store, and makes the build if it does not exist. A halt says that this is
   * impossible.
   */
  async load(): Promise<Halt | undefined> {
    const { sql, projection, build } = this.#options;
    const { losses } = sql;
    let position = await readPosition(sql, build.schema, this.#stream).catch(() => undefined);
    if (position === undefined) {
      try {
        // the store may have been replaced by an empty one
        await ensureBuild(sql, projection, build.generation);
      } catch (error) {
        if (isExpected(error)) throw error;
        return { seq: 0, message: `The tables cannot be created: ${messageOf(error)}` };
      }
      position = await readPosition(sql, build.schema, this.#stream);
    }
    this.#position = position ?? 0;
    this.#losses = losses;
    return undefined;
  }

  /** Begins to apply the next facts while the store is still busy with those before. */
  prepare(facts: Recorded[]): Prepared | undefined {
    const { projection, build } = this.#options;
    if (facts.length === 0) return undefined;
    return new Prepared((tx) => projection.apply(tx, facts, build.schema));
  }

  /**
   * Applies facts and moves on to `upTo`. `prepared` is the beginning that was made with them, if any. When
   * they cannot be applied together, each half is tried alone: everything before the faulty fact is applied,
   * and that fact is returned. Throws errors that say nothing about the facts: the store is away, or is not
   * where it was.
   */
  async apply(facts: Recorded[], upTo: number, prepared?: Prepared): Promise<Halt | undefined> {
    if (upTo <= this.#position) return undefined;
    const { build, logger } = this.#options;
    const todo = facts.filter((fact) => fact.seq > this.#position);
    const work = todo.length === facts.length && prepared ? prepared : this.prepare(todo);
    const { losses } = this.#options.sql;
    const started = clock.elapsed();
    let advanced = false;
    try {
      await this.#transaction(async (tx) => {
        // sent together: between two statements the store would wait for this process, which has other work
        const [advancing, applying] = await Promise.allSettled([
          advance(tx, build.schema, this.#stream, this.#position, upTo),
          work?.run(tx),
        ]);
        if (advancing.status === 'rejected') throw advancing.reason;
        advanced = advancing.value;
        if (!advanced) throw overtaken;
        if (applying.status === 'rejected') throw applying.reason;
      });
    } catch (error) {
      if (error === overtaken) return await this.#overtaken(facts, upTo);
      if (!advanced || isExpected(error)) throw error;
      if (todo.length <= 1) return { seq: todo[0]?.seq ?? upTo, message: messageOf(error) };
      const half = todo.slice(0, todo.length >> 1);
      return (await this.apply(half, half.at(-1)!.seq)) ?? (await this.apply(todo.slice(half.length), upTo));
    }
    this.#position = upTo;
    this.#losses = losses;
    const ms = Math.round(clock.elapsed() - started);
    logger.debug(
      { projection: build.schema, stream: this.#stream, facts: todo.length, position: upTo, ms },
      'batch',
    );
    return undefined;
  }

  /** Moves on to a sequence without applying anything. */
  async passOver(upTo: number): Promise<void> {
    await this.apply([], upTo);
  }

  /** Whether the store's position has changed or is gone: the store may have lost what it had. */
  async hasMoved(): Promise<boolean> {
    const { sql, build } = this.#options;
    const position = await readPosition(sql, build.schema, this.#stream).catch((error) => {
      if (isExpected(error)) throw error;
      return undefined;
    });
    return position !== this.#position;
  }

  /** Records, for all processes, at which fact it stopped. The next move clears it. */
  async recordHalt(halt: Halt): Promise<void> {
    await recordHalt(this.#options.sql, this.#options.build.schema, this.#stream, halt);
  }

  /** Somebody else moved the position: another process on the same store, or a restore of the store. */
  async #overtaken(facts: Recorded[], upTo: number): Promise<Halt | undefined> {
    const { sql, build } = this.#options;
    const position = await readPosition(sql, build.schema, this.#stream);
    if (position === undefined || position < this.#position) {
      throw Object.assign(new Error(`${build.schema} has gone back`), { code: storeWentBack });
    }
    this.#position = position;
    return await this.apply(facts, upTo);
  }

  #transaction(work: Parameters<Sql['transaction']>[0]): Promise<unknown> {
    const { sql, limits } = this.#options;
    return limits.build(() => limits.all(() => sql.transaction(work)));
  }
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
