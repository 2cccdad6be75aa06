import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { type Log, newId, type Position, Refusal, Unavailable } from '../../streams/core/index.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold } from '../../streams/irc-grammar.js';
import {
  claimMs,
  type Fate,
  type Granted,
  type Holder,
  type Intended,
  isTooLate,
  liveSessionOf,
  notKnownMs,
  type PlacesCommand,
  type PlacesState,
  paymentSubject,
  payments,
  placesDecider,
  sessionOf,
  spent,
} from '../../streams/payments/index.js';
import type { Chain } from './chain.js';
import { type Facilitator, type Settled, saysUsed, unreachable } from './facilitator.js';
import { isEvm } from './networks.js';
import type { Resource } from './offers.js';
import { type PaidChannel, termsOf } from './paid-channel.js';
import type { Proof } from './proof.js';

/** Counts payments that are verified and not settled, by who presents them. */
export interface Unsettled {
  /**
   * Counts one that is about to be settled. Throws 429 `rate_limited` where there were too many. The answer takes the
   * count back.
   */
  take(payer: string, address: string | undefined): Promise<() => Promise<void>>;
}

/** What entering a paid channel works with. */
export interface AccessOptions {
  log: Log;
  facilitator: Facilitator;
  /** Looks at what became of authorizations; without it the facilitator is believed. */
  chain: Chain | undefined;
  unsettled: Unsettled;
  /** Whether moderation keeps a nick out of a channel (with `#`). Throws `irc_unavailable`. */
  isBanned(channel: string, nick: string): Promise<boolean>;
  /** Told up to where it has written, or found written. */
  wrote(position: Position): void;
  logger: Logger;
}

/** Somebody at the door of a paid channel, with a proof of payment. */
export interface Entering {
  channel: PaidChannel;
  nick: string;
  /** Who has the nick. Whoever presents a payment says that this is them. */
  holder: Holder;
  proof: Proof;
  resource: Resource;
  /** The IP address of the client; `undefined` if it is not known. */
  address: string | undefined;
}

/** What came of it. `isNew`: the session begins now. `refused`: a settlement was tried, and is not possible. */
export type Entered =
  | { is: 'granted'; session: Granted; isNew: boolean }
  | { is: 'invalid'; reason: string }
  | { is: 'refused'; reason: string; transaction: string };

/** What is known of an attempt to settle: also that the money had moved before. */
type Result = Settled | { is: 'paid'; transaction: string };

/** How long a place is kept for a payment, in milliseconds: longer than it takes to settle it. */
const reservedMs = 60_000;
const by = 'turnstile';
/** What facilitators call an authorization whose time is over. */
const expired = 'invalid_exact_evm_payload_authorization_valid_before';
/** What is told of a proof that differs from the one that was presented before. */
const notAsBefore = 'Present the payment exactly as before: this one has another signature';
/** Codes of what ends a try before the payment is on record, or without the payer's doing. */
const neverIntended = new Set<unknown>([
  ...['session_active', 'payment_in_progress', 'channel_full', 'payment_spent', 'facilitator_unreachable'],
]);

/**
 * Lets payers into paid channels: the payment is verified, a place kept, the intent recorded, the payment settled,
 * the session granted. Whatever dies in between, the same payment presented again goes on where it ended, and
 * never pays twice.
 */
export class Access {
  readonly #options: AccessOptions;
  /** Of payments, and of channels: whoever waits here need not fight over a subject. */
  readonly #locks = new KeyedLock();

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  /**
   * Throws `session_active` and `payment_in_progress` (409), `nick_banned` (403), `channel_full` (503), `payment_spent` (402),
   * `rate_limited` (429), and with 502 `facilitator_unreachable`, when nothing was paid, or `settlement_unknown`.
   */
  async enter(entering: Entering): Promise<Entered> {
    return await this.#locks.run(entering.proof.id, () => this.#enter(entering));
  }

  async #enter(entering: Entering): Promise<Entered> {
    const begun = await this.#intentOf(entering);
    // settled in place of the one that was signed, it would end it
    if (begun && !isSigned(begun, entering.proof)) return { is: 'invalid', reason: notAsBefore };
    const isBegun = begun !== undefined;
    const again = await this.#look(entering, isBegun);
    if (again) return { is: 'granted', session: again, isNew: false };
    if (isBegun) {
      await this.#reserve(entering, reservedMs);
      return await this.#finish(entering, await this.#resolve(entering));
    }
    // a proof that nobody has signed keeps no place, keeps no payment of the same nick out, and is on no record
    await this.#check(entering);
    // they would not be brought in
    if (await this.#options.isBanned(entering.channel.name, entering.nick)) throw new Refusal('nick_banned');
    const payer = await this.#verify(entering);
    if (typeof payer !== 'string') return payer;
    const giveBack = await this.#options.unsettled.take(payer, entering.address);
    const entered = await this.#settle(entering, payer).catch(async (error: unknown) => {
      if (neverIntended.has((error as { code?: unknown }).code)) await this.#uncount(giveBack);
      throw error;
    });
    if (entered.is === 'granted') await this.#uncount(giveBack);
    return entered;
  }

  /** Takes a payment back from those that did not settle. One that stays counted ends with the hour. */
  async #uncount(giveBack: () => Promise<void>): Promise<void> {
    await giveBack().catch((error: unknown) =>
      this.#options.logger.warn({ err: error }, 'payment stays counted as one that did not settle'),
    );
  }

  /** The first try to settle a payment that its payer has signed. */
  async #settle(entering: Entering, payer: string): Promise<Entered> {
    const { proof } = entering;
    await this.#reserve(entering, reservedMs);
    const intended = await this.#options.log.appendOnce(
      payments,
      paymentSubject(proof.id),
      { type: 'payment.intended', data: intentOf(entering, payer) },
      { by },
    );
    // another process was faster with the same payment, for the same nick or for another one
    if (!intended && !(await this.#intentOf(entering).catch((error) => this.#release(entering, error))))
      throw new Unavailable('log_unavailable', 'The event log does not show what it stores', 1);
    const settled = await this.#options.facilitator.settle(proof, entering.resource);
    if (!intended) return await this.#finish(entering, await this.#believe(entering, settled, undefined));
    if (settled.is === 'refused')
      return await this.#finish(entering, await this.#lookAgain(entering, settled));
    if (settled.is !== 'unknown') return await this.#finish(entering, settled);
    const fate = await this.#fateOf(proof);
    return await this.#finish(entering, fate?.is === 'paid' ? fate : settled);
  }

  /** What is on record of a payment that came as far as settling before. Throws when that was for something else. */
  async #intentOf(entering: Entering): Promise<Intended | undefined> {
    const { channel, nick, proof } = entering;
    const intent = await this.#options.log.last(payments, paymentSubject(proof.id));
    if (intent?.type !== 'payment.intended') return undefined;
    const { data, at } = intent;
    if (data.channel !== channel.name) throw spent();
    if (casefold(data.nick) !== casefold(nick) && !(await this.#isOf(entering))) throw spent();
    if (this.#options.log.now().getTime() - at.getTime() > claimMs) throw spent();
    return data;
  }

  /** Whether the session that this payment has bought has moved to this nick. */
  async #isOf({ channel, nick, proof }: Entering): Promise<boolean> {
    const state = await this.#decide({ is: 'look', channel: channel.name });
    const session = liveSessionOf(state, proof.id, this.#options.log.now());
    return session !== undefined && casefold(session.nick) === casefold(nick);
  }

  /** The session that this payment has bought already; throws when that is over, or the payment was refused. */
  async #look({ channel, proof, holder }: Entering, isBegun: boolean): Promise<Granted | undefined> {
    if (!isBegun) return undefined;
    // somebody who comes from another host now takes the place over
    const state = await this.#decide({ is: 'claim', channel: channel.name, payment: proof.id, holder });
    const outcome = state.outcomes.get(proof.id);
    if (!outcome) return undefined;
    const session = liveSessionOf(state, proof.id, this.#options.log.now());
    if (!session) throw spent(outcome.is === 'refused' ? outcome.what : undefined);
    return session;
  }

  async #reserve({ channel, nick, proof }: Entering, forMs: number): Promise<void> {
    const { name, maxSlots } = channel;
    await this.#decide({ is: 'reserve', channel: name, payment: proof.id, nick, maxSlots, forMs });
  }

  /** Throws what keeping a place would. */
  async #check({ channel, nick, proof }: Entering): Promise<void> {
    const { name, maxSlots } = channel;
    await this.#decide({ is: 'check', channel: name, payment: proof.id, nick, maxSlots });
  }

  /** Gives the place back, and throws the error that was the reason. */
  async #release({ channel, proof }: Entering, error: unknown): Promise<never> {
    const reason = String((error as { code?: unknown }).code ?? 'failed');
    await this.#decide({ is: 'release', channel: channel.name, payment: proof.id, reason });
    throw error;
  }

  /** The payer, or why the payment is not valid. */
  async #verify(entering: Entering): Promise<string | (Entered & { is: 'invalid' })> {
    const { proof, resource } = entering;
    // no chain takes it any more, and nobody need be asked
    if (isExpired(proof, this.#options.log.now())) return { is: 'invalid', reason: expired };
    const verified = await this.#options.facilitator.verify(proof, resource);
    if (verified.is === 'valid') return proof.payer || verified.payer;
    return { is: 'invalid', reason: verified.reason };
  }

  /** What became of a payment that was about to be settled when everything ended. Settling it again moves no money twice. */
  async #resolve(entering: Entering): Promise<Result> {
    const { proof, resource } = entering;
    const before = await this.#fateOf(proof);
    if (before?.is === 'paid') return before;
    if (before?.is === 'void') return { is: 'refused', reason: 'authorization_void', transaction: '' };
    const settled = await this.#options.facilitator.settle(proof, resource);
    return await this.#believe(entering, settled, before);
  }

  /** What an answer says of a payment that somebody may have settled before. */
  async #believe(entering: Entering, settled: Settled, before: Fate | undefined): Promise<Result> {
    if (settled.is === 'settled') return settled;
    const fate = await this.#fateOf(entering.proof);
    if (fate?.is === 'paid') return fate;
    const reason = settled.is === 'refused' ? settled.reason : settled.error;
    if (fate?.is === 'void') return { is: 'refused', reason, transaction: '' };
    // a chain that does not show it yet will: what was called back is used as well
    if (settled.is === 'refused' && saysUsed(reason))
      return fate ? { is: 'unknown', error: reason } : { is: 'paid', transaction: '' };
    // what was sent before can come until the time of the authorization is over
    const isOver = fate?.is === 'unused' && isTooLate(fate, entering.proof.validBefore);
    if (settled.is === 'refused' && before?.is === 'unused' && isOver)
      return await this.#lookAgain(entering, settled);
    return { is: 'unknown', error: reason };
  }

  /**
   * A refusal may come because somebody else has settled the same payment at the same time: then it is paid. Or its
   * payer has called the authorization back meanwhile: then it buys nothing. Both are used, for a facilitator.
   */
  async #lookAgain(entering: Entering, refused: Settled & { is: 'refused' }): Promise<Result> {
    const { proof, resource } = entering;
    const fate = await this.#fateOf(proof);
    if (fate?.is === 'paid') return fate;
    if (fate?.is === 'void') return refused;
    if (saysUsed(refused.reason)) return await this.#believe(entering, refused, undefined);
    const verified = await this.#options.facilitator.verify(proof, resource).catch(() => undefined);
    if (!verified) return { is: 'unknown', error: refused.reason };
    if (verified.is === 'valid' || !saysUsed(verified.reason)) return refused;
    return await this.#believe(entering, { ...refused, reason: verified.reason }, undefined);
  }

  async #finish(entering: Entering, result: Result): Promise<Entered> {
    const { channel, nick, proof } = entering;
    const about = { channel: channel.name, nick, payment: proof.id };
    const { logger } = this.#options;
    switch (result.is) {
      case 'settled':
      case 'paid': {
        const session = await this.#grant(entering, result.transaction);
        logger.info({ ...about, session: session.session_id, tx: result.transaction }, 'payment granted');
        return { is: 'granted', session, isNew: true };
      }
      case 'refused': {
        const { reason, transaction } = result;
        const refuse = { is: 'refuse' as const, channel: channel.name, payment: proof.id, nick, reason };
        const session = liveSessionOf(await this.#decide(refuse), proof.id, this.#options.log.now());
        // somebody else was faster, and knew better
        if (session) return { is: 'granted', session, isNew: false };
        logger.info({ ...about, reason }, 'payment refused');
        return { is: 'refused', reason, transaction };
      }
      case 'unsent':
        return await this.#release(entering, unreachable());
      case 'unknown':
        logger.warn({ ...about, error: result.error }, 'settlement of a payment not known');
        // the place is theirs if it turns out to be paid; when it cannot be kept, the payment is not lost
        await this.#reserve(entering, notKnownMs).catch(() => undefined);
        throw new Refusal('settlement_unknown');
    }
  }

  async #grant(entering: Entering, transaction: string): Promise<Granted> {
    const { channel, holder, proof } = entering;
    const { name, maxSlots } = channel;
    const intent = await this.#options.log.last(payments, paymentSubject(proof.id));
    const intended = intent?.type === 'payment.intended' ? intent.data : intentOf(entering, proof.payer);
    const session = { ...sessionOf(intended, newId(), transaction, termsOf(channel)), holder };
    const state = await this.#decide({ is: 'grant', channel: name, maxSlots, session });
    const granted = liveSessionOf(state, proof.id, this.#options.log.now());
    // somebody else was faster with the same payment, and that session is over by now
    if (!granted) throw spent();
    return granted;
  }

  async #fateOf({ nonce, payer, offer }: Proof): Promise<Fate | undefined> {
    if (nonce === null) return undefined;
    const { network, asset, payTo, amount } = offer.requirement;
    return await this.#options.chain?.fateOf({ network, asset, payer, nonce, payTo, amount });
  }

  async #decide(command: PlacesCommand): Promise<Readonly<PlacesState>> {
    const { log, wrote } = this.#options;
    const { state, position } = await this.#locks.run(command.channel, () =>
      log.handle(payments, placesDecider, command, { by }),
    );
    wrote(position);
    return state;
  }
}

/** Whether the time of an authorization is over: at its end already, as contracts have it. */
function isExpired({ validBefore }: Proof, now: Date): boolean {
  return validBefore !== null && now.getTime() >= validBefore * 1_000;
}

/** Whether a proof is the one that is on record, in any case of its letters. Elsewhere than on EVM none is. */
function isSigned({ proof: recorded }: Intended, { payload }: Proof): boolean {
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value).toLowerCase());
  return recorded === null || isDeepStrictEqual(plain(recorded.payload), plain(payload));
}

function intentOf({ channel, nick, holder, proof }: Entering, payer: string): Intended {
  const { id: payment, offer, nonce, validBefore, version, payload } = proof;
  const { network, asset, payTo, amount } = offer.requirement;
  return {
    payment,
    channel: channel.name,
    nick,
    payer,
    network,
    asset,
    pay_to: payTo,
    amount,
    nonce,
    valid_before: validBefore,
    terms: termsOf(channel),
    // elsewhere nobody can be asked with it
    proof: isEvm(network) ? { version, payload } : null,
    holder,
  };
}
