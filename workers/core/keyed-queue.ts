import { Sleeper } from '../../streams/core/index.js';

/** What came of one try at a piece of work, and when it is tried again. */
export type Verdict =
  | { is: 'done' }
  /** It was attempted and failed. */
  | { is: 'retry'; afterMs: number; reason?: string }
  /** Nothing was attempted, which is no strike. */
  | { is: 'wait'; afterMs: number; reason?: string };

/** The verdict of what needs nothing more. */
export const done: Verdict = { is: 'done' };

/** Who does the work of a queue. */
export interface KeyedWorker<Item> {
  stopping: AbortSignal;
  /** One try; `tries` have failed before. Must not throw. */
  handle(item: Item, tries: number): Promise<Verdict>;
}

const compactFrom = 32;

/** Work by key: that of one key in its order, one piece at a time until it is done; that of different keys side by side. */
export class KeyedQueue<Item> {
  readonly #worker: KeyedWorker<Item>;
  readonly #keys = new Map<string, KeyWork<Item>>();
  readonly #idle = (key: string) => this.#keys.delete(key);

  constructor(worker: KeyedWorker<Item>) {
    this.#worker = worker;
  }

  push(key: string, item: Item): void {
    let work = this.#keys.get(key);
    if (!work) {
      work = new KeyWork(key, this.#worker, this.#idle);
      this.#keys.set(key, work);
    }
    work.push(item);
  }

  /** Lets go of what is not wanted any more and is not being done now: its turn may be hours away. */
  prune(isWanted: (item: Item) => boolean): void {
    for (const work of this.#keys.values()) work.prune(isWanted);
  }

  /** Has the first of a key tried now, if it waits for its next try. */
  hurry(key: string): void {
    this.#keys.get(key)?.hurry();
  }

  /** Resolves when all has come to rest after a stop. */
  async atRest(): Promise<void> {
    await Promise.all([...this.#keys.values()].map((work) => work.rest));
  }
}

/** The work of one key. */
class KeyWork<Item> {
  readonly #key: string;
  readonly #worker: KeyedWorker<Item>;
  readonly #idle: (key: string) => void;
  #items: Item[] = [];
  /** Where the piece is that is being done. */
  #front = 0;
  #isRunning = false;
  readonly #sleeper = new Sleeper();
  /** Settles when its work has come to rest. */
  rest = Promise.resolve();

  constructor(key: string, worker: KeyedWorker<Item>, idle: (key: string) => void) {
    this.#key = key;
    this.#worker = worker;
    this.#idle = idle;
  }

  push(item: Item): void {
    this.#items.push(item);
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.rest = this.#run();
  }

  prune(isWanted: (item: Item) => boolean): void {
    const rest = this.#items.slice(this.#front);
    this.#items = rest.filter((item, place) => place === 0 || isWanted(item));
    this.#front = 0;
  }

  hurry(): void {
    this.#sleeper.wake();
  }

  async #run(): Promise<void> {
    const { stopping } = this.#worker;
    for (let tries = 0; this.#front < this.#items.length && !stopping.aborted; ) {
      const verdict = await this.#worker.handle(this.#items[this.#front]!, tries);
      if (verdict.is === 'done') {
        this.#advance();
        tries = 0;
        continue;
      }
      if (verdict.is === 'retry') tries += 1;
      if (verdict.afterMs > 0) await this.#sleeper.sleep(verdict.afterMs, stopping);
    }
    this.#isRunning = false;
    if (!stopping.aborted) this.#idle(this.#key);
  }

  #advance(): void {
    this.#front += 1;
    if (this.#front < this.#items.length && this.#front < Math.max(compactFrom, this.#items.length / 2))
      return;
    this.#items.splice(0, this.#front);
    this.#front = 0;
  }
}
