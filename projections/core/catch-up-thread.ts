import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { atMost, clock, type Timer } from '../../streams/core/clock.js';
import { errorTold } from '../../streams/core/index.js';
import type {
  CatchUp,
  CatchUpCommand,
  CatchUpNews,
  CatchUpStart,
  CaughtUp,
  Elsewhere,
  ToldError,
} from './catch-up.js';
import type { SharedStore } from './sql.js';

/** Where the thread finds its program and the log. */
export interface CatchUpPlace {
  /** A module that calls `serveCatchUps` with the same read models. */
  program: URL;
  /** Comma-separated URLs of the log servers. */
  logUrls: string;
  /** A stream of a build that is read is folded there when it lags so many facts; 1,000 by default. */
  from?: number;
}

/** What the thread works with. */
export interface CatchUpThreadOptions extends CatchUpPlace {
  share(): SharedStore;
  logger: Logger;
  batch: number;
  isBusy(): boolean;
}

const usuallyFrom = 1_000;
/** A build that is not read yet is folded there when it lags so many facts: one fact may hold dozens of lines. */
const buildingFrom = 100;
/** A thread that died so many times in a row is not started again. */
const mostDeaths = 3;
const busyLookMs = 50;
const endBoundMs = 5_000;

/**
 * A thread of its own for what lags far. Reading, decoding and folding takes a processor for seconds or minutes, and
 * the thread that answers requests would be late all that time. It begins with the first catch-up and ends with the
 * last one.
 */
export class CatchUpThread implements Elsewhere {
  readonly far: Elsewhere['far'];
  readonly #options: CatchUpThreadOptions;
  readonly #ending = new Set<Promise<void>>();
  #running: Running | undefined;
  #deaths = 0;

  constructor(options: CatchUpThreadOptions) {
    this.#options = options;
    const read = options.from ?? usuallyFrom;
    this.far = { read, building: Math.min(read, buildingFrom) };
  }

  async catchUp(
    what: CatchUp,
    { signal, moved }: { signal: AbortSignal; moved(position: number): void },
  ): Promise<CaughtUp> {
    if (signal.aborted) return 'stopped';
    if (this.#deaths >= mostDeaths) return 'given up';
    const running = this.#running ?? this.#start();
    const is = await running.catchUp(what, signal, moved);
    if (is === 'near') this.#deaths = 0;
    return is;
  }

  /** Ends the thread, within bounds. */
  async stop(): Promise<void> {
    if (this.#running) this.#end(this.#running);
    await Promise.all(this.#ending);
  }

  #start(): Running {
    const { logger } = this.#options;
    const running: Running = new Running(this.#options, {
      idle: () => this.#end(running),
      died: (error) => {
        if (this.#running === running) this.#running = undefined;
        this.#deaths += 1;
        const next = this.#deaths < mostDeaths ? 'another one follows' : 'it is folded with everything else';
        logger.error({ err: error }, `the thread that folds what lags far has died: ${next}`);
      },
    });
    this.#running = running;
    return running;
  }

  #end(running: Running): void {
    if (this.#running === running) this.#running = undefined;
    const ending = running.end().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

interface Open {
  moved(position: number): void;
  resolve(is: CaughtUp): void;
  reject(error: unknown): void;
}

/** The thread from its start to its end. */
class Running {
  readonly #worker: Worker;
  readonly #logger: Logger;
  readonly #idle: () => void;
  readonly #open = new Map<number, Open>();
  readonly #looking: Timer;
  #next = 0;
  #isDismissed = false;

  constructor(options: CatchUpThreadOptions, on: { idle(): void; died(error: unknown): void }) {
    const { program, logUrls, batch, isBusy, logger } = options;
    this.#logger = logger;
    this.#idle = on.idle;
    const store = options.share();
    const busy = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const start: CatchUpStart = { logUrls, store, busy, batch, logLevel: logger.level };
    this.#worker = new Worker(program, {
      workerData: start,
      transferList: 'guest' in store ? [store.guest] : [],
    });
    this.#looking = clock.setInterval(() => Atomics.store(busy, 0, isBusy() ? 1 : 0), busyLookMs);
    this.#looking.unref();
    let reason: unknown;
    this.#worker.on('message', (news: CatchUpNews) => this.#receive(news));
    this.#worker.on('error', (error) => {
      reason = error;
    });
    this.#worker.on('exit', (code) => {
      clock.clearInterval(this.#looking);
      if (this.#isDismissed) return;
      const error = reason ?? new Error(`it ended with ${code}`);
      on.died(error);
      for (const { reject } of this.#open.values()) reject(error);
      this.#open.clear();
    });
  }

  async catchUp(what: CatchUp, signal: AbortSignal, moved: (position: number) => void): Promise<CaughtUp> {
    const id = this.#next++;
    const cancel = () => {
      this.#command({ cancel: id });
      this.#settle(id, ({ resolve }) => resolve('stopped'));
    };
    signal.addEventListener('abort', cancel);
    try {
      return await new Promise<CaughtUp>((resolve, reject) => {
        this.#open.set(id, { moved, resolve, reject });
        this.#command({ id, ...what });
      });
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Lets it finish the batches in hand. */
  async end(): Promise<void> {
    this.#isDismissed = true;
    const exited = once(this.#worker, 'exit').catch(() => {});
    this.#command('end');
    await atMost(exited, endBoundMs);
    await this.#worker.terminate();
  }

  #receive(news: CatchUpNews): void {
    if ('line' in news) logAgain(this.#logger, news.line);
    else if ('moved' in news) this.#open.get(news.id)?.moved(news.moved);
    else if ('is' in news) this.#settle(news.id, ({ resolve }) => resolve(news.is));
    else this.#settle(news.id, ({ reject }) => reject(errorFrom(news.failed)));
  }

  #settle(id: number, settle: (open: Open) => void): void {
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    settle(open);
    if (this.#open.size === 0) this.#idle();
  }

  #command(command: CatchUpCommand): void {
    this.#worker.postMessage(command);
  }
}

/** Gives a line of the thread to the logger of the process. */
function logAgain(logger: Logger, line: string): void {
  const { level, msg, ...about } = JSON.parse(line) as { level: number; msg?: string };
  const name = logger.levels.labels[level] as 'info' | undefined;
  if (name) logger[name](about, msg);
}

function errorFrom(failed: ToldError): Error {
  if ('expected' in failed) return errorTold(failed.expected);
  const { message, code, stack } = failed;
  return Object.assign(new Error(message), { code, ...(stack ? { stack } : {}) });
}
