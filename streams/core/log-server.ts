import type { JetStreamManager, NatsConnection } from 'nats';
import type { Logger } from 'pino';
import { atMost, clock, pause, type Timer } from './clock.js';
import { EndOfTurn } from './end-of-turn.js';
import { Unavailable } from './errors.js';
import { Pull, type PullOptions } from './pull.js';

/** How long a request waits for a connection that was lost, in milliseconds. */
const reconnectBoundMs = 2_000;
const drainBoundMs = 2_000;
const measureEveryMs = 60_000;

/** The connection to the log server: whether it can be reached, what time it has, and how it is asked. */
export class LogServer {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  /** When what goes to the server is sent. */
  readonly endOfTurn = new EndOfTurn();
  readonly #logger: Logger;
  readonly #lost: (reason: string) => void;
  readonly #pulls = new Set<Pull>();
  readonly #asked = new Set<(error: Error) => void>();
  /** Wakes those who wait for the connection to come back. */
  readonly #waiting = new Set<() => void>();
  #connected = true;
  #closed = false;
  /** What this machine's clock showed when durations began to be measured, as if nobody had set it since. */
  readonly #beganAt = clock.now() - clock.elapsed();
  #clockOffsetMs = 0;
  #measuring: Timer | undefined;
  /** The stream that the clock is learned from. */
  #clockOf: string | undefined;

  /** `lost` is called with each loss of the connection. */
  constructor(
    connection: NatsConnection,
    manager: JetStreamManager,
    options: { logger: Logger; lost(reason: string): void },
  ) {
    this.connection = connection;
    this.manager = manager;
    this.#logger = options.logger;
    this.#lost = options.lost;
    void this.#watchConnection();
  }

  get connected(): boolean {
    return this.#connected;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The time by the server's clock. */
  now(): Date {
    return new Date(this.#steadyNow() + this.#clockOffsetMs);
  }

  /**
   * One request. Waits a little for a connection that was lost, but not for an answer on it: that one can no
   * longer come.
   */
  async ask<T>(request: () => Promise<T>): Promise<T> {
    if (!this.#connected) await this.#reconnected();
    // what is being closed takes no more, and its driver has an error of its own for that
    if (this.#closed) throw notConnected();
    return await new Promise<T>((resolve, reject) => {
      this.#asked.add(reject);
      request()
        .then(resolve, reject)
        .finally(() => this.#asked.delete(reject));
    });
  }

  /** Resolves when the connection is back; rejects when that takes too long, or when it is given up. */
  async #reconnected(): Promise<void> {
    const deadline = clock.elapsed() + reconnectBoundMs;
    for (let left = reconnectBoundMs; !this.#connected; left = deadline - clock.elapsed()) {
      if (this.#closed || left <= 0) throw notConnected();
      let wake = () => {};
      const waited = pause(left, undefined, (end) => {
        wake = end;
      });
      this.#waiting.add(wake);
      await waited;
      this.#waiting.delete(wake);
    }
  }

  /** Reads a new consumer; broken at once when the connection is lost, without waiting for missing heartbeats. */
  pull(options: PullOptions, importedUpTo: number | undefined): Pull {
    for (const pull of this.#pulls) if (pull.ended) this.#pulls.delete(pull);
    const pull = new Pull(this.connection, options, importedUpTo);
    this.#pulls.add(pull);
    return pull;
  }

  /** Sends what is buffered and closes the connection. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const wake of this.#waiting) wake();
    clock.clearInterval(this.#measuring);
    if (this.connection.isClosed()) return;
    // draining waits for the server, which may be the reason why we stop
    const drained = this.connection.drain().catch(() => {});
    await atMost(drained, drainBoundMs);
    await this.connection.close();
  }

  /** Learns the server's clock from what it says about a stream, and again each minute: it may be set meanwhile. */
  async measureClock(stream: string): Promise<void> {
    this.#clockOf = stream;
    this.#measuring ??= clock.setInterval(() => {
      if (this.#connected) this.measureClock(stream).catch(() => {});
    }, measureEveryMs);
    this.#measuring.unref();
    const before = this.#steadyNow();
    const info = (await this.manager.streams.info(stream)) as { ts?: string };
    if (!info.ts) return;
    const after = this.#steadyNow();
    // it was written somewhere between: an answer that took long tells little, and changes no more than it has to
    const told = Date.parse(info.ts);
    const [least, most] = [told - after, told - before];
    this.#clockOffsetMs = Math.round(Math.min(most, Math.max(least, this.#clockOffsetMs)));
  }

  /** This machine's clock in milliseconds, as it would be if nobody had set it meanwhile. */
  #steadyNow(): number {
    return this.#beganAt + clock.elapsed();
  }

  async #watchConnection(): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === 'disconnect') {
        this.#connected = false;
        this.#lost('the connection was lost');
        for (const reject of this.#asked) reject(notConnected());
        for (const pull of this.#pulls) pull.fail('the connection was lost');
        this.#logger.warn('log connection lost');
      } else if (status.type === 'reconnect') {
        this.#connected = true;
        for (const wake of this.#waiting) wake();
        this.#logger.info('log connection is back');
        if (this.#clockOf) this.measureClock(this.#clockOf).catch(() => {});
      }
    }
  }
}

/** The error of everything that needs the log while it is not there. */
export function notConnected(): Unavailable {
  return new Unavailable('log_unavailable', 'The event log is not connected');
}
