import { wantedChannels } from '../../projections/channels/queries.js';
import { channels } from '../../streams/channels/index.js';
import { clock, type Timer } from '../../streams/core/clock.js';
import { pause, retry } from '../../streams/core/index.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { casefold, isManagedChannel } from '../../streams/irc-grammar.js';
import { answerRequests } from '../core/rpc.js';
import type { IrcLine } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import { serverUpSince } from '../irc/uptime.js';
import { channelService } from './client.js';
import { Commands } from './commands.js';
import { isUnavailable } from './executor.js';
import { Lifecycle } from './lifecycle.js';
import type { KeepChannelsOptions } from './options.js';
import { PendingInvites } from './pending-invites.js';
import { bringBot, reconcile } from './reconcile.js';
import { Relinks } from './relinks.js';
import { Reserved } from './reserved.js';
import { Tally } from './tally.js';
import { voiceWhoCame } from './voices.js';

export {
  channelService,
  createChannels,
  createEnforcement,
  createPresence,
} from './client.js';
export { noSuchNick, notInChannel, operationFailed } from './members.js';
export type { ChannelsObserver, HourlyLimits, KeepChannelsOptions, Lifetimes } from './options.js';
export type * from './requests.js';

/** How long after one of our bots was put out of a channel it is brought back, and how often that may be. */
const repairAfterMs = 2_000;
const repairEveryMs = 60_000;
const retryMs = 1_000;
/** How long a server is young: who was in its channels before it was started anew has not left them. */
const newServerMs = 120_000;
const usualSchedule = { firstMs: 30_000, everyMs: 300_000 };

/**
 * Keeps the managed channels: carries out the commands of every process, closes what time has made due, and
 * brings the network back to what is recorded at the start of each session and after each netsplit.
 */
export class KeepChannels {
  readonly #options: KeepChannelsOptions;
  readonly #stop = new AbortController();
  readonly #locks = new KeyedLock();
  readonly #pending: PendingInvites;
  readonly #reserved: Reserved;
  readonly #commands: Commands;
  readonly #lifecycle: Lifecycle;
  readonly #relinks = new Relinks(() => this.#lookAgain());
  readonly #repairs = new Map<string, Timer>();
  readonly #repairedAt = new Map<string, number>();
  #touched = new Set<string>();
  #looking = Promise.resolve();
  #tally: Promise<Tally> | undefined;
  #answering: { stop(): Promise<void> } | undefined;

  constructor(options: KeepChannelsOptions) {
    const { log, read, bots, logger } = options;
    this.#options = options;
    this.#reserved = new Reserved(options.reserved);
    this.#pending = new PendingInvites({
      bots,
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
    this.#commands = new Commands({
      ...options,
      reserved: this.#reserved,
      locks: this.#locks,
      pending: this.#pending,
      tally: () => this.#takeTally(),
      touched: (name) => void this.#touched.add(name),
      // the next session may have looked at the directory already
      left: (name) => this.#repairSoon(name),
    });
    const schedule = options.schedule ?? usualSchedule;
    this.#lifecycle = new Lifecycle({ ...options, schedule, commands: this.#commands });
  }

  start(): void {
    const { log, irc, logger } = this.#options;
    irc.on('session', this.#begin);
    irc.on('line', this.#see);
    irc.start();
    this.#answering = answerRequests({
      ...{ log, logger, service: channelService, operations: this.#commands.operations() },
      observe: this.#options.observe?.operation,
    });
    this.#lifecycle.start();
  }

  /** Takes no more commands, ends those under way and leaves the network. Bounded. */
  async stop(): Promise<void> {
    const { irc } = this.#options;
    this.#stop.abort();
    for (const timer of this.#repairs.values()) clock.clearTimeout(timer);
    this.#relinks.stop();
    await this.#answering?.stop();
    irc.off('session', this.#begin);
    irc.off('line', this.#see);
    // what the lifecycle has in hand ends with the session
    await Promise.all([irc.stop(), this.#lifecycle.stop()]);
  }

  /** What keeps the connected bot from keeping channels, in words; null while nothing does. */
  get trouble(): string | null {
    const session = this.#options.irc.session();
    if (!session) return 'its session has not begun yet';
    if (!session.oper) return 'the IRC server has not made it an operator';
    return session.forces ? null : 'the IRC server has no commands to force anything in channels';
  }

  /** Stock is taken once, by the first command that needs it; from then on every change goes through here. */
  #takeTally(): Promise<Tally> {
    const { log, read, limits } = this.#options;
    this.#tally ??= Tally.take(log, read, limits).catch((error: unknown) => {
      this.#tally = undefined;
      throw error;
    });
    return this.#tally;
  }

  readonly #begin = (session: Session): void => {
    if (!session.oper || !session.forces) {
      this.#options.logger.error({ trouble: this.trouble }, 'channels cannot be kept on this network');
      return;
    }
    // deaf where the server can do that: nothing that is said in the channels concerns this bot
    void session.command('MODE', session.nick, '+d');
    // and told of servers that are linked to the network
    void session.command('MODE', session.nick, '+s', '+lL');
    this.#look(session, false);
    for (const name of this.#commands.unopened) this.#repairSoon(name);
  };

  /** Servers were joined: what one of them did not know of is brought back to what is recorded. */
  async #lookAgain(): Promise<void> {
    const session = this.#options.irc.session();
    if (!session?.oper || !session.forces) return;
    await this.#look(session, true);
  }

  /** Looks at the whole network, one look after another. */
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
    while (!signal.aborted) {
      try {
        const isTouched = (name: string) => touched.has(name);
        const { wanted, members } = await reconcile(session, {
          ...this.#options,
          locks: this.#locks,
          isReserved: (name) => this.#reserved.has(name),
          isTouched,
          isAgain,
        });
        if (!isAgain) await this.#pending.begin(session, wanted, members, await this.#startOf(session));
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

  /** When the server was started, in milliseconds, if that was a moment ago. */
  async #startOf(session: Session): Promise<number | undefined> {
    const now = this.#options.log.now().getTime();
    const upSince = await serverUpSince(session, now);
    return upSince !== undefined && now - upSince < newServerMs ? upSince : undefined;
  }

  readonly #see = (line: IrcLine): void => {
    this.#pending.see(line);
    const session = this.#options.irc.session();
    if (session) voiceWhoCame(session, line);
    this.#relinks.see(line);
    const [channel = '', kicked = ''] = line.params;
    if (line.command === 'KICK' && this.#isOurs(kicked)) this.#repairSoon(casefold(channel));
    if (line.command === 'PART' && this.#isOurs(line.nick)) this.#repairSoon(casefold(channel));
  };

  /** Not at once and not often: a bot may be about to come back by itself, and nobody wins a war of kicks. */
  #repairSoon(name: string): void {
    if (!isManagedChannel(name) || this.#repairs.has(name) || this.#stop.signal.aborted) return;
    const last = this.#repairedAt.get(name) ?? 0;
    const wait = Math.max(repairAfterMs, last + repairEveryMs - clock.now());
    const timer = clock.setTimeout(() => {
      this.#repairs.delete(name);
      this.#repairedAt.set(name, clock.now());
      void this.#repair(name);
    }, wait);
    timer.unref();
    this.#repairs.set(name, timer);
  }

  async #repair(name: string): Promise<void> {
    const { logger } = this.#options;
    try {
      const changed = await this.#commands.repair(name);
      if (changed.length > 0) this.#options.observe?.repaired('changed', 1);
      logger.info({ channel: name, changed }, 'channel looked after');
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === 'channel_reserved') return;
      if (isUnavailable(error)) this.#repairedAt.delete(name);
      else logger.warn({ channel: name, err: error }, 'channel cannot be repaired yet');
      // where there is no session, the next one will see to it
      if (code !== 'irc_unavailable' || this.#options.irc.session()) this.#repairSoon(name);
    }
  }

  #isOurs(nick: string): boolean {
    const { irc, bots } = this.#options;
    const key = casefold(nick);
    return casefold(irc.status().nick) === key || bots.some((bot) => casefold(bot) === key);
  }
}
