import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Sql } from '../../../projections/core/sql.js';
import { type OpenSession, openSessions } from '../../../projections/payments/queries.js';
import { decodeFact, type Log, type Position } from '../../../streams/core/index.js';
import { payments } from '../../../streams/payments/index.js';
import type { Channels } from '../../channels/index.js';
import { type Door, furnishDoors } from './doors.js';
import { Stays } from './stays.js';

/** What the worker works with. */
export interface AdmitPayersOptions {
  log: Log;
  channels: Channels;
  /** The paid channels, which are to be there. */
  doors: readonly Door[];
  /** Runs a query on the read model of paid sessions; `after` waits, within bounds, until it has folded that position. */
  read<T>(query: (sql: Sql, schema: string) => Promise<T>, after?: Position): Promise<T>;
  logger: Logger;
}

const batch = 256;
const retryMs = 1_000;
const stopBoundMs = 3_000;

/**
 * Brings those who have paid into their channels with a voice, and takes both from them when their time is over.
 * What is open is learned from the read model at each start and from the log from there on, so a restart forgets
 * nobody, and nothing has to be remembered on the way.
 */
export class AdmitPayers {
  readonly #options: AdmitPayersOptions;
  readonly #stop = new AbortController();
  readonly #stays: Stays;
  #running: Promise<unknown> | undefined;

  constructor(options: AdmitPayersOptions) {
    this.#options = options;
    setMaxListeners(0, this.#stop.signal);
    this.#stays = new Stays({ ...options, signal: this.#stop.signal });
  }

  start(): void {
    const { signal } = this.#stop;
    this.#running = Promise.all([furnishDoors({ ...this.#options, signal }), this.#follow()]);
  }

  /** Lets what is under way on the network come to its end. Bounded. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const ended = Promise.all([this.#running, this.#stays.ended()]);
    await Promise.race([ended, sleep(stopBoundMs, undefined, { ref: false })]);
  }

  async #follow(): Promise<void> {
    const { log, logger } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const { sessions, seq } = await this.#open();
        for (const session of sessions) this.#stays.begin(session);
        for await (const entries of log.follow(payments, { after: seq, batch, signal })) {
          for (const entry of entries) this.#see(decodeFact(payments, entry.data, entry));
        }
      } catch (error) {
        if (signal.aborted) return;
        const level = (error as { kind?: string }).kind === 'unavailable' ? 'debug' : 'warn';
        logger[level]({ err: error }, 'paid sessions cannot be followed yet');
        await sleep(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #open(): Promise<{ sessions: OpenSession[]; seq: number }> {
    const { log, read } = this.#options;
    const seq = await log.head(payments);
    return await read(openSessions, { stream: payments.name, seq });
  }

  #see(fact: ReturnType<typeof decodeFact<typeof payments>>): void {
    if (fact.type === 'session.ended') this.#stays.forget(fact.data.session_id);
    if (fact.type !== 'payment.granted') return;
    const { session_id, channel, nick, expires_at } = fact.data;
    this.#stays.begin({ session_id, channel, nick, expires_at: new Date(expires_at) });
  }
}

export type { Door } from './doors.js';
export { admit } from './network.js';
