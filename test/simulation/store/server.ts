import { Mutex } from 'async-mutex';
import type { Sql } from '../../../projections/core/sql.js';
import type { Latency } from '../log/pipe.js';
import type { Random } from '../random.js';
import type { World } from '../world.js';
import { StoreClient, type StoreServer } from './client.js';
import { type Database, runningEngine } from './engine.js';
import { errorOf, type StoreClientEnd, StoreLink, type StoreReply, type StoreRequest } from './wire.js';

const usualLatency: Latency = { least: 0.1, most: 1.5 };
const noCost: Latency = { least: 0, most: 0 };
/** Like a server with asynchronous commits: how often it writes, and the longest delay, in milliseconds. */
const flushEveryMs = 200;
const flushedWithinMs = 600;

/** How a commit fails: before it is done, after it is done, or with an answer that says so. */
export type CommitFailure = 'lost before' | 'lost after' | 'refused';

/** Errors with which connections break, as systems and servers word them. */
export const breaks = {
  EPIPE: errorOf('write EPIPE', 'EPIPE'),
  ECONNRESET: errorOf('read ECONNRESET', 'ECONNRESET'),
  ended: errorOf('Connection terminated unexpectedly'),
  shutdown: errorOf('terminating connection due to administrator command', '57P01'),
  crash: errorOf('terminating connection because of crash of another server process', '57P02'),
} as const;

/** Errors with which a server that is up cannot do a statement: they say nothing about the statement. */
export const troubles = {
  diskFull: errorOf('could not extend file: No space left on device', '53100'),
  outOfMemory: errorOf('out of memory', '53200'),
  deadlock: errorOf('deadlock detected', '40P01'),
  serialization: errorOf('could not serialize access due to concurrent update', '40001'),
  lock: errorOf('canceling statement due to lock timeout', '55P03'),
  ioError: errorOf('could not read block 0: Input/output error', '58030'),
} as const;

const refused = errorOf('connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED');
const starting = errorOf('the database system is starting up', '57P03');

/** A connection as the server sees it. */
interface Session {
  link: StoreLink;
  requests: StoreRequest[];
  isServing: boolean;
  isGone: boolean;
  /** Gives the database to the next one, while this one has a transaction. */
  release: (() => void) | undefined;
  isFailed: boolean;
}

/**
 * A store server in simulated time with a real database. Several processes connect to it. One statement or
 * transaction runs at a time, and the others wait for it. It has one method for each fault.
 */
export class SimulatedStore implements StoreServer {
  readonly world: World;
  readonly #random: Random;
  readonly #database: Database;
  readonly #sessions = new Set<Session>();
  #lock = new Mutex();
  #latency = usualLatency;
  #cost = noCost;
  #isFrozen = false;
  #awayUntil = 0;
  #startedAt = 0;
  #flushedAt = 0;
  #committedAt = 0;
  #unflushed = 0;
  readonly #commitFailures: CommitFailure[] = [];
  #trouble: { error: Error; until: number; share: number } | undefined;
  /** Transactions that were committed. */
  commits = 0;

  private constructor(world: World, database: Database) {
    this.world = world;
    this.#random = world.random.fork();
    this.#database = database;
  }

  /** An empty store on the engine that runs. */
  static async open(world: World): Promise<SimulatedStore> {
    const database = await world.outside(runningEngine().open());
    return new SimulatedStore(world, database);
  }

  /** The store as one process has it. */
  connect(engine: Sql['engine'] = 'postgres'): Sql {
    return new StoreClient(this, engine);
  }

  /** Looks at what it has. This takes no time and meets no faults. */
  async look<R>(text: string): Promise<R[]> {
    return await this.#lock.runExclusive(async () => {
      this.#database.begin();
      try {
        return this.#database.run(text).rows as R[];
      } finally {
        this.#database.rollback();
      }
    });
  }

  // Faults

  /** Crashes, and is back after a while. The last commits, which nobody waited for, may be gone. */
  async crash(downMs: number, startMs = 0): Promise<void> {
    this.#end(downMs, startMs, breaks.crash);
    const isFlushed = this.world.now - this.#committedAt >= flushedWithinMs;
    this.world.tell('store', `crashed, ${isFlushed ? 0 : this.#unflushed} commits lost`);
    await this.#alone((database) => (isFlushed ? database.flush() : database.crash()));
    this.#unflushed = 0;
  }

  /** Stops properly, and is back after a while. */
  async restart(downMs: number, startMs = 0): Promise<void> {
    this.#end(downMs, startMs, breaks.shutdown);
    await this.#alone((database) => database.flush());
    this.#unflushed = 0;
  }

  /** Loses everything, like a damaged directory that was moved aside. */
  async loseAll(downMs: number): Promise<void> {
    this.#end(downMs, 0, breaks.ended);
    await this.#alone((database) => database.empty());
    this.#unflushed = 0;
  }

  /** Breaks connections; each end hears of it so many milliseconds later. */
  cut(share: number, error: Error, clientAfterMs = 0, serverAfterMs = 0): void {
    for (const { link } of [...this.#sessions])
      if (this.#random.chance(share)) link.cut(error, clientAfterMs, serverAfterMs);
  }

  /** The next commits fail, each in its way. */
  failCommits(failures: readonly CommitFailure[]): void {
    this.#commitFailures.push(...failures);
  }

  /** Some statements are refused for a while. */
  trouble(error: Error, share: number, ms: number): void {
    this.#trouble = { error, share, until: this.world.now + ms };
  }

  /** Reads and answers nothing, with all connections open, until `thaw`. */
  freeze(): void {
    this.#isFrozen = true;
    for (const { link } of this.#sessions) link.hold();
  }

  thaw(): void {
    this.#isFrozen = false;
    for (const { link } of this.#sessions) link.release();
  }

  /** Statements take this long from now on, while the others wait; no time by default. */
  slow(cost: Latency = noCost): void {
    this.#cost = cost;
  }

  /** Ends every fault that lasts. */
  heal(): void {
    this.#awayUntil = 0;
    this.#startedAt = 0;
    this.#commitFailures.length = 0;
    this.#trouble = undefined;
    this.thaw();
    this.slow();
  }

  // Connections

  async accept(client: StoreClientEnd): Promise<StoreLink> {
    await this.#pass(this.#draw(this.#latency) * 2);
    const { now } = this.world;
    if (now < this.#awayUntil) throw refused;
    if (now < this.#startedAt) throw starting;
    const session: Session = {
      link: new StoreLink(this.world, () => this.#latency, client, {
        request: (request) => {
          session.requests.push(request);
          void this.#serve(session);
        },
        gone: () => this.#gone(session),
      }),
      requests: [],
      isServing: false,
      isGone: false,
      release: undefined,
      isFailed: false,
    };
    this.#sessions.add(session);
    if (this.#isFrozen) session.link.hold();
    return session.link;
  }

  #end(downMs: number, startMs: number, error: Error): void {
    this.#awayUntil = this.world.now + downMs;
    this.#startedAt = this.#awayUntil + startMs;
    this.#isFrozen = false;
    for (const session of this.#sessions) {
      // its transaction is over with its server
      session.isGone = true;
      // before the next one in line looks: what it did was never committed
      if (session.release) this.#database.rollback();
      session.release?.();
      session.release = undefined;
      session.link.cut(error);
    }
    this.#sessions.clear();
    this.#lock = new Mutex();
  }

  #gone(session: Session): void {
    session.isGone = true;
    this.#sessions.delete(session);
    if (!session.isServing) this.#abandon(session);
  }

  #abandon(session: Session): void {
    const { release } = session;
    if (!release) return;
    session.release = undefined;
    this.#database.rollback();
    release();
  }

  async #serve(session: Session): Promise<void> {
    if (session.isServing) return;
    session.isServing = true;
    while (!session.isGone) {
      const request = session.requests.shift();
      if (!request) break;
      const reply = await this.#answer(session, request);
      if (reply && !session.isGone) session.link.answer(reply);
    }
    session.isServing = false;
    if (session.isGone) this.#abandon(session);
  }

  /** `undefined` if the session has ended meanwhile. */
  async #answer(session: Session, request: StoreRequest): Promise<StoreReply | undefined> {
    await this.#pass(this.#draw(this.#cost));
    if (session.isGone) return undefined;
    const { text } = request;
    if (text === 'commit' || text === 'rollback') return this.#finish(session, text);
    if (session.release) return this.#run(session, request);
    const release = await this.#lock.acquire();
    if (session.isGone) {
      release();
      return undefined;
    }
    session.release = release;
    session.isFailed = false;
    this.#flushInTime();
    this.#database.begin();
    if (text === 'begin') return { rows: [], command: 'BEGIN' };
    const reply = this.#run(session, request);
    const ended = this.#finish(session, 'commit');
    return ended && 'rows' in ended ? reply : ended;
  }

  #run(session: Session, { text, params }: StoreRequest): StoreReply {
    try {
      const trouble = this.#trouble;
      if (trouble && trouble.until > this.world.now && this.#random.chance(trouble.share)) {
        // the real thing: the transaction has failed
        try {
          this.#database.run('select 1 / 0');
        } catch {
          throw trouble.error;
        }
      }
      return this.#database.run(text, params);
    } catch (error) {
      session.isFailed = true;
      return { error: error as Error };
    }
  }

  #finish(session: Session, wanted: 'commit' | 'rollback'): StoreReply | undefined {
    const { release } = session;
    if (!release) return { rows: [], command: wanted.toUpperCase() };
    session.release = undefined;
    const failure = wanted === 'commit' && !session.isFailed ? this.#commitFailures.shift() : undefined;
    const isDone = wanted === 'commit' && !session.isFailed && (!failure || failure === 'lost after');
    if (isDone) this.#database.commit();
    else this.#database.rollback();
    if (isDone) {
      this.commits += 1;
      this.#unflushed += 1;
      this.#committedAt = this.world.now;
    }
    release();
    if (failure === 'refused') return { error: troubles.serialization };
    if (failure) {
      this.world.tell('store', `commit ${failure}`);
      session.link.cut(breaks.ECONNRESET);
      return undefined;
    }
    return { rows: [], command: isDone ? 'COMMIT' : 'ROLLBACK' };
  }

  /** What was committed long enough ago is on the disk by now. */
  #flushInTime(): void {
    const { now } = this.world;
    if (this.#unflushed === 0 || now - this.#flushedAt < flushEveryMs) return;
    this.#database.flush();
    this.#flushedAt = now;
    this.#unflushed = 0;
  }

  #alone(work: (database: Database) => void): Promise<void> {
    return this.#lock.runExclusive(() => work(this.#database));
  }

  #draw({ least, most }: Latency): number {
    return most === 0 ? 0 : least + this.#random.next() * (most - least);
  }

  async #pass(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => this.world.after(ms, resolve));
  }
}
