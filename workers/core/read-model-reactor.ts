import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { atMost } from '../../streams/core/clock.js';
import {
  decodeFact,
  type FactOf,
  type Log,
  type Position,
  pause,
  type Recorded,
  type StreamDefinition,
} from '../../streams/core/index.js';
import { KeyedQueue, type Verdict } from './keyed-queue.js';

/** A read model, the facts that follow it, and the work that they ask for. */
export interface ReadModelReactorOptions<S extends StreamDefinition, Row, Item> {
  log: Log;
  logger: Logger;
  stream: S;
  /** The rows of the read model once it has folded a position, and the sequence up to which that is so. */
  read(after: Position): Promise<{ rows: Row[]; seq: number }>;
  /** A row of the read model. Called at the beginning, and again after a failure. */
  known(row: Row): void;
  /** A fact after what was read. */
  seen(fact: Recorded<FactOf<S>>): void;
  /** One attempt at a piece of work; `tries` attempts have failed before. Must not throw. */
  handle(item: Item, tries: number): Promise<Verdict>;
}

const batch = 256;
const againMs = 1_000;
const stopBoundMs = 3_000;

/**
 * Tells its owner what a read model holds and then each later fact, for ever. A handler does the resulting
 * work, by key. A restart loses nothing that the read model knows, and no other memory is needed.
 */
export class ReadModelReactor<S extends StreamDefinition, Row, Item> {
  readonly #options: ReadModelReactorOptions<S, Row, Item>;
  readonly #stop = new AbortController();
  readonly #queue: KeyedQueue<Item>;
  #running: Promise<unknown> | undefined;

  constructor(options: ReadModelReactorOptions<S, Row, Item>) {
    this.#options = options;
    setMaxListeners(0, this.#stop.signal); // one for each key that waits
    this.#queue = new KeyedQueue({ stopping: this.#stop.signal, handle: options.handle });
  }

  /** Aborted by a stop. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  /** `beside` is work that ends with it. */
  start(beside?: Promise<unknown>): void {
    this.#running ??= Promise.all([this.#follow(), beside]);
  }

  /** Starts nothing more, and lets work under way finish. Bounded. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const ended = Promise.all([this.#running, this.#queue.atRest()]);
    await atMost(ended, stopBoundMs);
  }

  /** Adds work, after all other work of its key. */
  push(key: string, item: Item): void {
    this.#queue.push(key, item);
  }

  /** Tries the first work of a key now, if it waits for its next attempt. */
  hurry(key: string): void {
    this.#queue.hurry(key);
  }

  async #follow(): Promise<void> {
    const { log, logger, stream, read, known, seen } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const head = await log.head(stream);
        const { rows, seq } = await read({ stream: stream.name, seq: head });
        for (const row of rows) known(row);
        for await (const entries of log.follow(stream, { after: seq, batch, signal })) {
          for (const entry of entries) seen(decodeFact(stream, entry.data, entry));
        }
      } catch (error) {
        if (signal.aborted) return;
        const level = (error as { kind?: string }).kind === 'unavailable' ? 'debug' : 'warn';
        logger[level]({ stream: stream.name, err: error }, 'read model cannot be followed yet');
        await pause(againMs, signal);
      }
    }
  }
}
