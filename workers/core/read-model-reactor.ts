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

/** What is known by a read model and goes on by the facts behind it, and what is done about it. */
export interface ReadModelReactorOptions<S extends StreamDefinition, Row, Item> {
  log: Log;
  logger: Logger;
  stream: S;
  /** What the read model holds once it has folded a position, and up to which sequence that is so. */
  read(after: Position): Promise<{ rows: Row[]; seq: number }>;
  /** Something that it holds: told at the beginning, and again after a failure. */
  known(row: Row): void;
  /** A fact behind what was read. */
  seen(fact: Recorded<FactOf<S>>): void;
  /** One try at a piece of work; `tries` have failed before. Must not throw. */
  handle(item: Item, tries: number): Promise<Verdict>;
}

const batch = 256;
const againMs = 1_000;
const stopBoundMs = 3_000;

/**
 * Tells what a read model holds and then each fact behind it, for ever, and has a handler do what is to be done about
 * it, by key: a restart forgets nothing that the read model knows, and nothing has to be remembered on the way.
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

  /** Begins nothing any more, and lets what is under way come to its end. Bounded. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const ended = Promise.all([this.#running, this.#queue.atRest()]);
    await atMost(ended, stopBoundMs);
  }

  /** Something is to be done, behind whatever else is to be done under its key. */
  push(key: string, item: Item): void {
    this.#queue.push(key, item);
  }

  /** Has the first work of a key tried now, if it waits for its next try. */
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
