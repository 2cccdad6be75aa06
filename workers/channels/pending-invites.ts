import type { Logger } from 'pino';
import type { WantedChannel } from '../../projections/channels/queries.js';
import { modeFlags } from '../../streams/channels/index.js';
import { clock, type Timer } from '../../streams/core/clock.js';
import { retry } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { type IrcLine, textOf } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import { type Door, isClosed } from './door.js';
import { inLines, type Members, online } from './lookups.js';
import { bannedAmong } from './offenders.js';
import type { Ours } from './options.js';

/** What the list of pending invites works with. Our other bots are awaited for ever. */
export interface PendingInvitesOptions extends Ours {
  door: Door;
  /** One of them has come. */
  botCame(session: Session, nick: string): Promise<void>;
  now(): Date;
  logger: Logger;
}

/** Somebody who is invited, but is not on the network or not identified. */
interface Guest {
  nick: string;
  channels: Map<string, Waits>;
}

/** Until when a channel waits, in milliseconds. `isClosed`: somebody who may have another's nick cannot come in. */
interface Waits {
  until: number;
  isClosed: boolean;
}

/** How long a channel waits for a nick, and how many nicks are awaited. */
const patienceMs = 24 * 3_600_000;
const mostGuests = 1_000;
const retryMs = 1_000;
/** Nicks that are there and not identified are checked in turn: so many at a time, so often. */
const lookMs = 1_500;
const atOnce = 16;
/** Numerics of MONITOR: somebody is on the network, and the list is full. */
const isOnline = '730';
const listIsFull = '734';

/**
 * Nicks that were invited while they were away, or not identified. They are brought in when they appear
 * (MONITOR) and may come in.
 */
export class PendingInvites {
  readonly #options: PendingInvitesOptions;
  readonly #guests = new Map<string, Guest>();
  /** Nicks that are there and not identified, as far as is known. */
  readonly #unproven = new Set<string>();
  #session: Session | undefined;
  #looking: Timer | undefined;
  #stopped = false;

  constructor(options: PendingInvitesOptions) {
    this.#options = options;
  }

  /** Waits no more. */
  stop(): void {
    this.#stopped = true;
    clock.clearTimeout(this.#looking);
  }

  /**
   * Waits for invited nicks of a channel that are away; if the channel is closed, also for those that are not
   * identified.
   */
  add(channel: string, nicks: readonly string[], isClosed: boolean): void {
    const added = nicks.filter((nick) => this.#expect(channel, nick, isClosed));
    if (this.#session && added.length > 0) this.#watch(this.#session, added, 'there');
    if (isClosed) for (const nick of nicks) this.#lookAt(casefold(nick));
  }

  /** A channel stops waiting, for these nicks or for anybody. */
  remove(channel: string, nicks?: readonly string[]): void {
    const keys = nicks ? nicks.map(casefold) : [...this.#guests.keys()];
    for (const key of keys) {
      const guest = this.#guests.get(key);
      if (guest?.channels.delete(channel) && guest.channels.size === 0) this.#forget(guest);
    }
  }

  /**
   * Begins a new session, which watches nobody yet. Nicks that were invited to a closed or a new channel, and
   * are away, are awaited. A nick that is on the network and not in the channel has left it, and is left
   * alone. This does not hold for a channel that is older than the server: its members lost it when the
   * server restarted, and are brought in. `startedAt`: when the server started, in milliseconds; `undefined`
   * if that is long ago.
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
      .flatMap(({ name, modes, invited, createdAt }) =>
        invited
          .filter((nick) => !this.#isBot(nick) && !members.get(name)?.has(casefold(nick)))
          .map((nick) => ({ name, nick, modes, isLost: createdAt.getTime() < (startedAt ?? 0) })),
      )
      .slice(0, 2 * mostGuests);
    const there = await online(session, [...new Set(asked.map(({ nick }) => nick))]);
    for (const { name, nick, modes, isLost } of asked) {
      const isThere = there.has(casefold(nick));
      if (!isThere || isLost) this.#expect(name, nick, isClosed(modes));
    }
    const left = asked.filter(
      ({ nick, modes, isLost }) => !isLost && isClosed(modes) && there.has(casefold(nick)),
    );
    await this.#expectUnproven(session, left);
    const lost = asked.filter(({ nick, isLost }) => isLost && there.has(casefold(nick)));
    await Promise.all(
      [...new Set(lost.map(({ nick }) => casefold(nick)))].map((key) => this.#bringIn(session, key)),
    );
    this.#watch(
      session,
      [...this.#options.bots, ...[...this.#guests.values()].map(({ nick }) => nick)],
      'came',
    );
  }

  /** Somebody who could not come in because they were not identified has not left. */
  async #expectUnproven(session: Session, asked: readonly { name: string; nick: string }[]): Promise<void> {
    const nicks = [...new Map(asked.map(({ nick }) => [casefold(nick), nick]))].slice(0, mostGuests);
    for (let from = 0; from < nicks.length; from += atOnce) {
      const some = nicks.slice(from, from + atOnce);
      const standings = await Promise.all(some.map(([, nick]) => this.#options.door.standing(session, nick)));
      for (const [n, [key]] of some.entries()) {
        if (standings[n] !== 'unproven') continue;
        for (const { name, nick } of asked) if (casefold(nick) === key) this.#expect(name, nick, true);
        this.#lookAt(key);
      }
    }
  }

  /** Reads a line from the server: it may say that somebody has come. */
  see(line: IrcLine): void {
    this.#see(line, 'came');
  }

  /** `there`: the answer to a question, about somebody who may have been told something a moment ago. */
  #see(line: IrcLine, are: 'came' | 'there'): void {
    const session = this.#session;
    if (line.command !== isOnline || !session) return;
    for (const mask of textOf(line).split(',')) {
      const nick = mask.split('!', 1)[0]!;
      if (are === 'came') this.#options.door.came(nick);
      const coming = this.#isBot(nick)
        ? this.#options.botCame(session, nick)
        : this.#bringIn(session, casefold(nick));
      coming.catch(() => undefined); // the session has ended: the next one begins again
    }
  }

  #expect(channel: string, nick: string, isClosed: boolean): boolean {
    const until = this.#options.now().getTime() + patienceMs;
    const waits = { until, isClosed };
    const key = casefold(nick);
    const guest = this.#guests.get(key);
    if (guest) {
      guest.channels.set(channel, waits);
      return false;
    }
    this.#dropOverdue();
    if (this.#isBot(nick) || this.#guests.size >= mostGuests) return false;
    this.#guests.set(key, { nick, channels: new Map([[channel, waits]]) });
    return true;
  }

  #watch(session: Session, nicks: readonly string[], are: 'came' | 'there'): void {
    for (const list of inLines(nicks, ',')) void this.#watchList(session, list, are);
  }

  /** A server that does not answer is asked again, for as long as the session lasts. */
  async #watchList(session: Session, list: string, are: 'came' | 'there'): Promise<void> {
    const answered = await retry(() => session.ask('MONITOR', '+', list), {
      pauses: { first: retryMs, longest: retryMs },
      failed: () => {},
      signal: session.lost,
    });
    const lines = answered?.lines ?? [];
    for (const line of lines) this.#see(line, are);
    if (lines.some(({ command }) => command === listIsFull))
      this.#options.logger.warn('the network watches for no more nicks: some invited ones are not awaited');
  }

  async #bringIn(session: Session, key: string): Promise<void> {
    const guest = this.#guests.get(key);
    if (!guest) return;
    const { door, now, logger } = this.#options;
    const { nick } = guest;
    const known = new Map(guest.channels);
    const waiting = [...known].filter(([, { until }]) => until > now().getTime());
    const isChecked = waiting.some(([, { isClosed }]) => isClosed);
    // a look at somebody for a closed channel that was deleted since finds them away as often as not
    const isThere = isChecked || (await online(session, [nick])).has(key);
    const standing = isChecked ? await door.standing(session, nick) : isThere ? 'known' : 'away';
    // moderation keeps out whoever it has banned, also those who were asked in before
    const isBanned = await Promise.all(
      waiting.map(
        async ([channel]) => (await bannedAmong(session, channel, [nick], this.#options)).length > 0,
      ),
    );
    // from here to the forced join nothing is waited for: it would make a room again that was removed meanwhile
    if (standing === 'away' || this.#guests.get(key) !== guest) return;
    const channels: string[] = [];
    const keptOut: string[] = [];
    for (const [n, [channel, { isClosed }]] of waiting.entries()) {
      if (!guest.channels.has(channel)) continue;
      if (isBanned[n]) keptOut.push(channel);
      else if (standing === 'known' || !isClosed) channels.push(channel);
      else door.tell(session, nick, channel);
    }
    if (channels.length > 0) {
      await Promise.all(channels.map((channel) => session.ask('SAJOIN', nick, channel)));
      logger.info({ nick, channels }, 'invited nick has come and was brought in');
    }
    // not before the answers: without them the next session brings the nick in
    const isOver = ([channel, { until }]: [string, Waits]) =>
      channels.includes(channel) || keptOut.includes(channel) || until <= now().getTime();
    for (const [channel, waits] of [...guest.channels])
      if (known.get(channel) === waits && isOver([channel, waits])) guest.channels.delete(channel);
    if (this.#guests.get(key) !== guest) return;
    if (guest.channels.size === 0) this.#forget(guest);
    else if (standing !== 'known') this.#lookAt(key);
    // a channel that asked meanwhile
    else await this.#bringIn(session, key);
  }

  /**
   * Somebody may be there and not identified. The network does not say when they identify, so it is asked now
   * and then.
   */
  #lookAt(key: string): void {
    if (!this.#guests.has(key)) return;
    this.#unproven.add(key);
    if (this.#looking !== undefined || this.#stopped) return;
    this.#looking = clock.setTimeout(() => void this.#look(), lookMs);
    this.#looking.unref();
  }

  async #look(): Promise<void> {
    const session = this.#session;
    const keys = [...this.#unproven].slice(0, atOnce);
    // a nick that is still not identified goes to the end of the queue
    for (const key of keys) this.#unproven.delete(key);
    if (session && !session.lost.aborted)
      await Promise.all(keys.map((key) => this.#bringIn(session, key).catch(() => undefined)));
    this.#looking = undefined;
    const [next] = this.#unproven;
    if (next !== undefined) this.#lookAt(next);
  }

  #dropOverdue(): void {
    if (this.#guests.size < mostGuests) return;
    const now = this.#options.now().getTime();
    for (const guest of [...this.#guests.values()])
      if ([...guest.channels.values()].every(({ until }) => until <= now)) this.#forget(guest);
  }

  #forget({ nick }: Guest): void {
    this.#guests.delete(casefold(nick));
    this.#unproven.delete(casefold(nick));
    // from here on nobody sees that somebody else takes the nick
    this.#options.door.came(nick);
    if (this.#session && !this.#session.lost.aborted)
      this.#session.ask('MONITOR', '-', nick).catch(() => undefined);
  }

  #isBot(nick: string): boolean {
    return this.#options.bots.some((bot) => casefold(bot) === casefold(nick));
  }
}
