import { Worker } from 'node:worker_threads';
import { Failed } from '../core/failure.js';
import type { QueryConnection, QueryResult } from './query-connection.js';

type Reply = { answer: QueryResult } | { error: { message: string; code: string } };

/**
 * Opens the database in a directory that nobody else has open, in a thread of its own. PGlite cannot interrupt a
 * statement: what ends one is the end of the thread.
 */
export async function openPgliteQuery(directory: string): Promise<QueryConnection> {
  const worker = new Worker(`(${main})()`, {
    eval: true,
    execArgv: [],
    workerData: { pglite: import.meta.resolve('@electric-sql/pglite'), directory },
  });
  const connection = new PgliteQuery(worker);
  try {
    await connection.run('select 1');
  } catch (error) {
    await connection.close();
    throw error;
  }
  return connection;
}

class PgliteQuery implements QueryConnection {
  readonly #worker: Worker;
  #ended: Failed | undefined;
  #waiting: { resolve(answer: QueryResult): void; reject(error: unknown): void } | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (reply: Reply) => {
      if ('answer' in reply) this.#waiting?.resolve(reply.answer);
      else this.#waiting?.reject(Object.assign(new Error(reply.error.message), reply.error));
    });
    // no fault that PostgreSQL found but one of the engine, such as too little memory
    worker.on('error', ({ message }) => this.#end(message));
    worker.on('exit', () => this.#end('its thread has ended'));
  }

  run(text: string): Promise<QueryResult> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#worker.postMessage(text);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(reason: string): void {
    this.#ended ??= new Failed(`the embedded database has broken down: ${reason}`, 'query_failed');
    this.#waiting?.reject(this.#ended);
  }
}

/** What the thread does. It is sent over as source text: it must not use anything from outside itself. */
async function main(): Promise<void> {
  const { parentPort, workerData } = await import('node:worker_threads');
  const { PGlite, types } = (await import(workerData.pglite)) as typeof import('@electric-sql/pglite');
  const db = await PGlite.create({
    dataDir: workerData.directory,
    startParams: [...PGlite.defaultStartParams, '-c', 'shared_buffers=32MB'],
    parsers: {
      [types.INT8]: Number,
      [types.DATE]: (text) => text,
      [types.TIMESTAMP]: (text) => new Date(`${text.replace(' ', 'T')}Z`),
    },
  });
  parentPort!.on('message', async (text: string) => {
    try {
      const result = (await db.exec(text, { rowMode: 'array' })).at(-1);
      const answer = { columns: result?.fields.map(({ name }) => name) ?? [], rows: result?.rows ?? [] };
      parentPort!.postMessage({ answer });
    } catch (error) {
      const { message, code, position, hint, routine } = error as Error & Record<string, unknown>;
      // without an SQLSTATE it was not the statement that failed but the engine
      if (typeof code !== 'string' || !/^(?=.*\d)[0-9A-Z]{5}$/.test(code)) throw error;
      parentPort!.postMessage({ error: { message, code, position, hint, routine } });
    }
  });
}
