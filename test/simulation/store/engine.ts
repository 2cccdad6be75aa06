import { spawnSync } from 'node:child_process';
import { PGlite } from '@electric-sql/pglite';
import { makeDatabase } from '../../../projections/core/pglite.js';
import { findTemplate } from '../../../projections/core/pglite-directory.js';
import type { WireParam } from '../../../projections/core/sql.js';
import { type EngineReply, type EngineResult, extended, readReply, simple } from './protocol.js';

const settings = [
  // each relation that a run makes is locked until its end
  'max_locks_per_transaction=1000',
  'shared_buffers=16MB',
  'fsync=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'min_wal_size=32MB',
  // planning costs far more than any work on these tables
  'plan_cache_mode=force_generic_plan',
  'track_counts=off',
  'track_activities=off',
  'client_min_messages=error',
];
/** Each run that is rolled back leaves rows in the catalogs, and files of the write-ahead log. */
const vacuumEvery = 100;

let started: Promise<Engine> | undefined;
let running: Engine | undefined;

/** Starts the database engine of this process, in memory, once; that takes seconds of real time. */
export async function startEngine(): Promise<void> {
  started ??= Engine.start();
  running = await started;
}

/** The engine, which must exist before a world begins: no seed decides how long its start takes. */
export function runningEngine(): Engine {
  if (!running)
    throw new Error('the engine of the store is not there: `prepare: startEngine` in the scenario');
  return running;
}

/**
 * A real PGlite. Everything that a run does in it is one transaction, and savepoints replace commits. It is
 * rolled back and so leaves nothing, which is far cheaper than dropping or truncating tables.
 */
export class Engine {
  readonly #db: PGlite;
  readonly #prepared = new Map<string, string>();
  #current: Database | undefined;
  #emptied = 0;

  private constructor(db: PGlite) {
    this.#db = db;
  }

  static async start(): Promise<Engine> {
    return new Engine(
      await PGlite.create({
        loadDataDir: await emptyDatabase(),
        startParams: [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])],
      }),
    );
  }

  /** An empty database, in place of the one before, which is over. */
  async open(): Promise<Database> {
    if (this.#current) this.#current.isOver = true;
    this.#do('rollback; deallocate all');
    this.#prepared.clear();
    if (this.#emptied++ % vacuumEvery === vacuumEvery - 1) {
      this.#do('vacuum');
      this.#do('checkpoint');
    }
    this.#do('begin; savepoint disk');
    this.#current = new Database(this);
    return this.#current;
  }

  /**
   * Runs one statement, or several without parameters. Others are sent before it, and nobody wants their
   * answers.
   */
  run(before: string, text: string, params?: readonly WireParam[]): EngineResult {
    let name = this.#prepared.get(text);
    const isNew = params !== undefined && name === undefined;
    name ??= `s${this.#prepared.size}`;
    const wanted = params ? extended(name, isNew ? text : undefined, params) : simple(text);
    const { result, error, prepared } = this.#send(before === '' ? wanted : [...simple(before), ...wanted]);
    if (isNew && prepared > 0) this.#prepared.set(text, name);
    if (error) throw error;
    return result;
  }

  #do(text: string): void {
    const { error } = this.#send(simple(text));
    if (error) throw error;
  }

  #send(messages: readonly Uint8Array[]): EngineReply {
    const parts: Uint8Array[] = [];
    // done when the call returns; `execProtocolRawSync` would also parse the answer, and keep it for ever
    void this.#db.execProtocolRawStream(Buffer.concat(messages), {
      syncToFs: false,
      onRawData: (data) => parts.push(data.slice()),
    });
    return readReply(Buffer.concat(parts));
  }
}

/** Statements that only read; any other may write. */
const reads =
  /^\s*(select|with)\b(?!.*\b(insert|update|delete|create|drop|alter|share|\w*lock|nextval|setval)\b)/is;

/**
 * The database of one run: what is on its disk and what is not there yet. Moves of savepoints are sent with
 * the next statement, and left out around those that only read.
 */
export class Database {
  readonly #engine: Engine;
  /** Set when another one has taken its place. */
  isOver = false;
  /** What must be done before the next statement. */
  #before: string[] = [];
  /** A transaction is under way. */
  #isOpen = false;
  /** What came after the savepoint of a transaction; `undefined` without one. */
  #work: 'nothing' | 'changes' | undefined;
  #isOnDisk = true;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Runs one statement, or several when there are no parameters. */
  run(text: string, params?: readonly WireParam[]): EngineResult {
    if (this.isOver) throw new Error('this run is over');
    const isRead = reads.test(text);
    // a single statement is prepared, which costs less from the second time on
    const given = params ?? (isRead && !text.includes(';') ? [] : undefined);
    const before = this.#before.join(';');
    this.#before = [];
    try {
      const result = this.#engine.run(before, text, given);
      if (!isRead) this.#work = 'changes';
      return result;
    } catch (error) {
      this.#work = 'changes';
      throw error;
    }
  }

  begin(): void {
    this.#isOpen = true;
    if (this.#work) return;
    this.#before.push('savepoint work');
    this.#work = 'nothing';
  }

  commit(): void {
    this.#isOpen = false;
    if (this.#work !== 'changes') return;
    this.#before.push('release work');
    this.#work = undefined;
    this.#isOnDisk = false;
  }

  rollback(): void {
    this.#isOpen = false;
    if (this.#work !== 'changes') return;
    this.#before.push('rollback to work');
    this.#work = 'nothing';
  }

  /** Commits reach the disk; a transaction under way is over. */
  flush(): void {
    if (this.#isOpen) this.rollback();
    if (this.#isOnDisk) return;
    this.#before.push('release disk', 'savepoint disk');
    this.#work = undefined;
    this.#isOnDisk = true;
  }

  /** Goes back to what is on the disk; a transaction under way is over. */
  crash(): void {
    this.#isOpen = false;
    this.#before.push('rollback to disk');
    this.#work = undefined;
    this.#isOnDisk = true;
  }

  /** Has nothing any more. */
  empty(): void {
    this.#isOpen = false;
    this.#before = ['rollback', 'begin', 'savepoint disk'];
    this.#work = undefined;
    this.#isOnDisk = true;
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
