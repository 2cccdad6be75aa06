import {
  assertCommitted,
  type Param,
  type Sql,
  storeError,
  type Tx,
  wireParam,
} from '../../../projections/core/sql.js';
import type { Planned, World } from '../world.js';
import { errorOf, type StoreClientEnd, type StoreLink, type StoreReply } from './wire.js';

/** Where a client connects to. */
export interface StoreServer {
  readonly world: World;
  /** Rejects with a system error, or one of the server's, if no connection can be made. */
  accept(client: StoreClientEnd): Promise<StoreLink>;
}

const poolSize = 10;
const connectTimeoutMs = 5_000;

/** The store as a process has it: a pool of connections that are made on demand. */
export class StoreClient implements Sql {
  readonly engine: Sql['engine'];
  readonly #server: StoreServer;
  readonly #idle: Connection[] = [];
  readonly #all = new Set<Connection>();
  readonly #waiting: ((connection: Connection | undefined) => void)[] = [];
  #connecting = 0;
  #losses = 0;
  #isClosed = false;

  constructor(server: StoreServer, engine: Sql['engine']) {
    this.#server = server;
    this.engine = engine;
  }

  get losses(): number {
    return this.#losses;
  }

  async query<R>(text: string, params?: readonly Param[]): Promise<R[]> {
    const connection = await this.#take();
    try {
      return (await connection.run(text, params)).rows as R[];
    } finally {
      this.#giveBack(connection);
    }
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const connection = await this.#take();
    try {
      return await inTransaction(connection, work);
    } catch (error) {
      // in the middle of something: the next one would be, too
      if ((error as { kind?: unknown }).kind === 'unavailable') connection.leave();
      throw error;
    } finally {
      this.#giveBack(connection);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const connection of [...this.#all]) {
      connection.leave();
      this.#all.delete(connection);
    }
    this.#idle.length = 0;
  }

  async #take(): Promise<Connection> {
    if (this.#isClosed) throw storeError(errorOf('Cannot use a pool after calling end on the pool'));
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#all.size + this.#connecting < poolSize) return await this.#connect();
    return (await this.#wait()) ?? (await this.#take());
  }

  async #connect(): Promise<Connection> {
    this.#connecting += 1;
    try {
      const connection = new Connection(() => {
        this.#losses += 1;
        this.#drop(connection);
      });
      await connection.open(this.#server);
      this.#all.add(connection);
      return connection;
    } catch (error) {
      this.#waiting.shift()?.(undefined);
      throw storeError(error);
    } finally {
      this.#connecting -= 1;
    }
  }

  #wait(): Promise<Connection | undefined> {
    return new Promise((resolve, reject) => {
      const got = (connection: Connection | undefined) => {
        late.cancelled = true;
        resolve(connection);
      };
      const late: Planned = this.#server.world.after(connectTimeoutMs, () => {
        this.#waiting.splice(this.#waiting.indexOf(got), 1);
        reject(storeError(errorOf('timeout exceeded when trying to connect')));
      });
      this.#waiting.push(got);
    });
  }

  #giveBack(connection: Connection): void {
    if (!connection.isUp) {
      this.#drop(connection);
      return;
    }
    const next = this.#waiting.shift();
    if (next) next(connection);
    else this.#idle.push(connection);
  }

  #drop(connection: Connection): void {
    if (!this.#all.delete(connection)) return;
    const place = this.#idle.indexOf(connection);
    if (place >= 0) this.#idle.splice(place, 1);
    this.#waiting.shift()?.(undefined);
  }
}

/** One connection: its requests are answered in order. */
class Connection implements StoreClientEnd {
  readonly #lost: () => void;
  readonly #asked: {
    resolve(reply: { rows: unknown[]; command: string }): void;
    reject(error: Error): void;
  }[] = [];
  #link: StoreLink | undefined;
  #error: Error | undefined;

  constructor(lost: () => void) {
    this.#lost = lost;
  }

  get isUp(): boolean {
    return this.#link !== undefined;
  }

  async open(server: StoreServer): Promise<void> {
    this.#link = await server.accept(this);
  }

  /** Throws as the product's own drivers do. */
  async run(text: string, params?: readonly Param[]): Promise<{ rows: unknown[]; command: string }> {
    const request = { text, params: params?.map(wireParam) };
    try {
      return await new Promise((resolve, reject) => {
        if (!this.#link) throw this.#error ?? errorOf('Client was closed and is not queryable');
        this.#asked.push({ resolve, reject });
        this.#link.ask(request);
      });
    } catch (error) {
      throw storeError(error);
    }
  }

  leave(): void {
    this.#link?.leave();
    this.#end(errorOf('Connection terminated'));
  }

  reply(reply: StoreReply): void {
    const asked = this.#asked.shift();
    if ('error' in reply) asked?.reject(reply.error);
    else asked?.resolve(reply);
  }

  broken(error: Error): void {
    this.#end(error);
    this.#lost();
  }

  #end(error: Error): void {
    this.#link = undefined;
    this.#error ??= error;
    for (const { reject } of this.#asked.splice(0)) reject(error);
  }
}

/** As the product's PostgreSQL driver: what follows is sent after the beginning, without waiting for it. */
async function inTransaction<T>(connection: Connection, work: (tx: Tx) => Promise<T>): Promise<T> {
  const begun = connection.run('begin');
  begun.catch(() => {});
  try {
    const result = await work({
      query: async <R>(text: string, params?: readonly Param[]) =>
        (await connection.run(text, params)).rows as R[],
    });
    await begun;
    assertCommitted((await connection.run('commit')).command);
    return result;
  } catch (error) {
    if ((error as { kind?: unknown }).kind !== 'unavailable')
      await connection.run('rollback').catch(() => {});
    throw error;
  }
}
