import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { atMost, clock, type Timer } from '../../streams/core/clock.js';
import { storeUnavailable, type WireParam } from './sql.js';

/** The result of a statement: its rows, and the command that it turned out to be. */
export interface StatementResult {
  rows: Record<string, unknown>[];
  command: string;
}

/**
 * The result of a statement: its columns as PostgreSQL names them, and its rows with the values in that
 * order.
 */
export interface TableResult {
  columns: string[];
  rows: unknown[][];
}

interface Request {
  id: number;
  text: string;
  params?: WireParam[] | undefined;
  /** As a table; otherwise as rows by the names of their columns. */
  asTable?: boolean;
}

type Reply =
  | { id: number; result: StatementResult | TableResult }
  | { id: number; error: { message: string; code?: string } };

/**
 * PGlite in its own thread: it computes in WebAssembly, synchronously, and would block the whole process for
 * the length of each statement. Statements run in the order in which they were given.
 */
export class PgliteThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<
    number,
    { resolve(result: StatementResult | TableResult): void; reject(error: unknown): void }
  >();
  readonly #answerMs: number;
  /** Expires when the running statement takes too long. */
  #overdue: Timer | undefined;
  #next = 0;
  #ended: string | undefined;
  #dismissed = false;

  private constructor(worker: Worker, answerMs: number, died: (reason: string) => void) {
    this.#worker = worker;
    this.#answerMs = answerMs;
    worker.on('message', (reply: Reply) => this.#receive(reply));
    worker.on('error', (error) => this.#end(error.message));
    worker.on('exit', () => {
      this.#end('its thread ended');
      if (!this.#dismissed) died(this.#ended!);
    });
  }

  /**
   * Opens the database in a directory. If there is no database, it copies `template`, or makes one. `died` is
   * called when the thread is gone although nobody closed it. The thread is ended when a statement takes
   * longer than `answerMs` milliseconds, because a statement cannot be cancelled.
   */
  static async open(
    directory: string,
    options: {
      settings: string[];
      template?: string | undefined;
      answerMs?: number;
      died: (reason: string) => void;
    },
  ): Promise<PgliteThread> {
    const { settings, template, answerMs = longestStatementMs, died } = options;
    const worker = new Worker(`(${main})()`, {
      eval: true,
      // the thread runs plain JavaScript: loaders of the process would only slow its start
      execArgv: [],
      workerData: { pglite: import.meta.resolve('@electric-sql/pglite'), directory, settings, template },
    });
    try {
      await new Promise<void>((resolve, reject) => {
        worker.once('message', ({ error }: { error?: string }) =>
          error === undefined ? resolve() : reject(new Error(error)),
        );
        worker.once('error', reject);
        worker.once('exit', () => reject(new Error('the thread ended while opening the database')));
      });
    } catch (error) {
      await worker.terminate();
      throw error;
    }
    return new PgliteThread(worker, answerMs, died);
  }

  /** Runs one statement, or several when there are no parameters. Rejects with the SQLSTATE in `code`. */
  run(text: string, params?: WireParam[]): Promise<StatementResult> {
    return this.#ask({ text, params }) as Promise<StatementResult>;
  }

  /** The same without parameters, with the result as a table. */
  runForTable(text: string): Promise<TableResult> {
    return this.#ask({ text, asTable: true }) as Promise<TableResult>;
  }

  /** Closes the database and ends the thread. */
  async close(): Promise<void> {
    this.#dismissed = true;
    await this.run('checkpoint').catch(() => {});
    this.#ended ??= 'it is closed';
    this.#worker.postMessage('close');
    await atMost(once(this.#worker, 'exit'), closeBoundMs);
    await this.#worker.terminate();
  }

  /** Ends the thread whatever it does. */
  async kill(): Promise<void> {
    this.#dismissed = true;
    this.#end('it is given up');
    await this.#worker.terminate();
  }

  #ask(request: Omit<Request, 'id'>): Promise<StatementResult | TableResult> {
    if (this.#ended !== undefined) return Promise.reject(storeUnavailable(this.#ended));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      if (this.#waiting.size === 1) this.#expectAnswer();
      const owned = request.params
        ?.filter((param) => param instanceof Uint8Array)
        .map(({ buffer }) => buffer);
      this.#worker.postMessage({ id, ...request } satisfies Request, owned as ArrayBuffer[] | undefined);
    });
  }

  #receive(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    this.#expectAnswer();
    if ('result' in reply) waiting?.resolve(reply.result);
    else waiting?.reject(Object.assign(new Error(reply.error.message), reply.error));
  }

  /** The time for the next answer starts now: answers come one after another. */
  #expectAnswer(): void {
    clock.clearTimeout(this.#overdue);
    this.#overdue = undefined;
    if (this.#waiting.size === 0) return;
    this.#overdue = clock.setTimeout(() => {
      this.#end(`a statement took longer than ${this.#answerMs} ms`);
      void this.#worker.terminate();
    }, this.#answerMs);
    this.#overdue.unref();
  }

  #end(reason: string): void {
    this.#ended ??= reason;
    clock.clearTimeout(this.#overdue);
    for (const { reject } of this.#waiting.values()) reject(storeUnavailable(this.#ended));
    this.#waiting.clear();
  }
}

const closeBoundMs = 5_000;
/** Far longer than any statement of ours takes, also on a busy machine. */
const longestStatementMs = 120_000;

/**
 * The code of the thread. It is sent as source text, so that it runs the same from compiled code and under
 * any loader. It must not use anything from outside itself.
 */
async function main(): Promise<void> {
  const { parentPort: parent, workerData } = await import('node:worker_threads');
  const { cpSync, mkdirSync, renameSync, rmSync } = await import('node:fs');
  const port = parent!;
  const { directory, template, settings } = workerData;
  try {
    mkdirSync(directory, { recursive: true });
    if (template) {
      rmSync(`${directory}.new`, { recursive: true, force: true });
      cpSync(template, `${directory}.new`, { recursive: true });
      renameSync(`${directory}.new`, directory);
    }
    const { PGlite, types } = (await import(workerData.pglite)) as typeof import('@electric-sql/pglite');
    const db = await PGlite.create({
      dataDir: directory,
      startParams: [...PGlite.defaultStartParams, ...settings],
      parsers: {
        [types.INT8]: Number,
        [types.DATE]: (text) => text,
        [types.TIMESTAMP]: (text) => new Date(`${text.replace(' ', 'T')}Z`),
      },
    });
    port.on('message', async (request: Request | 'close') => {
      if (request === 'close') {
        await db.close().catch(() => {});
        port.close();
        return;
      }
      const { id, text, params, asTable } = request;
      const options = asTable ? { rowMode: 'array' as const } : {};
      try {
        const result = params ? await db.query(text, params) : (await db.exec(text, options)).at(-1);
        // an engine that was killed in the middle of something answers everything, with nothing
        if (result?.command === undefined) throw new Error('The engine does not answer');
        const { rows, command, fields } = result;
        const told = asTable ? { rows, columns: fields.map(({ name }) => name) } : { rows, command };
        port.postMessage({ id, result: told });
      } catch (error) {
        const { message, code, detail, position, hint, routine } = error as Record<string, unknown>;
        // without an SQLSTATE the engine failed, and not the statement: it cannot be used any more
        if (typeof code !== 'string' || !/^(?=.*\d)[0-9A-Z]{5}$/.test(code)) throw error;
        port.postMessage({ id, error: { message, code, detail, position, hint, routine } });
      }
    });
    port.postMessage({});
  } catch (error) {
    port.postMessage({ error: String((error as Error)?.message ?? error) });
  }
}
