import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { OpenSession } from '../../../projections/payments/queries.js';
import type { Log } from '../../../streams/core/index.js';
import { KeyedLock } from '../../../streams/core/keyed-lock.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { payments, placesDecider } from '../../../streams/payments/index.js';
import type { Channels } from '../../channels/index.js';
import { actor, admit, putOut } from './network.js';

/** What stays are made of. */
export interface StaysOptions {
  log: Log;
  channels: Channels;
  logger: Logger;
  signal: AbortSignal;
}

/** Between two tries to bring somebody in who is away, or to do what the network did not. */
const againMs = 2_000;
/** Longest wait that timers know. */
const longestMs = 2 ** 31 - 1;

/** The stays of those who have paid: each from the grant to the end of its time, or until somebody says that it ended. */
export class Stays {
  readonly #options: StaysOptions;
  readonly #open = new Map<string, { session: OpenSession; over: AbortController }>();
  readonly #running = new Set<Promise<void>>();
  /** One thing at a time for each nick in a channel: a new session may follow an old one at once. */
  readonly #locks = new KeyedLock();

  constructor(options: StaysOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => {
      for (const { over } of this.#open.values()) over.abort();
    });
  }

  /** Begins a stay; one that is known goes on. */
  begin(session: OpenSession): void {
    if (this.#open.has(session.session_id) || this.#options.signal.aborted) return;
    const over = new AbortController();
    this.#open.set(session.session_id, { session, over });
    const stay = this.#stay(session, over.signal).catch((error: unknown) => {
      this.#options.logger.error({ session: session.session_id, err: error }, 'stay failed');
    });
    this.#running.add(stay);
    void stay.finally(() => this.#running.delete(stay));
  }

  /** The stay has ended, whoever saw to it. */
  forget(sessionId: string): void {
    this.#open.get(sessionId)?.over.abort();
    this.#open.delete(sessionId);
  }

  /** Resolves when nothing is under way any more. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #stay(session: OpenSession, over: AbortSignal): Promise<void> {
    await this.#until(session, over, () => admit(this.#options.channels, session));
    while (!over.aborted && this.#left(session) > 0)
      await sleep(Math.min(this.#left(session), longestMs), undefined, { signal: over }).catch(
        () => undefined,
      );
    if (over.aborted) return;
    await this.#end(session, over);
  }

  /** Tries to bring somebody in until it is done or the time is over: whoever comes late has paid all the same. */
  async #until(session: OpenSession, over: AbortSignal, enter: () => Promise<'done' | 'absent'>) {
    const { channel, nick } = session;
    const about = { channel, nick, session: session.session_id };
    while (!over.aborted && this.#left(session) > 0) {
      const came = await this.#alone(session, enter).catch((error: Error) => error.message);
      if (came === 'done') return this.#options.logger.info(about, 'payer admitted');
      this.#options.logger.debug({ ...about, why: came }, 'payer is not admitted yet');
      await sleep(Math.min(againMs, this.#left(session)), undefined, { signal: over }).catch(() => undefined);
    }
  }

  async #end(session: OpenSession, over: AbortSignal): Promise<void> {
    const { log, logger, channels } = this.#options;
    const { channel, nick, session_id } = session;
    const about = { channel, nick, session: session_id };
    while (!over.aborted) {
      try {
        await this.#alone(session, async () => {
          // who has paid anew by now stays
          if (!this.#hasAnother(session)) await putOut(channels, session);
        }).catch((error: { code?: unknown }) => {
          // without the channel there is nobody to put out of it
          if (error.code !== 'not_found') throw error;
        });
        await log.handle(payments, placesDecider, { is: 'end', channel, session_id }, { by: actor });
        logger.info(about, 'paid session ended');
        this.#open.delete(session_id);
        return;
      } catch (error) {
        logger.warn({ ...about, error: (error as Error).message }, 'paid session cannot be ended yet');
        await sleep(againMs, undefined, { signal: over }).catch(() => undefined);
      }
    }
  }

  #hasAnother({ session_id, channel, nick }: OpenSession): boolean {
    return [...this.#open.values()].some(
      ({ session: other }) =>
        other.session_id !== session_id &&
        other.channel === channel &&
        casefold(other.nick) === casefold(nick) &&
        this.#left(other) > 0,
    );
  }

  #left({ expires_at }: OpenSession): number {
    return expires_at.getTime() - this.#options.log.now().getTime();
  }

  #alone<T>({ channel, nick }: OpenSession, work: () => Promise<T>): Promise<T> {
    return this.#locks.run(`${channel} ${casefold(nick)}`, work);
  }
}
