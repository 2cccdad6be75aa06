import type { Logger } from 'pino';
import type { OpenPayment } from '../../../projections/payments/queries.js';
import { backoff, type Log, newId } from '../../../streams/core/index.js';
import {
  claimMs,
  type Fate,
  type Intended,
  isTooLate,
  keepUntil,
  payments,
  placesDecider,
  sessionOf,
  type Terms,
} from '../../../streams/payments/index.js';
import { done, type Verdict } from '../../core/keyed-queue.js';

/** A paid channel, with `#`, its places, and its present terms. */
export interface SoldChannel {
  name: string;
  maxSlots: number;
  terms: Terms;
}

/** Pauses between two looks at a payment, in milliseconds; `owedMs` if only a place is missing. */
export interface LookPauses {
  firstMs: number;
  longestMs: number;
  owedMs: number;
}

/** What payments are resolved with. */
export interface ResolvingOptions {
  log: Log;
  places: readonly SoldChannel[];
  fateOf(intended: Intended): Promise<Fate | undefined>;
  logger: Logger;
  pauses: LookPauses;
}

const actor = 'resolve-payments';

/** A payment with an intent, until its fate is known. */
export class UnresolvedPayment {
  readonly #options: ResolvingOptions;
  readonly #payment: OpenPayment;
  #isOver = false;
  /** The transaction that settled it, once that is known. */
  #paidBy: string | undefined;

  constructor(payment: OpenPayment, options: ResolvingOptions) {
    this.#options = options;
    this.#payment = payment;
    this.#paidBy = payment.paid_by ?? undefined;
  }

  get id(): string {
    return this.#payment.intended.payment;
  }

  /** It has come to its end, by whoever ended it. */
  end(): void {
    this.#isOver = true;
  }

  /**
   * Checks whether it can be granted or refused. Repeats after a while, until nobody can claim it any more.
   */
  async look(tries: number): Promise<Verdict> {
    const { pauses, log, logger } = this.#options;
    const { intended_at } = this.#payment;
    if (this.#isOver) return done;
    const age = () => log.now().getTime() - intended_at.getTime();
    const early = pauses.firstMs - age();
    if (tries === 0 && early > 0) return { is: 'wait', afterMs: early };
    try {
      if (await this.#decide()) return done;
    } catch (error) {
      logger.debug({ payment: this.id, err: error }, 'payment not resolved yet');
    }
    if (this.#isOver) return done;
    if (this.#paidBy !== undefined) return { is: 'retry', afterMs: pauses.owedMs };
    if (age() > claimMs) {
      logger.warn(this.#about(), 'payment was never known to be settled or not');
      return done;
    }
    const { firstMs: first, longestMs: longest } = pauses;
    return { is: 'retry', afterMs: backoff(tries + 1, { first, longest }) };
  }

  /** Whether the payment has come to its end. Throws what keeps it from being decided. */
  async #decide(): Promise<boolean> {
    const { log, fateOf } = this.#options;
    const { intended, intended_at } = this.#payment;
    const { channel, payment, valid_before } = intended;
    if (this.#paidBy === undefined) {
      const fate = await fateOf(intended);
      if (fate?.is === 'paid') this.#paidBy = fate.transaction;
      if (fate?.is === 'void') return await this.#refuse('authorization_void');
      if (fate?.is === 'unused' && isTooLate(fate, valid_before))
        return await this.#refuse('authorization_expired');
    }
    if (this.#paidBy !== undefined) return await this.#grant(this.#paidBy);
    const until = keepUntil(intended_at);
    await log.handle(payments, placesDecider, { is: 'keep', channel, payment, until }, { by: actor });
    return false;
  }

  async #grant(transaction: string): Promise<boolean> {
    const { log, logger, places } = this.#options;
    const { intended } = this.#payment;
    const { channel } = intended;
    const sold = places.find(({ name }) => name === channel);
    // nobody can be brought into a channel that is no longer ours
    if (!sold) return await this.#owe(transaction, 'channel_not_sold');
    const session = sessionOf(intended, newId(), transaction, sold.terms);
    try {
      const command = { is: 'grant' as const, channel, maxSlots: sold.maxSlots, session };
      await log.handle(payments, placesDecider, command, { by: actor });
    } catch (error) {
      const { code, kind } = error as { code?: string; kind?: string };
      if (kind !== 'refusal' || code === undefined) throw error;
      // refused by somebody else in the meantime
      if (code === 'payment_spent') return true;
      return await this.#owe(transaction, code);
    }
    logger.info({ ...this.#about(), tx: transaction }, 'payment granted that nobody asked for again');
    return true;
  }

  async #owe(tx_hash: string, reason: string): Promise<false> {
    const { log, logger } = this.#options;
    const { channel, payment, nick } = this.#payment.intended;
    const command = { is: 'owe' as const, channel, payment, nick, tx_hash, reason };
    const { fact } = await log.handle(payments, placesDecider, command, { by: actor });
    if (fact)
      logger.warn({ ...this.#about(), reason, tx: tx_hash }, 'payment is settled and its session is owed');
    return false;
  }

  async #refuse(reason: string): Promise<true> {
    const { log, logger } = this.#options;
    const { channel, payment, nick } = this.#payment.intended;
    await log.handle(
      payments,
      placesDecider,
      { is: 'refuse', channel, payment, nick, reason },
      { by: actor },
    );
    logger.info({ ...this.#about(), reason }, 'payment refused that nobody asked for again');
    return true;
  }

  #about() {
    const { payment, channel, nick } = this.#payment.intended;
    return { payment, channel, nick };
  }
}
