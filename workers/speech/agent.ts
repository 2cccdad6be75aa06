import type { Logger } from 'pino';
import { clock, pause } from '../../streams/core/clock.js';
import { Refusal, Unavailable } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { IrcConnection, type IrcConnectionOptions } from '../irc/connection.js';
import type { IrcLine } from '../irc/line.js';
import { accountRefused, type IrcAccount } from '../irc/link.js';
import { refusedByNetwork } from '../irc/refused.js';
import type { Session } from '../irc/session.js';
import type { Away } from './requests.js';

/** A channel as it was entered; `shown` has the tags of our lines in its history then, null if nothing tells them. */
interface Room {
  session: Session;
  shown: ReadonlySet<string> | null;
}

/** What one agent's connection is made of. */
export interface AgentOptions {
  nick: string;
  person: string;
  /** Channels to enter at the beginning, and in each new session. */
  channels: readonly string[];
  /** The actors that used it before. */
  users?: Iterable<string>;
  /** That it is away, also in each new session. */
  away?: Away | null;
  connection: Omit<IrcConnectionOptions, 'nick' | 'log'>;
  logger: Logger;
  /** Gets each line that is not an answer to ours. */
  heard(line: IrcLine): void;
}

/** How long a session is waited for, in milliseconds. */
const sessionMs = 6_000;
const noSuchChannel = '403';
const notOnChannel = '442';
/** A channel with so many refusals is not tried any more. */
const mostRefusals = 10;
/** So often one request looks whether it has brought the agent into a channel: sessions are lost meanwhile. */
const mostTries = 4;

/** One agent on the network under its own nick: a connection, and its wanted channels. */
export class Agent {
  readonly nick: string;
  readonly person: string;
  /** When it last asked for something, on the clock of `clock.elapsed()`. */
  usedAt = clock.elapsed();
  /** When its connection was last recorded, on the same clock. */
  recordedAt = clock.elapsed();
  /** The actors of facts that use it. */
  readonly users: Set<string>;
  readonly #options: AgentOptions;
  readonly #irc: IrcConnection;
  /** Aborted once it gets no new session. */
  readonly #last = new AbortController();
  /** Requests that wait for its session. */
  waited = 0;
  /** Requests to join and to part that are under way. */
  moving = 0;
  /** That it says that it is away. */
  away: Away | null;
  /** What it last asked to say of that (null: that it is back), and who asked; until that is begun. */
  wish: { message: string | null; by: string; told: Promise<void> } | undefined;
  /** The channels in which it wants to be: the name as it was given, under the casefolded one. */
  readonly #wanted = new Map<string, string>();
  readonly #rooms = new Map<string, Room>();
  /** How often each wanted channel has refused it since it was last there. */
  readonly #refusals = new Map<string, number>();
  /** From which channel (casefolded) it was last kicked, and who did it. */
  #kick = { from: '', by: '' };
  /** The channels of a new session are being entered. */
  #entering = Promise.resolve();
  #ended: Refusal | undefined;

  constructor(options: AgentOptions) {
    const { nick, person, channels, users = [], away = null, connection, logger, heard } = options;
    this.nick = nick;
    this.person = person;
    this.users = new Set(users);
    this.away = away;
    this.#options = options;
    for (const name of channels) this.#wanted.set(casefold(name), name);
    // one whose nick somebody else has is told at once; while nobody knows whose session has it, it waits
    this.#irc = new IrcConnection({ ...connection, nick, nickWaitMs: Number.POSITIVE_INFINITY, log: logger });
    this.#irc.on('session', (session) => this.#begin(session));
    this.#irc.on('line', heard);
    this.#irc.start();
  }

  /** Its wanted channels, in the spelling in which it asked for them. */
  get channels(): string[] {
    return [...this.#wanted.values()];
  }

  /** The channels where it is, also those into which it was brought, and did not ask for. */
  get entered(): string[] {
    return this.#irc.session()?.channels ?? [];
  }

  get connected(): boolean {
    return this.#irc.session() !== undefined && !this.#ended;
  }

  /** When its present session began. */
  get since(): Date | null {
    return this.#irc.status().since;
  }

  /** What it proves that it is, from the beginning. */
  get account(): IrcAccount | undefined {
    return this.#options.connection.account;
  }

  /** Whether it ended because the network did not let it in under its nick. */
  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Whether the network did not let it in when it last tried. */
  get isOut(): boolean {
    return this.hasEnded || (!this.#irc.session() && this.#irc.status().refused);
  }

  /**
   * Its session, once there is one. Throws `irc_unavailable` if none came in time. Throws `nick_in_use` and
   * `refused_by_network` for what waiting does not change: it has ended then, and another connection may take its place.
   */
  async session(): Promise<Session> {
    const until = clock.elapsed() + sessionMs;
    for (;;) {
      if (this.#ended) throw this.#ended;
      const session = this.#irc.session();
      if (session && session.nick === this.nick) return session;
      const { lastError, refused } = this.#irc.status();
      if (refused) this.#end(rejectedWith(lastError ?? ''));
      else if (clock.elapsed() > until || this.#last.signal.aborted)
        throw new Unavailable(
          'irc_unavailable',
          lastError ? `The network cannot be reached: ${lastError}` : undefined,
        );
      else await pause(20, this.#last.signal);
    }
  }

  /**
   * Enters a channel, unless it is there, and reads which of our lines its history has: those of a lost connection, or of
   * another process that had the agent before. Throws like `session`, and `refused_by_network` in the words of the server,
   * or with who kicked it at once.
   */
  async enter(name: string): Promise<Room> {
    const key = casefold(name);
    for (let tries = 0; tries < mostTries; tries++) {
      const session = await this.session();
      await this.#entering;
      const room = this.#rooms.get(key);
      if (room?.session === session && session.isIn(name)) return room;
      if (session.lost.aborted) continue;
      const refused = (await this.#join(session, [name])).get(name);
      if (refused === noSuchChannel) throw new Refusal('channel_not_found', `There is no channel ${name}`);
      if (refused !== undefined) throw refusedByNetwork(refused);
    }
    throw new Unavailable('irc_unavailable');
  }

  /**
   * Tries again to enter the wanted channels where it is not. Answers whether it has given one up, which has
   * refused it again and again.
   */
  async enterAgain(): Promise<boolean> {
    const session = this.#irc.session();
    const missing = this.channels.filter((name) => !session?.isIn(name));
    if (!session || this.#ended || missing.length === 0) return false;
    const refused = await this.#join(session, missing);
    const given = [...refused.keys()].filter((name) => {
      const key = casefold(name);
      // who kicks it is not asked again
      if (!this.#wanted.has(key)) return false;
      const times = (this.#refusals.get(key) ?? 0) + 1;
      this.#refusals.set(key, times);
      if (times < mostRefusals) return false;
      this.#refusals.delete(key);
      return this.#wanted.delete(key);
    });
    return given.length > 0;
  }

  /** Leaves a channel. Answers whether it was there, or wanted to be. */
  async leave(name: string, reason: string): Promise<boolean> {
    const wanted = this.#wanted.delete(casefold(name));
    this.#refusals.delete(casefold(name));
    this.#rooms.delete(casefold(name));
    const session = this.#irc.session();
    if (!session?.isIn(name)) return wanted;
    await session.ask('PART', name, reason);
    return true;
  }

  /** Whether it is in a channel, as far as it was told. */
  isIn(name: string): boolean {
    return this.#irc.session()?.isIn(name) ?? false;
  }

  /** Says that it is away, or back with null. Throws like `session`, and `refused_by_network` in the words of the server. */
  async setAway(away: Away | null): Promise<void> {
    const session = await this.session();
    const { error } = await session.ask('AWAY', ...(away ? [away.message] : []));
    if (error) throw refusedByNetwork(`${error.code} ${error.text}`);
    this.away = away;
  }

  /** Notes that it was kicked from a channel: it does not come back by itself. Answers whether it was there. */
  noteKick(name: string, by: string): boolean {
    this.#kick = { from: casefold(name), by };
    this.#rooms.delete(casefold(name));
    return this.#wanted.delete(casefold(name));
  }

  /** Keeps its session while it lasts, and gets no other. */
  beginNoMore(): void {
    this.#last.abort();
    this.#irc.beginNoMore();
  }

  /** Says goodbye. Bounded. */
  async stop(reason: string): Promise<void> {
    this.#last.abort();
    await this.#irc.stop(reason);
  }

  /** Each new session is in no channel. Lines of the last one may be in the histories. */
  #begin(session: Session): void {
    if (session.nick !== this.nick) this.#end(new Refusal('nick_in_use'));
    const { channels, away } = this;
    if (this.#ended) return;
    // before it enters channels: their members are told with its entrance
    if (away) void session.command('AWAY', away.message);
    if (channels.length === 0) return;
    this.#entering = this.#join(session, channels).then(
      (refused) => {
        if (refused.size === 0) return;
        const { nick } = this;
        this.#options.logger.info({ nick, refused: Object.fromEntries(refused) }, 'agent not let in again');
      },
      () => undefined, // the session is over
    );
  }

  /** Resolves with the network's refusals, by channel. */
  async #join(session: Session, names: readonly string[]): Promise<Map<string, string>> {
    const refused = new Map<string, string>();
    // a JOIN would make a channel that does not exist
    const there = await Promise.all(
      names.map(async (name) => {
        const isThere = await this.#isThere(session, name);
        if (isThere === false) refused.set(name, noSuchChannel);
        return isThere ? [name] : [];
      }),
    );
    for (const [name, outcome] of await session.join(there.flat(), { history: true, stays: true })) {
      const key = casefold(name);
      if (outcome.is === 'refused') refused.set(name, `${outcome.code} ${outcome.error}`);
      // it stays out: whoever kicks at once would do it again
      const { from, by } = this.#kick;
      if (outcome.is === 'waiting')
        refused.set(name, from === key ? `Kicked at once by ${by}` : 'Removed at once');
      if (outcome.is !== 'joined') continue;
      const tags = outcome.history?.lines.flatMap(({ tag }) => tag ?? []);
      this.#wanted.set(key, name);
      this.#refusals.delete(key);
      this.#rooms.set(key, { session, shown: tags ? new Set(tags) : null });
    }
    return refused;
  }

  /** Whether a channel is there; `undefined` when the session is over. */
  async #isThere(session: Session, name: string): Promise<boolean | undefined> {
    const looked = await session.command('MODE', name);
    if (looked.is !== 'answered') return undefined;
    if (looked.error?.code !== noSuchChannel) return true;
    // a secret channel is recognised by its answer to those outside
    const invited = await session.command('INVITE', session.nick, name);
    return invited.is === 'answered' ? invited.error?.code === notOnChannel : undefined;
  }

  #end(refusal: Refusal): void {
    this.#ended ??= refusal;
    void this.#irc.stop('Not here');
  }
}

function rejectedWith(reason: string): Refusal {
  if (reason.startsWith(accountRefused)) return new Refusal('account_refused');
  return refusedByNetwork(reason);
}
