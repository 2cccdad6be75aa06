import { spawnSync } from 'node:child_process';
import { PGlite, types } from '@electric-sql/pglite';
import { makeDatabase } from '../../../projections/core/pglite.js';
import { findTemplate } from '../../../projections/core/pglite-directory.js';
import type { WireParam } from '../../../projections/core/sql.js';

/** What a statement gave. */
export interface EngineResult {
  rows: Record<string, unknown>[];
  command: string;
}

/** Each relation that a run makes is locked until its end, and each rolled back leaves rows in the catalogs. */
const settings = ['max_locks_per_transaction=1000', 'shared_buffers=16MB', 'fsync=off'];
const vacuumEvery = 100;

let started: Promise<Engine> | undefined;

/** The database engine of this process, in memory; started by the first who asks, which takes seconds. */
export function startEngine(): Promise<Engine> {
  started ??= Engine.start();
  return started;
}

/**
 * A real PGlite. All that a run does in it is one transaction, in which savepoints stand for commits: rolled back, it
 * leaves nothing behind, which is far cheaper than dropping or truncating tables.
 */
export class Engine {
  readonly #db: PGlite;
  #current: Database | undefined;
  #emptied = 0;

  private constructor(db: PGlite) {
    this.#db = db;
  }

  static async start(): Promise<Engine> {
    const db = await PGlite.create({
      loadDataDir: await emptyDatabase(),
      startParams: [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])],
      // as the store's own thread reads them
      parsers: {
        [types.INT8]: Number,
        [types.DATE]: (text) => text,
        [types.TIMESTAMP]: (text) => new Date(`${text.replace(' ', 'T')}Z`),
      },
    });
    await db.exec('set client_min_messages = error');
    return new Engine(db);
  }

  /** An empty database, in place of the one before, which is over. */
  async open(): Promise<Database> {
    if (this.#current) this.#current.isOver = true;
    const database = new Database(this.#db);
    this.#current = database;
    await this.#db.exec('rollback');
    if (this.#emptied++ % vacuumEvery === vacuumEvery - 1) await this.#db.exec('vacuum');
    await this.#db.exec('begin; savepoint disk');
    return database;
  }
}

/** The database of one run, with what is on its disk and what is not there yet. */
export class Database {
  readonly #db: PGlite;
  /** Set when another one has taken its place. */
  isOver = false;
  #isOpen = false;

  constructor(db: PGlite) {
    this.#db = db;
  }

  /** Runs one statement, or several when there are no parameters. */
  async run(text: string, params?: readonly WireParam[]): Promise<EngineResult> {
    if (this.isOver) throw new Error('this run is over');
    const result = params ? await this.#db.query(text, [...params]) : (await this.#db.exec(text)).at(-1);
    return { rows: (result?.rows ?? []) as EngineResult['rows'], command: result?.command ?? '' };
  }

  async begin(): Promise<void> {
    await this.run('savepoint work');
    this.#isOpen = true;
  }

  async commit(): Promise<void> {
    this.#isOpen = false;
    await this.run('release work');
  }

  async rollback(): Promise<void> {
    this.#isOpen = false;
    await this.run('rollback to work; release work');
  }

  /** What is committed reaches the disk; a transaction under way is over. */
  async flush(): Promise<void> {
    if (this.#isOpen) await this.rollback();
    await this.run('release disk; savepoint disk');
  }

  /** Goes back to what is on the disk; a transaction under way is over. */
  async crash(): Promise<void> {
    this.#isOpen = false;
    await this.run('rollback to disk');
  }

  /** Has nothing any more. */
  async empty(): Promise<void> {
    this.#isOpen = false;
    await this.run('rollback; begin; savepoint disk');
  }
}

/** The directory that the product copies its databases from, as an archive: making one takes much longer. */
async function emptyDatabase(): Promise<Blob> {
  const template = await findTemplate(makeDatabase);
  if (template === undefined) throw new Error('there is no database to copy from, and none can be made');
  const { stdout, status, stderr } = spawnSync('tar', ['-c', '-C', template, '.'], { maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(`tar: ${stderr}`);
  return new Blob([stdout]);
}
