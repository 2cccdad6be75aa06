import type { Logger } from 'pino';
import type { Read } from '../../../projections/core/projection.js';
import { type OpenPayment, openPayments } from '../../../projections/payments/queries.js';
import type { Log, Recorded } from '../../../streams/core/index.js';
import {
  claimMs,
  type Fate,
  type Intended,
  type PaymentFact,
  payments,
} from '../../../streams/payments/index.js';
import { ReadModelReactor } from '../../core/read-model-reactor.js';
import { type LookPauses, type SoldChannel, UnresolvedPayment } from './unresolved.js';

/** What the worker works with. */
export interface ResolvePaymentsOptions {
  log: Log;
  /** The paid channels. */
  places: readonly SoldChannel[];
  /** The fate of a payment, without moving money; `undefined` if nobody can tell now. */
  fateOf(intended: Intended): Promise<Fate | undefined>;
  /** Reads the read model of payments. */
  read: Read;
  logger: Logger;
  /** How long it waits between two looks at a payment. */
  pauses?: LookPauses;
}

/** The first look comes after the longest wait of the settling request. */
const usual: LookPauses = { firstMs: 15_000, longestMs: 300_000, owedMs: 5_000 };

/**
 * Brings every payment with an intent to its end. It does so even if the settling process has died and the
 * payer never asks again. A paid one is granted. One that can no longer be paid is refused. All of it is
 * decided by the log, so it makes no difference whether the payer's own retry is faster.
 */
export class ResolvePayments {
  readonly #options: ResolvePaymentsOptions;
  readonly #unresolved = new Map<string, UnresolvedPayment>();
  readonly #reactor: ReadModelReactor<typeof payments, OpenPayment, UnresolvedPayment>;

  constructor(options: ResolvePaymentsOptions) {
    const { log, logger, read } = options;
    this.#options = options;
    this.#reactor = new ReadModelReactor({
      log,
      logger,
      stream: payments,
      read: (after) => {
        const since = new Date(log.now().getTime() - claimMs);
        return read((sql, schema) => openPayments(sql, schema, since), after);
      },
      known: (payment) => this.#begin(payment),
      seen: (fact) => this.#see(fact),
      handle: async (payment, tries) => {
        const verdict = await payment.look(tries);
        if (verdict.is === 'done' && this.#unresolved.get(payment.id) === payment)
          this.#unresolved.delete(payment.id);
        return verdict;
      },
    });
  }

  start(): void {
    this.#reactor.start();
  }

  /** Lets decisions under way finish. Bounded. */
  async stop(): Promise<void> {
    await this.#reactor.stop();
  }

  #see(fact: Recorded<PaymentFact>): void {
    if (fact.type === 'payment.intended')
      this.#begin({ intended: fact.data, intended_at: fact.at, paid_by: null });
    if (fact.type !== 'payment.granted' && fact.type !== 'payment.refused') return;
    const { payment } = fact.data;
    this.#unresolved.get(payment)?.end();
    this.#unresolved.delete(payment);
    this.#reactor.hurry(payment);
  }

  #begin(payment: OpenPayment): void {
    const id = payment.intended.payment;
    if (this.#unresolved.has(id)) return;
    const begun = new UnresolvedPayment(payment, { ...this.#options, pauses: this.#options.pauses ?? usual });
    this.#unresolved.set(id, begun);
    this.#reactor.push(id, begun);
  }
}

export type { SoldChannel } from './unresolved.js';
