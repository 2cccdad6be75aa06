import type { Logger } from 'pino';
import type { WantedChannel } from '../../projections/channels/queries.js';
import { modeFlags } from '../../streams/channels/index.js';
import { retry } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { type IrcLine, textOf } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import { inLines, type Members, online } from './lookups.js';

/** What the list of pending invites works with. */
export interface PendingInvitesOptions {
  /** Nicks of our other bots, which are waited for for ever. */
  bots: readonly string[];
  /** One of them has come. */
  botCame(session: Session, nick: string): Promise<void>;
  now(): Date;
  logger: Logger;
}

/** Somebody who is asked in and is not on the network. */
interface Guest {
  nick: string;
  /** Until when each channel waits, in milliseconds. */
  channels: Map<string, number>;
}

/** How long a channel waits for a nick, and how many nicks are waited for. */
const patienceMs = 24 * 3_600_000;
const mostGuests = 1_000;
const retryMs = 1_000;
/** Numerics of MONITOR: somebody is on the network, and the list has no more room. */
const isOnline = '730';
const listIsFull = '734';

/** Nicks that were asked in while they were away: they are brought in when they appear (MONITOR). */
export class PendingInvites {
  readonly #options: PendingInvitesOptions;
  readonly #guests = new Map<string, Guest>();
  #session: Session | undefined;

  constructor(options: PendingInvitesOptions) {
    this.#options = options;
  }

  /** Waits for nicks that a channel has asked in and that are away. */
  add(channel: string, nicks: readonly string[]): void {
    const added = nicks.filter((nick) => this.#expect(channel, nick));
    if (this.#session && added.length > 0) this.#watch(this.#session, added);
  }

  /** A channel does not wait any more, for these nicks or for anybody. */
  remove(channel: string, nicks?: readonly string[]): void {
    const keys = nicks ? nicks.map(casefold) : [...this.#guests.keys()];
    for (const key of keys) {
      const guest = this.#guests.get(key);
      if (guest?.channels.delete(channel) && guest.channels.size === 0) this.#forget(guest);
    }
  }

  /**
   * A new session, which watches nobody yet. Whoever was asked into a closed channel, or into a new one, and is away
   * is waited for; who is on the network and not in the channel has left it, and is left alone. But nobody has left a
   * channel that is older than the server: all that were in it have lost it with the server before (`startedAt`, in
   * milliseconds; `undefined` when that is long ago), and are brought in.
   */
  async begin(
    session: Session,
    wanted: readonly WantedChannel[],
    members: ReadonlyMap<string, Members>,
    startedAt: number | undefined,
  ): Promise<void> {
    this.#session = session;
    const newer = this.#options.now().getTime() - patienceMs;
    const asked = wanted
      .filter(
        ({ isArchived, modes, createdAt }) =>
          !isArchived && (modeFlags(modes).has('i') || createdAt.getTime() > newer),
      )
      .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
      .flatMap(({ name, invited, createdAt }) =>
        invited
          .filter((nick) => !this.#isBot(nick) && !members.get(name)?.has(casefold(nick)))
          .map((nick) => ({ name, nick, isLost: createdAt.getTime() < (startedAt ?? 0) })),
      )
      .slice(0, 2 * mostGuests);
    const there = await online(session, [...new Set(asked.map(({ nick }) => nick))]);
    for (const { name, nick } of asked) if (!there.has(casefold(nick))) this.#expect(name, nick);
    const lost = asked.filter(({ nick, isLost }) => isLost && there.has(casefold(nick)));
    await Promise.all(lost.map(({ name, nick }) => session.ask('SAJOIN', nick, name)));
    this.#watch(session, [...this.#options.bots, ...[...this.#guests.values()].map(({ nick }) => nick)]);
  }

  /** Takes note of a line from the server: it may say that somebody has come. */
  see(line: IrcLine): void {
    const session = this.#session;
    if (line.command !== isOnline || !session) return;
    for (const mask of textOf(line).split(',')) {
      const nick = mask.split('!', 1)[0]!;
      const coming = this.#isBot(nick)
        ? this.#options.botCame(session, nick)
        : this.#bringIn(session, casefold(nick));
      coming.catch(() => undefined); // the session has ended: the next one begins anew
    }
  }

  #expect(channel: string, nick: string): boolean {
    const until = this.#options.now().getTime() + patienceMs;
    const key = casefold(nick);
    const guest = this.#guests.get(key);
    if (guest) {
      guest.channels.set(channel, until);
      return false;
    }
    this.#dropOverdue();
    if (this.#isBot(nick) || this.#guests.size >= mostGuests) return false;
    this.#guests.set(key, { nick, channels: new Map([[channel, until]]) });
    return true;
  }

  #watch(session: Session, nicks: readonly string[]): void {
    for (const list of inLines(nicks, ',')) void this.#watchList(session, list);
  }

  /** A server that does not answer is asked again, for as long as the session lasts. */
  async #watchList(session: Session, list: string): Promise<void> {
    const answered = await retry(() => session.ask('MONITOR', '+', list), {
      pauses: { first: retryMs, longest: retryMs },
      failed: () => {},
      signal: session.lost,
    });
    const lines = answered?.lines ?? [];
    for (const line of lines) this.see(line);
    if (lines.some(({ command }) => command === listIsFull))
      this.#options.logger.warn('the network watches for no more nicks: some invited ones are not awaited');
  }

  async #bringIn(session: Session, key: string): Promise<void> {
    const guest = this.#guests.get(key);
    if (!guest) return;
    this.#forget(guest);
    const now = this.#options.now().getTime();
    const channels = [...guest.channels].flatMap(([channel, until]) => (until > now ? [channel] : []));
    await Promise.all(channels.map((channel) => session.ask('SAJOIN', guest.nick, channel)));
    this.#options.logger.info({ nick: guest.nick, channels }, 'invited nick has come and was brought in');
  }

  #dropOverdue(): void {
    if (this.#guests.size < mostGuests) return;
    const now = this.#options.now().getTime();
    for (const guest of [...this.#guests.values()])
      if ([...guest.channels.values()].every((until) => until <= now)) this.#forget(guest);
  }

  #forget({ nick }: Guest): void {
    this.#guests.delete(casefold(nick));
    if (this.#session && !this.#session.lost.aborted)
      this.#session.ask('MONITOR', '-', nick).catch(() => undefined);
  }

  #isBot(nick: string): boolean {
    return this.#options.bots.some((bot) => casefold(bot) === casefold(nick));
  }
}
