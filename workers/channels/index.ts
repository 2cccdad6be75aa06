import { type WantedChannel, wantedChannels } from '../../projections/channels/queries.js';
import { type ChannelFact, channels } from '../../streams/channels/index.js';
import { pause, retry } from '../../streams/core/index.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { Enforcement } from '../../streams/moderation/index.js';
import { answerRequests, commandOperations, type Deadline } from '../core/rpc.js';
import type { IrcLine } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import { serverUpSince } from '../irc/uptime.js';
import { channelService } from './client.js';
import { Commands } from './commands.js';
import { Door } from './door.js';
import { enforce } from './enforce.js';
import { takeBackExcess } from './excess.js';
import { handsOf } from './hands.js';
import { holderOf } from './holder.js';
import { Lifecycle } from './lifecycle.js';
import { Membership } from './membership.js';
import { bannedAmong } from './offenders.js';
import type { KeepChannelsOptions, Ours } from './options.js';
import { followOthers } from './others.js';
import { OwnFacts } from './own-facts.js';
import { PendingInvites } from './pending-invites.js';
import { bringBot, reconcile } from './reconcile.js';
import { Registrations } from './registered.js';
import { Relinks } from './relinks.js';
import { Repairs } from './repairs.js';
import { Reserved } from './reserved.js';
import { type Superseded, supersede } from './supersede.js';
import { sweepLists } from './sweep.js';
import { givesRights } from './takeover.js';
import { Tally } from './tally.js';
import { voiceWhoCame } from './voices.js';

export {
  answerMs,
  channelService,
  createBans,
  createChannels,
  createEnforcement,
  createHands,
  createHolders,
  createRegistrations,
  createSuperseding,
} from './client.js';
export { holderOf, isHolder } from './holder.js';
export type { Hours, Spent } from './hourly-limit.js';
export {
  banned,
  muted,
  noSuchNick,
  notIdentified,
  notInChannel,
  ofAnother,
  operationFailed,
  ownBot,
} from './members.js';
export { openForEvent } from './opening.js';
export type { ChannelsObserver, HourlyLimits, KeepChannelsOptions, Lifetimes } from './options.js';
export type * from './requests.js';

const retryMs = 1_000;
const keeper = 'keep-channels';
/**
 * How long a server is young, in milliseconds: those who were in its channels before its restart have not
 * left them.
 */
const newServerMs = 120_000;
const usualSchedule = { firstMs: 30_000, everyMs: 300_000 };

/**
 * Keeps the managed channels. It carries out the commands of every process, and closes channels when their
 * time is over. At the start of each session and after each netsplit, it brings the network back to what is
 * recorded.
 */
export class KeepChannels {
  readonly #options: KeepChannelsOptions;
  readonly #stop = new AbortController();
  readonly #locks = new KeyedLock();
  readonly #door: Door;
  readonly #pending: PendingInvites;
  readonly #reserved: Reserved;
  readonly #commands: Commands;
  readonly #membership: Membership;
  readonly #repairs: Repairs;
  readonly #lifecycle: Lifecycle;
  readonly #own = new OwnFacts();
  readonly #registrations: Registrations;
  readonly #relinks = new Relinks(() => this.#lookAgain());
  #touched = new Set<string>();
  /** Resolves when what other processes record is seen. */
  #following: Promise<void> = Promise.resolve();
  #looking = Promise.resolve();
  #tally: Promise<Tally> | undefined;
  #answering: { stop(): Promise<void> } | undefined;

  constructor(given: KeepChannelsOptions) {
    const options = { ...given, masksIn: (channel: string) => this.#masksIn(given, channel) };
    const { log, read, bots, logger } = options;
    this.#options = options;
    this.#registrations = new Registrations(options.irc);
    this.#reserved = new Reserved(options.reserved);
    this.#door = new Door(options);
    this.#pending = new PendingInvites({
      bots,
      masksIn: options.masksIn,
      door: this.#door,
      logger,
      now: () => log.now(),
      botCame: async (session, nick) => {
        const signal = AbortSignal.any([session.lost, this.#stop.signal]);
        const pauses = { first: retryMs, longest: retryMs };
        // what is not up yet comes by itself
        const recorded = async () => {
          const after = { stream: channels.name, seq: await log.head(channels) };
          return await read(wantedChannels, after);
        };
        const wanted = await retry(recorded, { pauses, failed: () => {}, signal });
        const managed = wanted?.filter(({ name }) => !this.#reserved.has(name)) ?? [];
        await bringBot(session, nick, managed);
      },
    });
    const work = {
      ...options,
      reserved: this.#reserved,
      locks: this.#locks,
      pending: this.#pending,
      door: this.#door,
      own: this.#own,
      tally: () => this.#takeTally(),
      touched: (name: string) => void this.#touched.add(name),
      // the next session may have read the directory already
      left: (name: string) => this.#repairs.soon(name),
    };
    this.#commands = new Commands(work);
    this.#membership = new Membership(this.#commands, work);
    this.#repairs = new Repairs({ ...work, commands: this.#commands });
    const schedule = options.schedule ?? usualSchedule;
    this.#lifecycle = new Lifecycle({ ...options, schedule, commands: this.#commands });
  }

  start(): void {
    const { log, irc, logger } = this.#options;
    this.#following = followOthers({
      ...{ log, logger, own: this.#own, signal: this.#stop.signal },
      seen: (fact) => this.#correct(fact),
    });
    irc.on('session', this.#begin);
    irc.on('line', this.#see);
    irc.start();
    this.#answering = answerRequests({
      log,
      logger,
      service: channelService,
      operations: this.#operations(),
      observe: this.#options.observe?.operation,
    });
    this.#lifecycle.start();
  }

  /** Takes no more commands, ends those under way and leaves the network. Bounded. */
  async stop(): Promise<void> {
    const { irc } = this.#options;
    this.#stop.abort();
    this.#repairs.stop();
    this.#relinks.stop();
    this.#pending.stop();
    await this.#answering?.stop();
    irc.off('session', this.#begin);
    irc.off('line', this.#see);
    // current work of the lifecycle ends with the session
    await Promise.all([irc.stop(), this.#lifecycle.stop()]);
  }

  /** What keeps the connected bot from keeping channels, in words; null if nothing does. */
  get trouble(): string | null {
    const session = this.#options.irc.session();
    if (!session) return 'its session has not begun yet';
    if (!session.oper) return 'the IRC server has not made it an operator';
    return session.forces ? null : 'the IRC server has no commands to force anything in channels';
  }

  /** The operations that other processes can request, by name. */
  #operations() {
    const commands = this.#commands;
    const { irc, helped } = this.#options;
    return {
      ...handsOf(() => irc.session(), helped),
      ...commandOperations(commands, ['create', 'update', 'remove']),
      ...commandOperations(this.#membership, ['invite', 'members', 'present']),
      // nothing of it is recorded here
      enforce: async (wanted: Enforcement, deadline: Deadline) => {
        const session = commands.session();
        return await commands.alone(casefold(wanted.channel), { deadline }, () => enforce(session, wanted));
      },
      supersede: async (session: Superseded) => await supersede(commands.session(), session),
      registered: async (account: string) => await this.#registrations.of(commands.session(), account),
      // no holder is null, because JSON has no undefined
      holder: async (nick: string) => (await holderOf(commands.session(), nick)) ?? null,
      isBanned: async ({ channel, nick }: { channel: string; nick: string }) =>
        (await bannedAmong(commands.session(), channel, [nick], this.#options)).length > 0,
    };
  }

  /**
   * The tally is taken once, by the first command that needs it. From then on it follows what is recorded.
   */
  #takeTally(): Promise<Tally> {
    this.#tally ??= Tally.take({ ...this.#options, own: this.#own, signal: this.#stop.signal }).catch(
      (error: unknown) => {
        this.#tally = undefined;
        throw error;
      },
    );
    return this.#tally;
  }

  readonly #begin = (session: Session): void => {
    if (!session.oper || !session.forces) {
      this.#options.logger.error({ trouble: this.trouble }, 'channels cannot be kept on this network');
      return;
    }
    // deaf where the server supports it: nothing said in the channels concerns this bot
    void session.command('MODE', session.nick, '+d');
    // and notified of servers that are linked to the network
    void session.command('MODE', session.nick, '+s', '+lL');
    this.#look(session, false);
    for (const name of this.#commands.unopened) this.#repairs.soon(name);
  };

  /** Servers were linked: channels that one of them did not know are brought back to what is recorded. */
  async #lookAgain(): Promise<void> {
    const session = this.#options.irc.session();
    if (!session?.oper || !session.forces) return;
    await this.#look(session, true);
  }

  /** Another process has recorded something: a check under way may have read what was recorded before. */
  #correct({ type, data: { name } }: ChannelFact): void {
    this.#touched.add(name);
    const { unopened } = this.#commands;
    // nobody else can say whether it was opened, and whether it is open to all
    if (type === 'channel.created') unopened.add(name);
    if (unopened.has(name)) this.#repairs.unopened(name);
    else this.#repairs.soon(name);
  }

  /** Checks the whole network, one check after another. */
  #look(session: Session, isAgain: boolean): Promise<void> {
    this.#looking = this.#looking.then(() => this.#settle(session, isAgain));
    return this.#looking;
  }

  /** Reconciles, once the channel directory can be read. */
  async #settle(session: Session, isAgain: boolean): Promise<void> {
    const { logger } = this.#options;
    const touched = new Set<string>();
    this.#touched = touched;
    const signal = AbortSignal.any([session.lost, this.#stop.signal]);
    await this.#following;
    while (!signal.aborted) {
      try {
        if (!isAgain) await takeBackExcess({ ...this.#options, commands: this.#commands });
        const isTouched = (name: string) => touched.has(name);
        const { wanted, members } = await reconcile(session, {
          ...this.#options,
          locks: this.#locks,
          isReserved: (name) => this.#reserved.has(name),
          isTouched,
          isAgain,
          operatorsOf: async (name) => (await this.#commands.look(name, { by: keeper })).state.operators,
          expect: (name, nicks) => this.#pending.add(name, nicks, true),
        });
        // a command that was under way may have changed the network before the servers told each other what they had
        if (isAgain) for (const name of touched) this.#repairs.soon(name);
        if (isAgain) return;
        await this.#pending.begin(session, wanted, members, await this.#startOf(session));
        this.#sweep(session, wanted);
        return;
      } catch (error) {
        if (signal.aborted) return;
        // what is not up yet comes by itself
        const { code = '' } = error as { code?: string };
        const level = code.startsWith('read_model_') ? 'debug' : 'warn';
        logger[level]({ err: error }, 'channels cannot be reconciled yet');
        await pause(retryMs, signal);
      }
    }
  }

  /** Looks for what servers have given each other while no session of ours saw it; nothing waits for that. */
  #sweep(session: Session, wanted: readonly WantedChannel[]): void {
    const names = wanted.map(({ name }) => name);
    const { logger } = this.#options;
    sweepLists(session, names, { ...this.#options, locks: this.#locks }).catch((err: unknown) => {
      if (!session.lost.aborted) logger.warn({ err }, 'lists of channels cannot be looked at');
    });
  }

  /** What moderation has set in a channel; while that cannot be read, the channel is looked at again later. */
  async #masksIn({ masksIn }: Ours, channel: string): Promise<readonly string[] | undefined> {
    const masks = await masksIn(channel);
    if (masks === undefined) this.#repairs.inDoubt(channel);
    return masks;
  }

  /** When the server was started, in milliseconds, if that was recent. */
  async #startOf(session: Session): Promise<number | undefined> {
    const now = this.#options.log.now().getTime();
    const upSince = await serverUpSince(session, now);
    return upSince !== undefined && now - upSince < newServerMs ? upSince : undefined;
  }

  readonly #see = (line: IrcLine): void => {
    this.#door.see(line);
    this.#pending.see(line);
    const session = this.#options.irc.session();
    if (session) voiceWhoCame(session, line, this.#options.bots);
    this.#relinks.see(line);
    const [channel = '', kicked = ''] = line.params;
    if (session && givesRights(session, line, this.#options.bots)) this.#repairs.ruled(casefold(channel));
    if (line.command === 'KICK' && this.#isOurs(kicked)) this.#repairs.soon(casefold(channel));
    if (line.command === 'PART' && this.#isOurs(line.nick)) this.#repairs.soon(casefold(channel));
  };

  #isOurs(nick: string): boolean {
    const { irc, bots } = this.#options;
    const key = casefold(nick);
    return casefold(irc.status().nick) === key || bots.some((bot) => casefold(bot) === key);
  }
}
