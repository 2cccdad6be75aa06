import type { Logger } from 'pino';
import { modeFlags } from '../../streams/channels/index.js';
import { atMost, clock } from '../../streams/core/clock.js';
import { isExpected } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { identified } from '../irc/identified.js';
import { type IrcLine, textOf } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import type { Holder } from './requests.js';

/** What the door works with. */
export interface DoorOptions {
  /** Nicks of our own bots, which may enter every channel. */
  bots: readonly string[];
  /**
   * The link of a nick. `level` is above 0 if the identified nick has confirmed it. Without this function
   * nobody is linked.
   */
  linkOf?: (nick: string) => Promise<{ level: number } | undefined>;
  /**
   * Whether people of the network have accounts: so it has a nick service, also one that is away since before our start.
   * Without this function it is known by its answers alone.
   */
  hasAccounts?: () => Promise<boolean>;
  logger: Logger;
}

/**
 * Whether somebody may be brought into a closed room. `unproven`: they may have somebody else's nick, because
 * the nick is registered or linked and they are not identified.
 */
export type Standing = 'known' | 'unproven' | 'away';

/** The nick service, as networks call it, and how long we wait for it. */
const nickService = 'NickServ';
const answerMs = 2_000;
const absentMs = 1_000;
/** Somebody who was told how to come in is not told again for this time. So many people are remembered. */
const tellAgainMs = 600_000;
const mostTold = 5_000;
const mostToldOfNick = 100;

/**
 * Answers of `STATUS`: there is no such account, the nick is registered and this is not its owner, or this is
 * its owner.
 */
const isOwner = 3;

/** Whether people cannot enter a channel by themselves. */
export function isClosed(modes: string): boolean {
  const flags = modeFlags(modes);
  return flags.has('i') || flags.has('k');
}

/** Checks who may be brought into a closed room: anybody can take a nick, but not an account. */
export class Door {
  readonly #options: DoorOptions;
  readonly #asked = new Map<string, ((status: number) => void)[]>();
  /** When the present holder of a nick was told of something, in milliseconds. */
  readonly #told = new Map<string, Map<string, number>>();
  /** The network has a nick service, even if it is away now. */
  #hasService = false;
  #absentUntil = 0;

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  /**
   * The nicks that may be brought into a channel with these modes. Somebody who is there and may not come in
   * is told how they may.
   */
  async admitted(
    session: Session,
    channel: string,
    modes: string,
    nicks: readonly string[],
  ): Promise<string[]> {
    if (!isClosed(modes)) return [...nicks];
    const standings = await Promise.all(nicks.map((nick) => this.standing(session, nick)));
    for (const [n, nick] of nicks.entries())
      if (standings[n] === 'unproven') this.tell(session, nick, channel);
    return nicks.filter((_, n) => standings[n] === 'known');
  }

  async standing(session: Session, nick: string): Promise<Standing> {
    if ([session.nick, ...this.#options.bots].some((bot) => casefold(bot) === casefold(nick))) return 'known';
    const found = await identified(session, nick);
    if (found.is === 'away') return 'away';
    if (found.is === 'identified') this.#hasService = true;
    const isAccount = found.is === 'identified' && casefold(found.account) === casefold(nick);
    if (isAccount) return 'known';
    const [status, link] = await Promise.all([this.#statusOf(session, nick), this.#linkOf(nick)]);
    // with another account, a mark of the server alone is not enough; mark and nick service together are
    if (found.is === 'identified' && status === isOwner) return 'known';
    if (status !== undefined && status > 0) return 'unproven';
    if (link === 'unknown' || (link && link.level > 0)) return 'unproven';
    // without a nick service there is nothing to be identified with
    if (!(await this.#mayHaveService())) return 'known';
    return link || status === undefined ? 'unproven' : 'known';
  }

  /** Tells somebody who is not identified how to come in, unless they were told recently. */
  tell(session: Session, nick: string, channel: string): void {
    if (clock.elapsed() < this.#absentUntil) {
      const text = `${nick} is expected in ${channel}. The nick service is away, so it cannot be told whether the nick is yours. When it is back you are brought in, or told how to come in.`;
      this.#tell(session, { nick, what: `${channel} away` }, text);
      return;
    }
    const how = `The nick is registered or linked to a wallet: identify with the nick service (/msg ${nickService} IDENTIFY <password>), and you are brought in.`;
    this.#tell(session, { nick, what: channel }, `${nick} is expected in ${channel}. ${how}`);
  }

  /** Tells somebody that the place of their nick in a paid channel is another's, unless told recently. */
  tellAnother(session: Session, nick: string, { host }: Holder, channel: string): void {
    const text = `${nick} has a place in ${channel}, which somebody else has paid for from another host or account. If that was you, present the payment again, and you are brought in.`;
    this.#tell(session, { nick, what: `${channel} ${host}` }, text);
  }

  #tell(session: Session, { nick, what }: { nick: string; what: string }, text: string): void {
    const now = clock.elapsed();
    if (!this.#told.has(casefold(nick)) && this.#told.size >= mostTold) this.#told.clear();
    const told = this.#told.get(casefold(nick)) ?? new Map<string, number>();
    if (now - (told.get(what) ?? Number.NEGATIVE_INFINITY) < tellAgainMs) return;
    if (told.size >= mostToldOfNick) told.clear();
    this.#told.set(casefold(nick), told.set(what, now));
    session.ask('NOTICE', nick, text).catch(() => undefined); // the next session tells again
  }

  /** Somebody new has taken a nick: they were told nothing yet. */
  came(nick: string): void {
    this.#told.delete(casefold(nick));
  }

  /** Reads a line from the server: it may be an answer of the nick service. */
  see(line: IrcLine): void {
    if (line.command !== 'NOTICE' || casefold(line.nick) !== casefold(nickService)) return;
    const [, about = '', status] = /^STATUS (\S+) ([0-3])\b/.exec(textOf(line)) ?? [];
    if (status === undefined) return;
    this.#hasService = true;
    for (const answer of this.#asked.get(casefold(about)) ?? []) answer(Number(status));
    this.#asked.delete(casefold(about));
  }

  /** What the nick service says about a nick; `undefined` if it does not answer. */
  async #statusOf(session: Session, nick: string): Promise<number | undefined> {
    if (clock.elapsed() < this.#absentUntil) return undefined;
    const key = casefold(nick);
    let status: number | undefined;
    const answered = new Promise<void>((resolve) => {
      const answer = (told: number) => {
        status = told;
        resolve();
      };
      this.#asked.set(key, [...(this.#asked.get(key) ?? []), answer]);
    });
    const { error } = await session.ask('PRIVMSG', nickService, `STATUS ${nick}`);
    if (!error) await atMost(answered, answerMs);
    if (status !== undefined) return status;
    this.#asked.delete(key);
    this.#absentUntil = clock.elapsed() + absentMs;
    return undefined;
  }

  /** Whether the network has a nick service, or nobody can tell. */
  async #mayHaveService(): Promise<boolean> {
    if (this.#hasService) return true;
    try {
      this.#hasService = (await this.#options.hasAccounts?.()) ?? false;
    } catch (error) {
      if (!isExpected(error)) throw error;
      this.#options.logger.debug({ err: error }, 'it cannot be told whether the network has a nick service');
      return true;
    }
    return this.#hasService;
  }

  async #linkOf(nick: string): Promise<{ level: number } | 'unknown' | undefined> {
    try {
      return await this.#options.linkOf?.(casefold(nick));
    } catch (error) {
      if (!isExpected(error)) throw error;
      this.#options.logger.debug({ nick, err: error }, 'it cannot be told whether a nick is linked');
      return 'unknown';
    }
  }
}
