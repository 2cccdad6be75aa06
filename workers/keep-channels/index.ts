import { setTimeout as sleep } from 'node:timers/promises';
import { wantedChannels } from '../../projections/channel-queries.js';
import { casefold, isManagedChannel } from '../../streams/irc-grammar.js';
import { answerRequests } from '../core/rpc.js';
import type { IrcLine } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import { channelService } from './client.js';
import { Commands } from './commands.js';
import { Expected } from './expected.js';
import { Lanes } from './lanes.js';
import { Lifecycle } from './lifecycle.js';
import type { KeepChannelsOptions } from './options.js';
import { bringBot, reconcile } from './reconcile.js';
import { Tally } from './tally.js';

export { channelService, createChannels, ircUnavailable } from './client.js';
export { operationFailed } from './members.js';
export type { HourlyLimits, KeepChannelsOptions, Lifetimes } from './options.js';
export type * from './requests.js';

/** How long after one of our bots was put out of a channel it is brought back, and how often that may be. */
const repairAfterMs = 2_000;
const repairEveryMs = 60_000;
const retryMs = 1_000;
const usualSchedule = { firstMs: 30_000, everyMs: 300_000 };

/**
 * Keeps the managed channels: carries out the commands of every process, closes what time has made due, and
 * brings the network back to what is recorded at the start of each session.
 */
export class KeepChannels {
  readonly #options: KeepChannelsOptions;
  readonly #stop = new AbortController();
  readonly #lanes = new Lanes();
  readonly #expected: Expected;
  readonly #commands: Commands;
  readonly #lifecycle: Lifecycle;
  readonly #repairs = new Map<string, NodeJS.Timeout>();
  readonly #repairedAt = new Map<string, number>();
  #touched = new Set<string>();
  #tally: Promise<Tally> | undefined;
  #answering: { stop(): Promise<void> } | undefined;

  constructor(options: KeepChannelsOptions) {
    const { log, read, bots, lifetimes, logger } = options;
    this.#options = options;
    this.#expected = new Expected({
      bots,
      logger,
      now: () => log.now(),
      botCame: async (session, nick) => bringBot(session, nick, await read(wantedChannels)),
    });
    this.#commands = new Commands({
      ...options,
      lanes: this.#lanes,
      expected: this.#expected,
      tally: () => this.#takeTally(),
      touched: (name) => void this.#touched.add(name),
      // the next session may have looked at the directory already
      left: (name) => this.#repairSoon(name),
    });
    const schedule = options.schedule ?? usualSchedule;
    this.#lifecycle = new Lifecycle({ log, read, lifetimes, logger, schedule, commands: this.#commands });
  }

  start(): void {
    const { log, irc, logger } = this.#options;
    irc.on('session', this.#begin);
    irc.on('line', this.#see);
    irc.start();
    const operations = this.#commands.operations();
    this.#answering = answerRequests({ log, logger, service: channelService, operations });
    this.#lifecycle.start();
  }

  /** Takes no more commands, ends those under way and leaves the network. Bounded. */
  async stop(): Promise<void> {
    const { irc } = this.#options;
    this.#stop.abort();
    for (const timer of this.#repairs.values()) clearTimeout(timer);
    await this.#answering?.stop();
    irc.off('session', this.#begin);
    irc.off('line', this.#see);
    // what the lifecycle has in hand ends with the session
    await Promise.all([irc.stop(), this.#lifecycle.stop()]);
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
    this.#touched = new Set();
    void this.#settle(session);
  };

  /** Reconciles in a new session, once the channel directory can be read. */
  async #settle(session: Session): Promise<void> {
    const { logger } = this.#options;
    const touched = this.#touched;
    const signal = AbortSignal.any([session.lost, this.#stop.signal]);
    if (!session.oper) return; // nothing could be done; that the state was refused is logged already
    // deaf where the server can do that: nothing that is said in the channels concerns this bot
    void session.command('MODE', session.nick, '+d');
    while (!signal.aborted) {
      try {
        const isTouched = (name: string) => touched.has(name);
        const { wanted, members } = await reconcile(session, {
          ...this.#options,
          lanes: this.#lanes,
          isTouched,
        });
        await this.#expected.begin(session, wanted, members);
        return;
      } catch (error) {
        if (signal.aborted) return;
        logger.warn({ err: error }, 'channels cannot be reconciled yet');
        await sleep(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  readonly #see = (line: IrcLine): void => {
    this.#expected.see(line);
    const [channel = '', kicked = ''] = line.params;
    if (line.command === 'KICK' && this.#isOurs(kicked)) this.#repairSoon(casefold(channel));
    if (line.command === 'PART' && this.#isOurs(line.nick)) this.#repairSoon(casefold(channel));
  };

  /** Not at once and not often: a bot may be about to come back by itself, and nobody wins a war of kicks. */
  #repairSoon(name: string): void {
    if (!isManagedChannel(name) || this.#repairs.has(name) || this.#stop.signal.aborted) return;
    const last = this.#repairedAt.get(name) ?? 0;
    const wait = Math.max(repairAfterMs, last + repairEveryMs - Date.now());
    const timer = setTimeout(() => {
      this.#repairs.delete(name);
      this.#repairedAt.set(name, Date.now());
      void this.#repair(name);
    }, wait);
    timer.unref();
    this.#repairs.set(name, timer);
  }

  async #repair(name: string): Promise<void> {
    const { logger } = this.#options;
    try {
      const changed = await this.#commands.repair(name);
      logger.info({ channel: name, changed }, 'channel looked after');
    } catch (error) {
      const { code } = error as { code?: unknown };
      // not a channel of ours, or the next session will see to it
      if (code === 'not_found' || code === 'irc_unavailable') this.#repairedAt.delete(name);
      else logger.warn({ channel: name, err: error }, 'channel cannot be repaired');
    }
  }

  #isOurs(nick: string): boolean {
    const { irc, bots } = this.#options;
    const key = casefold(nick);
    return casefold(irc.status().nick) === key || bots.some((bot) => casefold(bot) === key);
  }
}
