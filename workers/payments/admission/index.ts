import { setMaxListeners } from 'node:events';
import pTimeout from 'p-timeout';
import type { Logger } from 'pino';
import type { Sql } from '../../../projections/core/sql.js';
import { openSessions } from '../../../projections/payments/queries.js';
import type { Log, Position, Recorded } from '../../../streams/core/index.js';
import { type PaymentFact, payments } from '../../../streams/payments/index.js';
import type { Channels } from '../../channels/index.js';
import { followReadModel } from '../../core/follow-read-model.js';
import { type Door, openDoors } from './doors.js';
import { Sessions } from './sessions.js';

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

const stopBoundMs = 3_000;

/**
 * Brings those who have paid into their channels with a voice, and takes both from them when their time is over.
 * What is open is learned from the read model at each start and from the log from there on, so a restart forgets
 * nobody, and nothing has to be remembered on the way.
 */
export class AdmitPayers {
  readonly #options: AdmitPayersOptions;
  readonly #stop = new AbortController();
  readonly #sessions: Sessions;
  #running: Promise<unknown> | undefined;

  constructor(options: AdmitPayersOptions) {
    this.#options = options;
    setMaxListeners(0, this.#stop.signal);
    this.#sessions = new Sessions({ ...options, signal: this.#stop.signal });
  }

  start(): void {
    const { signal } = this.#stop;
    const { log, logger, read } = this.#options;
    const following = followReadModel({
      ...{ log, logger, signal, stream: payments },
      read: async (after) => {
        const { sessions: rows, seq } = await read(openSessions, after);
        return { rows, seq };
      },
      known: (session) => this.#sessions.begin(session),
      seen: (fact) => this.#see(fact),
    });
    this.#running = Promise.all([openDoors({ ...this.#options, signal }), following]);
  }

  /** Lets what is under way on the network come to its end. Bounded. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const ended = Promise.all([this.#running, this.#sessions.atRest()]);
    await pTimeout(ended, { milliseconds: stopBoundMs, message: false });
  }

  #see(fact: Recorded<PaymentFact>): void {
    if (fact.type === 'session.ended') this.#sessions.forget(fact.data.session_id);
    if (fact.type !== 'payment.granted') return;
    const { session_id, channel, nick, expires_at } = fact.data;
    this.#sessions.begin({ session_id, channel, nick, expires_at: new Date(expires_at) });
  }
}

export type { Door } from './doors.js';
export { admit } from './network.js';
