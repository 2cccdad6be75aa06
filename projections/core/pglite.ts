import type { Logger } from 'pino';
import { clock, pause, type Timer } from '../../streams/core/clock.js';
import {
  beginSession,
  endSession,
  findTemplate,
  isDiskFull,
  isSound,
  isThere,
  moveAside,
  moveBack,
  removeRemains,
} from './pglite-directory.js';
import type { StatementResult } from './pglite-requests.js';
import { type GuestNews, PgliteThread } from './pglite-thread.js';
import {
  type Param,
  type SharedStore,
  type Sql,
  storeError,
  storeUnavailable,
  type Tx,
  wireParam,
} from './sql.js';
import { TransactionQueue } from './transaction-queue.js';

/** PostgreSQL settings of an embedded database: less memory and disk than a server would take. */
export const settings = [
  'shared_buffers=32MB',
  'wal_level=minimal',
  'max_wal_senders=0',
  'min_wal_size=32MB',
].flatMap((setting) => ['-c', setting]);
/**
 * PGlite never writes a checkpoint by itself, and its write-ahead log would grow for ever. We write one after
 * this many characters.
 */
const checkpointEvery = 32 * 1024 * 1024;
const upkeepMs = 30_000;
/** SQLSTATEs of files that the database cannot have written like that. */
const damage = /^(58...|XX00[12])$/;
/** A second crash within this time is blamed on the files. */
const crashLoopMs = 30_000;
const repairPauseMs = 5_000;

/**
 * Opens the read store in its own directory, in this process. A store that cannot be opened is moved aside
 * and replaced by an empty one: everything in it can be folded again. Only one process at a time may open a
 * directory. A statement that takes longer than `statementMs` milliseconds counts as a crash; two minutes by
 * default.
 */
export async function openPglite(directory: string, logger: Logger, statementMs?: number): Promise<Sql> {
  const store = new Pglite(directory, logger, statementMs);
  await store.open();
  return store;
}

class Pglite implements Sql {
  readonly engine = 'pglite';
  readonly #directory: string;
  readonly #logger: Logger;
  readonly #statementMs: number | undefined;
  #withoutTemplate = false;
  readonly #queue = new TransactionQueue();
  readonly #upkeep: Timer;
  #thread: PgliteThread | undefined;
  #losses = 0;
  #written = 0;
  #diedAt = Number.NEGATIVE_INFINITY;
  #repairing: Promise<void> | undefined;
  #closed = false;

  constructor(directory: string, logger: Logger, statementMs?: number) {
    this.#directory = directory;
    this.#statementMs = statementMs;
    this.#logger = logger;
    this.#upkeep = clock.setInterval(() => void this.#tidy(), upkeepMs);
    this.#upkeep.unref();
  }

  get losses(): number {
    return this.#losses;
  }

  async open(): Promise<void> {
    const isNew = !(await isThere(this.#directory));
    try {
      await this.#openThread();
    } catch (error) {
      if (await isDiskFull(this.#directory)) {
        if (isNew) await removeRemains(this.#directory); // half a database would look damaged next time
        throw diskFull(this.#directory, error);
      }
      if (isNew) this.#withoutTemplate = true; // what was copied from it cannot be opened
      await this.#replace(error);
    }
  }

  query<R>(text: string, params?: readonly Param[]): Promise<R[]> {
    return this.#queue.query(() => this.#run<R>(this.#thread, text, params));
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.#queue.transaction(() => {
        const thread = this.#thread; // a thread that replaces it does not know this transaction
        return (text, params, check) => this.#run(thread, text, params, check);
      }, work);
    } finally {
      if (this.#written > checkpointEvery) void this.#tidy();
    }
  }

  share(): SharedStore {
    if (!this.#thread) throw this.#away();
    return { guest: this.#thread.invite() };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clock.clearInterval(this.#upkeep);
    await this.#repairing;
    await this.#queue.ended();
    await this.#thread?.close();
    this.#thread = undefined;
    await endSession(this.#directory);
  }

  async #run<R>(
    thread: PgliteThread | undefined,
    text: string,
    params?: readonly Param[],
    check?: (command: string) => void,
  ): Promise<R[]> {
    if (!thread) throw this.#away();
    const wire = params?.map(wireParam);
    for (const param of wire ?? []) this.#written += param?.length ?? 0;
    let result: StatementResult;
    try {
      result = await thread.run(text, wire);
    } catch (error) {
      this.#noteDamage(thread, error);
      throw storeError(error);
    }
    check?.(result.command);
    return result.rows as R[];
  }

  #away(): Error {
    return storeUnavailable(this.#closed ? 'it is closed' : 'it is being repaired');
  }

  #noteDamage(thread: PgliteThread, error: unknown): void {
    if (damage.test((error as { code?: string }).code ?? '')) this.#repair(thread, error, true);
  }

  #noteGuest(thread: PgliteThread, news: GuestNews): void {
    if ('failed' in news) this.#noteDamage(thread, Object.assign(new Error(), news.failed));
    else this.#written += news.written;
    if (this.#written > checkpointEvery) void this.#tidy();
  }

  async #openThread(): Promise<void> {
    const exists = await isThere(this.#directory);
    if (exists && !(await isSound(this.#directory)))
      throw new Error('the machine went down while it was open');
    const thread = await PgliteThread.open(this.#directory, {
      settings,
      ...(this.#statementMs === undefined ? {} : { answerMs: this.#statementMs }),
      template: exists || this.#withoutTemplate ? undefined : await findTemplate(makeDatabase),
      died: (reason) => {
        const again = clock.elapsed() - this.#diedAt < crashLoopMs;
        this.#diedAt = clock.elapsed();
        this.#logger.error(
          { directory: this.#directory, reason },
          'the read store crashed and is opened again',
        );
        this.#repair(thread, new Error(reason), again);
      },
      guest: (news) => this.#noteGuest(thread, news),
    });
    try {
      await beginSession(this.#directory);
    } catch (error) {
      await thread.kill();
      throw error;
    }
    this.#thread = thread;
  }

  /** Opens the store again in the background. Until then, statements fail as unavailable. */
  #repair(thread: PgliteThread, reason: unknown, damaged: boolean): void {
    if (this.#closed || this.#thread !== thread) return;
    this.#thread = undefined;
    this.#losses += 1;
    const repair = async () => {
      await thread.kill();
      for (let isDamaged = damaged; !this.#thread && !this.#closed; ) {
        const isFull = await isDiskFull(this.#directory);
        try {
          if (isFull) throw diskFull(this.#directory, reason);
          if (isDamaged) await this.#replace(reason);
          else await this.#openThread();
        } catch (error) {
          this.#logger.error(
            { directory: this.#directory, err: error },
            'the read store cannot be repaired now',
          );
          if (isDamaged || isFull) await pause(repairPauseMs);
          isDamaged = !isFull;
        }
      }
    };
    this.#repairing = repair().finally(() => {
      this.#repairing = undefined;
    });
  }

  async #replace(reason: unknown): Promise<void> {
    const movedTo = await moveAside(this.#directory, new Date(clock.now())).catch(() => undefined);
    if (movedTo === undefined) throw reason;
    this.#logger.error(
      { directory: this.#directory, movedTo, err: reason },
      'the read store cannot be used: it was moved aside, everything in it is folded again from the event log',
    );
    try {
      await this.#openThread();
    } catch (error) {
      // it was not the directory's fault
      await moveBack(movedTo, this.#directory);
      throw error;
    }
  }

  /** What a server does by itself: checkpoints, and vacuum where many rows are dead. */
  async #tidy(): Promise<void> {
    if (this.#written === 0 || !this.#thread) return;
    this.#written = 0;
    try {
      await this.query('checkpoint');
      const worn = await this.query<{ name: string }>(
        `select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables
         where n_dead_tup > 20000 and n_dead_tup > n_live_tup / 4`,
      );
      for (const { name } of worn) await this.query(`vacuum (analyze) ${name}`);
    } catch (error) {
      this.#logger.debug({ err: error }, 'upkeep of the read store failed');
    }
  }
}

function diskFull(directory: string, cause: unknown): Error {
  return new Error(`the disk of the read store ${directory} is full: free some space`, { cause });
}

/**
 * Makes an empty database in a directory, as a template for copies. The two databases that PostgreSQL itself copies new
 * ones from are dropped: they are 600 of 970 files, and each start of a new store would copy them.
 */
export async function makeDatabase(directory: string): Promise<void> {
  const thread = await PgliteThread.open(directory, { settings, died: () => {} });
  try {
    await thread.run('update pg_database set datistemplate = false');
    for (const name of ['template0', 'template1']) await thread.run(`drop database ${name}`);
  } finally {
    await thread.close();
  }
}
