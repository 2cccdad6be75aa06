import type { Logger } from 'pino';
import type { Read } from '../../../projections/core/projection.js';
import { type OpenSession, openSessions } from '../../../projections/payments/queries.js';
import { backoff, type Log, type Pauses, type Recorded } from '../../../streams/core/index.js';
import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { type PaymentFact, payments, placesDecider } from '../../../streams/payments/index.js';
import type { Channels } from '../../channels/index.js';
import { done, type Verdict } from '../../core/keyed-queue.js';
import { ReadModelReactor } from '../../core/read-model-reactor.js';
import { actor, admit, type Membership, remove } from './membership.js';
import { openPaidChannels, type PaidRoom } from './paid-rooms.js';
import { followRenames, type Renamed } from './renamed.js';
import { refusedPauses, sweep } from './sweep.js';

/** What the worker works with. */
export interface AdmitPayersOptions {
  log: Log;
  channels: Channels;
  /** The paid channels that should exist. */
  rooms: readonly PaidRoom[];
  /** Whether a nick is reserved for a bot or a service, or could be taken for one: no place moves to it. */
  isKept(nick: string): boolean;
  /** Reads the read model of paid sessions. */
  read: Read;
  /** The same; throws `read_model_behind` where the read model has not folded the position. */
  readAt: Read;
  logger: Logger;
  /** How long it waits after each refusal of the network to remove somebody. */
  pauses?: Pauses;
}

interface Session extends OpenSession {
  isAdmitted: boolean;
}

/**
 * Pause between two attempts to bring in somebody who is away, or to do what the network did not, in
 * milliseconds.
 */
const againMs = 2_000;
/** So often the network may refuse to remove somebody whose time is over. Then the session ends without that. */
const mostRefused = 8;

/**
 * Brings those who have paid into their channels with voice, and removes them when their time is over. A
 * session lasts from the grant to the end of its time, or until a fact says that it ended. Everybody else in
 * there is removed: a payment seats only the nick that it was made for, and only the person who had that nick.
 */
export class AdmitPayers {
  readonly #options: AdmitPayersOptions;
  readonly #open = new Map<string, Session>();
  readonly #reactor: ReadModelReactor<typeof payments, OpenSession, Session>;
  /** One thing at a time for each nick in a channel: a new session may follow an old one at once. */
  readonly #locks = new KeyedLock();

  constructor(options: AdmitPayersOptions) {
    const { log, logger, read } = options;
    this.#options = options;
    this.#reactor = new ReadModelReactor({
      log,
      logger,
      stream: payments,
      read: (after) => read(openSessions, after),
      known: (session) => this.#begin(session),
      seen: (fact) => this.#see(fact),
      handle: (session, tries) => this.#handle(session, tries),
    });
  }

  start(): void {
    const { readAt } = this.#options;
    const beside = { ...this.#options, signal: this.#reactor.stopping };
    const removeAlone = (of: Membership, reason: string) =>
      this.#alone(of, () => remove(this.#options.channels, of, reason));
    const isSeated = (of: Membership) => this.#isSeated(of);
    const renamed = (who: Renamed) => this.#move(who);
    this.#reactor.start(
      Promise.all([
        ...[openPaidChannels(beside), sweep({ ...beside, read: readAt, remove: removeAlone, isSeated })],
        followRenames({ ...beside, renamed }),
      ]),
    );
  }

  /** Lets work under way on the network finish. Bounded. */
  async stop(): Promise<void> {
    await this.#reactor.stop();
  }

  #see(fact: Recorded<PaymentFact>): void {
    if (fact.type === 'session.ended') {
      const { session_id } = fact.data;
      this.#open.delete(session_id);
      this.#reactor.hurry(session_id);
    }
    if (fact.type === 'session.moved') {
      const session = this.#open.get(fact.data.session_id);
      if (!session) return;
      session.nick = fact.data.nick;
      session.isAdmitted = false;
      this.#reactor.hurry(session.session_id);
    }
    if (fact.type === 'session.claimed') {
      const session = this.#open.get(fact.data.session_id);
      if (!session) return;
      session.holder = fact.data.holder;
      session.isAdmitted = false;
      this.#reactor.hurry(session.session_id);
    }
    if (fact.type !== 'payment.granted') return;
    const { session_id, channel, nick, expires_at, holder } = fact.data;
    this.#begin({ session_id, channel, nick, holder, expires_at: new Date(expires_at) });
  }

  /** Begins a session; a known one continues. */
  #begin(session: OpenSession): void {
    const { session_id } = session;
    if (this.#open.has(session_id)) return;
    const begun = { ...session, isAdmitted: false };
    this.#open.set(session_id, begun);
    this.#reactor.push(session_id, begun);
  }

  async #handle(session: Session, tries: number): Promise<Verdict> {
    const isOpen = () => this.#open.get(session.session_id) === session;
    const verdict = isOpen() ? await this.#advance(session, tries) : done;
    return isOpen() ? verdict : done;
  }

  async #advance(session: Session, tries: number): Promise<Verdict> {
    const left = this.#left(session);
    if (left <= 0) return await this.#end(session, tries);
    if (session.isAdmitted) return { is: 'wait', afterMs: left };
    return await this.#admit(session);
  }

  /** Brings somebody in. Tried until the time is over, because somebody who comes late has still paid. */
  async #admit(session: Session): Promise<Verdict> {
    const { channels, logger } = this.#options;
    const came = await this.#alone(session, () => admit(channels, session)).catch(
      (error: Error) => error.message,
    );
    session.isAdmitted = came === 'done';
    if (session.isAdmitted) logger.info(about(session), 'payer admitted');
    else logger.debug({ ...about(session), why: came }, 'payer is not admitted yet');
    const left = Math.max(0, this.#left(session));
    return { is: 'wait', afterMs: session.isAdmitted ? left : Math.min(againMs, left) };
  }

  /**
   * Somebody with a place who takes another nick keeps the place under that nick. The next holder of the old
   * nick has none. A nick that somebody else registered gets none either.
   * Nor does one like that of a bot or a service.
   */
  async #move({ channel: seen, from, to, at }: Renamed): Promise<void> {
    const { log, logger, channels, rooms, isKept } = this.#options;
    const channel = rooms.find(({ name }) => casefold(name) === casefold(seen))?.name;
    if (channel === undefined || isKept(to) || !this.#isSeated({ channel, nick: from })) return;
    try {
      const came = await this.#alone({ channel, nick: to }, () => admit(channels, { channel, nick: to }));
      if (came === 'absent') return;
      const move = { is: 'move' as const, channel, from, nick: to, at };
      const { fact } = await log.handle(payments, placesDecider, move, { by: actor });
      if (fact) logger.info({ channel, from, nick: to }, 'place of a payer moved with them');
    } catch (error) {
      logger.warn({ channel, from, nick: to, err: error }, 'place of a payer cannot move with them');
    }
  }

  /**
   * Removes somebody whose time is over, and records the end. If the network refuses to remove them, it is tried a
   * few times, less and less often. Then the end is still recorded, and the sweep goes on.
   */
  async #end(session: Session, tries: number): Promise<Verdict> {
    const { log, logger, pauses = refusedPauses } = this.#options;
    const { channel, session_id } = session;
    try {
      const refused = await this.#remove(session);
      if (refused && tries + 1 < mostRefused) throw refused;
      if (refused) {
        const failed = { ...about(session), error: refused.message, tries: tries + 1 };
        logger.error(
          failed,
          'paid session ends, but the network refuses to remove the nick: remove it by hand',
        );
      }
      await log.handle(payments, placesDecider, { is: 'end', channel, session_id }, { by: actor });
    } catch (error) {
      const { kind, message: reason } = error as Error & { kind?: string };
      if (kind === 'unavailable') {
        logger.debug({ ...about(session), error: reason }, 'paid session cannot be ended yet');
        return { is: 'wait', afterMs: againMs, reason };
      }
      const afterMs = Math.round(backoff(tries + 1, pauses));
      logger.warn({ ...about(session), error: reason, afterMs }, 'paid session cannot be ended yet');
      return { is: 'retry', afterMs, reason };
    }
    logger.info(about(session), 'paid session ended');
    this.#open.delete(session_id);
    return done;
  }

  /** Removes somebody whose time is over. Answers why that is refused; throws while nobody can be asked. */
  async #remove(session: Session): Promise<Error | undefined> {
    try {
      await this.#alone(session, async () => {
        // somebody who has paid again by now stays
        if (!this.#hasAnother(session)) await remove(this.#options.channels, session);
      });
      return undefined;
    } catch (error) {
      const { code, kind } = error as { code?: unknown; kind?: unknown };
      if (kind === 'unavailable') throw error;
      // without the channel there is nobody to remove from it
      return code === 'not_found' ? undefined : (error as Error);
    }
  }

  #hasAnother({ session_id, channel, nick }: OpenSession): boolean {
    return [...this.#open.values()].some(
      (other) =>
        other.session_id !== session_id &&
        other.channel === channel &&
        casefold(other.nick) === casefold(nick) &&
        this.#left(other) > 0,
    );
  }

  #isSeated({ channel, nick }: Membership): boolean {
    return [...this.#open.values()].some(
      (session) => session.channel === channel && casefold(session.nick) === casefold(nick),
    );
  }

  #left({ expires_at }: OpenSession): number {
    return expires_at.getTime() - this.#options.log.now().getTime();
  }

  #alone<T>({ channel, nick }: Membership, work: () => Promise<T>): Promise<T> {
    return this.#locks.run(`${channel} ${casefold(nick)}`, work);
  }
}

function about({ channel, nick, session_id }: OpenSession) {
  return { channel, nick, session: session_id };
}

export { admit } from './membership.js';
