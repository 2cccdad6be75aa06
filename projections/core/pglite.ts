import { rename } from 'node:fs/promises';
import type { Logger } from 'pino';
import { beginSession, endSession, forgetTemplate, moveAside, provideDatabase } from './pglite-directory.js';
import { PgliteThread } from './pglite-thread.js';
import { type Param, type Sql, type Tx, assertCommitted, storeError, storeUnavailable, wireText } from './sql.js';

/** PostgreSQL settings: less memory and disk than a server would take. */
const settings = ['shared_buffers=32MB', 'wal_level=minimal', 'max_wal_senders=0', 'min_wal_size=32MB'].flatMap(
  (setting) => ['-c', setting],
);
/** PGlite never writes a checkpoint by itself and its write-ahead log would grow for ever: after so many characters written we do. */
const checkpointEvery = 32 * 1024 * 1024;
const upkeepMs = 30_000;
/** SQLSTATEs of files that cannot be what the database wrote. */
const damage = ['XX001', 'XX002', '58P01', '58030'];
/** A second crash within this time is blamed on the files. */
const crashLoopMs = 30_000;

/**
 * Opens the read store in a directory of its own, in this process. What cannot be opened is moved aside and
 * replaced by an empty store: everything in it can be folded again. One process at a time may open a directory.
 */
export async function openPglite(directory: string, logger: Logger): Promise<Sql> {
  const store = new Pglite(directory, logger);
  await store.open();
  return store;
}

class Pglite implements Sql {
  readonly engine = 'pglite';
  readonly #directory: string;
  readonly #logger: Logger;
  /** What waits for the transaction in hand to end. */
  readonly #waiting: (() => void)[] = [];
  readonly #upkeep: NodeJS.Timeout;
  #thread: PgliteThread | undefined;
  #inTransaction = false;
  #written = 0;
  #crashedAt = 0;
  #repairing: Promise<void> | undefined;
  #closed = false;

  constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
    this.#upkeep = setInterval(() => this.#tidy(), upkeepMs);
    this.#upkeep.unref();
  }

  async open(): Promise<void> {
    try {
      await provideDatabase(this.#directory, makeDatabase);
      if (!(await beginSession(this.#directory))) throw new Error('the machine went down while it was open');
      this.#thread = await this.#openThread();
    } catch (error) {
      await this.#replace(error);
    }
  }

  async query<R>(text: string, params?: readonly Param[]): Promise<R[]> {
    if (this.#inTransaction) await this.#turn();
    return await this.#run(this.#thread, text, params);
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    while (this.#inTransaction) await this.#turn();
    this.#inTransaction = true;
    const thread = this.#thread;
    try {
      await this.#run(thread, 'begin');
      try {
        const result = await work({ query: (text, params) => this.#run(thread, text, params) });
        const ended = await (thread as PgliteThread).run('commit').catch((error) => {
          throw storeError(error);
        });
        assertCommitted(ended.command);
        return result;
      } catch (error) {
        await this.#run(thread, 'rollback').catch(() => {});
        throw error;
      }
    } finally {
      this.#inTransaction = false;
      while (!this.#inTransaction && this.#waiting.length > 0) this.#waiting.shift()!();
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    while (this.#inTransaction) await this.#turn();
    this.#closed = true;
    clearInterval(this.#upkeep);
    await this.#repairing;
    await this.#thread?.close();
    await endSession(this.#directory);
  }
}
