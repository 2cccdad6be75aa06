import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Sql } from '../../../projections/core/sql.js';
import { type OpenPayment, openPayments } from '../../../projections/payments/queries.js';
import { decodeFact, type Log, type Position } from '../../../streams/core/index.js';
import { claimMs, type Fate, type Intended, payments } from '../../../streams/payments/index.js';
import { Doubt, type Pauses, type SoldPlaces } from './doubt.js';

/** What the worker works with. */
export interface ResolvePaymentsOptions {
  log: Log;
  /** The paid channels. */
  places: readonly SoldPlaces[];
  /** Tells what became of a payment, without moving money; `undefined` when nobody can tell now. */
  fateOf(intended: Intended): Promise<Fate | undefined>;
  /** Runs a query on the read model of payments; `after` waits, within bounds, until it has folded that position. */
  read<T>(query: (sql: Sql, schema: string) => Promise<T>, after?: Position): Promise<T>;
  logger: Logger;
  /** How long it waits between two looks at a payment. */
  pauses?: Pauses;
}

const batch = 256;
const retryMs = 1_000;
const stopBoundMs = 3_000;
/** The first look is later than whoever settles may wait for an answer. */
const usual: Pauses = { firstMs: 15_000, longestMs: 300_000, owedMs: 5_000 };

/**
 * Sees every payment that was to be settled come to its end, also when whoever settled it has died and the payer never
 * asks again: what was paid is granted, what can no more be paid is refused. All of it is decided by the log, so it
 * makes no difference whether the payer's own retry is faster.
 */
export class ResolvePayments {
  readonly #options: ResolvePaymentsOptions;
  readonly #stop = new AbortController();
  readonly #doubts = new Map<string, Doubt>();
  readonly #running = new Set<Promise<void>>();
  #following: Promise<void> | undefined;

  constructor(options: ResolvePaymentsOptions) {
    this.#options = options;
    setMaxListeners(0, this.#stop.signal);
  }

  start(): void {
    this.#following ??= this.#follow();
  }

  /** Lets what is being decided come to its end. Bounded. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const doubt of this.#doubts.values()) doubt.end();
    const ended = Promise.all([this.#following, ...this.#running]);
    await Promise.race([ended, sleep(stopBoundMs, undefined, { ref: false })]);
  }

  async #follow(): Promise<void> {
    const { log, logger } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const { open, seq } = await this.#open();
        for (const payment of open) this.#doubt(payment);
        for await (const entries of log.follow(payments, { after: seq, batch, signal })) {
          for (const entry of entries) this.#see(decodeFact(payments, entry.data, entry));
        }
      } catch (error) {
        if (signal.aborted) return;
        const level = (error as { kind?: string }).kind === 'unavailable' ? 'debug' : 'warn';
        logger[level]({ err: error }, 'payments cannot be followed yet');
        await sleep(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #open(): Promise<{ open: OpenPayment[]; seq: number }> {
    const { log, read } = this.#options;
    const seq = await log.head(payments);
    const since = new Date(log.now().getTime() - claimMs);
    return await read((sql, schema) => openPayments(sql, schema, since), { stream: payments.name, seq });
  }

  #see(fact: ReturnType<typeof decodeFact<typeof payments>>): void {
    if (fact.type === 'payment.intended')
      this.#doubt({ intended: fact.data, intended_at: fact.at, paid_by: null });
    if (fact.type !== 'payment.granted' && fact.type !== 'payment.refused') return;
    this.#doubts.get(fact.data.payment)?.end();
    this.#doubts.delete(fact.data.payment);
  }

  #doubt(payment: OpenPayment): void {
    const id = payment.intended.payment;
    if (this.#doubts.has(id) || this.#stop.signal.aborted) return;
    const doubt = new Doubt(payment, { ...this.#options, pauses: this.#options.pauses ?? usual });
    this.#doubts.set(id, doubt);
    const running = doubt.resolve().catch((error: unknown) => {
      this.#options.logger.error({ payment: id, err: error }, 'payment cannot be resolved');
    });
    this.#running.add(running);
    void running.finally(() => {
      this.#running.delete(running);
      this.#doubts.delete(id);
    });
  }
}

export type { SoldPlaces } from './doubt.js';
