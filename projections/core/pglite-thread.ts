import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { Results } from '@electric-sql/pglite';
import { atMost, clock, type Timer } from '../../streams/core/clock.js';
import {
  type Reply,
  type Request,
  Requests,
  type StatementResult,
  type TableResult,
} from './pglite-requests.js';
import type { WireParam } from './sql.js';

/** What a guest did: so many characters of parameters were written, or a statement failed with this error. */
export type GuestNews = { written: number } | { failed: { message: string; code: string } };

/** What the thread gets: a statement, a guest to serve too, or the word to close. */
type Command = Request | { guest: MessagePort } | 'close';

/**
 * PGlite in its own thread: it computes in WebAssembly, synchronously, and would block the whole process for
 * the length of each statement. Statements run in the order in which they were given. Guests are other threads that
 * use the database too: their transactions and ours are kept apart.
 */
export class PgliteThread {
  readonly #worker: Worker;
  readonly #requests: Requests;
  readonly #answerMs: number;
  /** Expires when the running statement takes too long. */
  #overdue: Timer | undefined;
  #dismissed = false;

  private constructor(
    worker: Worker,
    answerMs: number,
    { died, guest }: { died: (reason: string) => void; guest?: ((news: GuestNews) => void) | undefined },
  ) {
    this.#worker = worker;
    this.#answerMs = answerMs;
    this.#requests = new Requests((request, transfer) => worker.postMessage(request, transfer));
    worker.on('message', (message: Reply | { guest: GuestNews }) => {
      if ('guest' in message) guest?.(message.guest);
      else this.#receive(message);
    });
    worker.on('error', (error) => this.#end(error.message));
    worker.on('exit', () => {
      this.#end('its thread ended');
      if (!this.#dismissed) died(this.#requests.ended!);
    });
  }

  /**
   * Opens the database in a directory. If there is no database, it copies `template`, or makes one. `died` is
   * called when the thread is gone although nobody closed it, `guest` when a guest has done something. The thread is ended when a statement takes
   * longer than `answerMs` milliseconds, because a statement cannot be cancelled.
   */
  static async open(
    directory: string,
    options: {
      settings: string[];
      template?: string | undefined;
      answerMs?: number;
      died: (reason: string) => void;
      guest?: (news: GuestNews) => void;
    },
  ): Promise<PgliteThread> {
    const { settings, template, answerMs = longestStatementMs } = options;
    engine ??= compileEngine();
    const worker = new Worker(`${helper}; (${main})()`, {
      eval: true,
      // the thread runs plain JavaScript: loaders of the process would only slow its start
      execArgv: [],
      workerData: { pglite, engine: await engine, directory, settings, template },
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
    return new PgliteThread(worker, answerMs, options);
  }

  /** Runs one statement, or several when there are no parameters. Rejects with the SQLSTATE in `code`. */
  run(text: string, params?: WireParam[]): Promise<StatementResult> {
    return this.#ask({ text, params }) as Promise<StatementResult>;
  }

  /** The same without parameters, with the result as a table. */
  runForTable(text: string): Promise<TableResult> {
    return this.#ask({ text, asTable: true }) as Promise<TableResult>;
  }

  /** A way to the database for another thread; see `openGuest`. */
  invite(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#worker.postMessage({ guest: port1 } satisfies Command, [port1]);
    return port2;
  }

  /** Closes the database and ends the thread. */
  async close(): Promise<void> {
    this.#dismissed = true;
    await this.run('checkpoint').catch(() => {});
    this.#requests.close('it is closed');
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
    const answer = this.#requests.ask(request);
    if (this.#requests.open === 1) this.#expectAnswer();
    return answer;
  }

  #receive(reply: Reply): void {
    this.#requests.receive(reply);
    this.#expectAnswer();
  }

  /** The time for the next answer starts now: answers come one after another. */
  #expectAnswer(): void {
    clock.clearTimeout(this.#overdue);
    this.#overdue = undefined;
    if (this.#requests.open === 0) return;
    this.#overdue = clock.setTimeout(() => {
      this.#end(`a statement took longer than ${this.#answerMs} ms`);
      void this.#worker.terminate();
    }, this.#answerMs);
    this.#overdue.unref();
  }

  #end(reason: string): void {
    clock.clearTimeout(this.#overdue);
    this.#requests.end(reason);
  }
}

const pglite = import.meta.resolve('@electric-sql/pglite');
/** TypeScript knows it with the types of browsers only. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };
/** PGlite's WebAssembly. Compiled once, it is shared by all threads of this process, and so is what V8 optimises of it. */
let engine: Promise<object | undefined> | undefined;

/** Without a result each thread compiles it for itself. */
async function compileEngine(): Promise<object | undefined> {
  try {
    return await WebAssembly.compile(await readFile(new URL('pglite.wasm', pglite)));
  } catch {
    engine = undefined;
    return undefined;
  }
}

const closeBoundMs = 5_000;
/** Far longer than any statement of ours takes, also on a busy machine. */
const longestStatementMs = 120_000;

/** Loaders such as tsx wrap functions in this helper of theirs. */
const helper = 'const __name = (named) => named';

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
    const { PGlite, types, parse, protocol } = (await import(
      workerData.pglite
    )) as typeof import('@electric-sql/pglite');
    const { serialize } = protocol;
    const db = await PGlite.create({
      dataDir: directory,
      pgliteWasmModule: workerData.engine,
      startParams: [...PGlite.defaultStartParams, ...settings],
      parsers: {
        [types.INT8]: Number,
        [types.DATE]: (text) => text,
        [types.TIMESTAMP]: (text) => new Date(`${text.replace(' ', 'T')}Z`),
      },
    });
    // Statements are prepared, since planning most of them costs more than the rest. Those used last are kept, by their text.
    const prepared = new Map<string, string>();
    const mostPrepared = 200;
    let named = 0;
    const forget = async (name: string) => {
      await db.execProtocolStream(Buffer.concat([serialize.close({ type: 'S', name }), serialize.sync()]));
    };
    const execute = async (
      text: string,
      values: WireParam[],
      options: { rowMode?: 'array' },
    ): Promise<Results | undefined> => {
      const known = prepared.get(text);
      prepared.delete(text);
      const name = known ?? `s${named++}`;
      const messages = [
        ...(known === undefined ? [serialize.parse({ name, text })] : []),
        serialize.bind({ statement: name, values }),
        serialize.describe({ type: 'P' }),
        serialize.execute(),
        serialize.sync(),
      ];
      try {
        const replies = await db.execProtocolStream(Buffer.concat(messages));
        prepared.set(text, name);
        if (prepared.size > mostPrepared) {
          const [oldest] = prepared;
          prepared.delete(oldest![0]);
          await forget(oldest![1]);
        }
        return parse.parseResults(replies, db.parsers, options).at(-1);
      } catch (error) {
        await forget(name); // it may be there or not
        // tables may have changed since it was prepared
        if (known !== undefined && !inTransaction) return await execute(text, values, options);
        throw error;
      }
    };
    const run = async (client: MessagePort, { id, text, params, asTable }: Request) => {
      const options = asTable ? { rowMode: 'array' as const } : {};
      try {
        const result = params ? await execute(text, params, options) : (await db.exec(text, options)).at(-1);
        // an engine that was killed in the middle of something answers everything, with nothing
        if (result?.command === undefined) throw new Error('The engine does not answer');
        const { rows, command, fields } = result;
        const told = asTable ? { rows, columns: fields.map(({ name }) => name) } : { rows, command };
        client.postMessage({ id, result: told });
      } catch (error) {
        const { message, code, detail, position, hint, routine } = error as Record<string, unknown>;
        // without an SQLSTATE the engine failed, and not the statement: it cannot be used any more
        if (typeof code !== 'string' || !/^(?=.*\d)[0-9A-Z]{5}$/.test(code)) throw error;
        client.postMessage({ id, error: { message, code, detail, position, hint, routine } });
        if (client !== port) port.postMessage({ guest: { failed: { message, code } } });
      }
    };
    // the first is the service: it goes before guests
    const clients: { port: MessagePort; waiting: (Request | 'close')[] }[] = [];
    let inTransaction: (typeof clients)[number] | undefined;
    let isRunning = false;
    let written = 0;
    const runAll = async () => {
      if (isRunning) return;
      isRunning = true;
      for (;;) {
        const client: (typeof clients)[number] | undefined =
          inTransaction ?? clients.find(({ waiting }) => waiting.length > 0);
        const request = client?.waiting.shift();
        if (!client || !request) break;
        if (request === 'close') {
          await db.close().catch(() => {});
          inTransaction = undefined;
          for (const it of clients.splice(0)) it.port.close();
          break;
        }
        if (request.text === 'begin') inTransaction = client;
        if (client.port !== port)
          written += request.params?.reduce((sum, it) => sum + (it?.length ?? 0), 0) ?? 0;
        await run(client.port, request);
        if (request.text !== 'commit' && request.text !== 'rollback') continue;
        inTransaction = undefined;
        if (written > 0) port.postMessage({ guest: { written } });
        written = 0;
      }
      isRunning = false;
    };
    const serve = (of: MessagePort) => {
      const client: (typeof clients)[number] = { port: of, waiting: [] };
      clients.push(client);
      of.on('message', (command: Command) => {
        if (typeof command === 'object' && 'guest' in command) serve(command.guest);
        else client.waiting.push(command);
        void runAll();
      });
      of.on('close', () => {
        const place = clients.indexOf(client);
        if (place < 0) return;
        clients.splice(place, 1);
        // it may have gone away in the middle of a transaction
        client.waiting = inTransaction === client ? [{ id: -1, text: 'rollback' }] : [];
        void runAll();
      });
    };
    serve(port);
    port.postMessage({});
  } catch (error) {
    port.postMessage({ error: String((error as Error)?.message ?? error) });
  }
}
