import type { StatementResult } from './pglite-requests.js';
import { assertCommitted, type Param, type Tx } from './sql.js';

/** Runs one statement on the connection. `check` gets the command that it turned out to be. */
export type RunStatement = <R>(
  text: string,
  params?: readonly Param[],
  check?: (command: StatementResult['command']) => void,
) => Promise<R[]>;

/** Transactions on one connection, one after the other: statements do not get into a transaction that they are no part of. */
export class TransactionQueue {
  /** Those who wait for the running transaction to end, in the order in which they came. */
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  /** `start` must send its first statement at once: the order of the connection keeps transactions apart. */
  enter(start: () => void): void {
    if (this.#isTaken || this.#waiting.length > 0) this.#waiting.push(start);
    else start();
  }

  /** Runs a statement of its own. */
  query<R>(run: () => Promise<R[]>): Promise<R[]> {
    return new Promise((resolve, reject) => {
      this.enter(() => void run().then(resolve, reject));
    });
  }

  /** Runs a transaction. `connect` gives the way to the connection when the turn has come. */
  async transaction<T>(connect: () => RunStatement, work: (tx: Tx) => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      this.enter(() => {
        this.#isTaken = true;
        resolve();
      });
    });
    const run = connect();
    const begun = run('begin');
    begun.catch(() => {}); // not awaited here: what follows is sent after it
    try {
      const result = await work({ query: (text, params) => run(text, params) });
      await begun;
      await run('commit', undefined, assertCommitted);
      return result;
    } catch (error) {
      await run('rollback').catch(() => {});
      throw error;
    } finally {
      this.#isTaken = false;
      while (!this.#isTaken && this.#waiting.length > 0) this.#waiting.shift()!();
    }
  }

  /** Resolves when no transaction runs. */
  async ended(): Promise<void> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.enter(resolve));
  }
}
