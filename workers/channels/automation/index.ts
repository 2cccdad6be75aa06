import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { decodeFact, type Log, type PulledMessage } from '../../../streams/core/index.js';
import { effectsOf, market, type RoomOpening, withEventBot } from '../../../streams/events/index.js';
import { InOrderConsumer } from '../../core/in-order.js';
import { LastLines } from './last-lines.js';

/** What the automation asks of the channel service; errors are its refusals. */
export interface ChannelAutomation {
  create(room: RoomOpening, because: Because): Promise<unknown>;
  /** Asks those in who are named for a channel that is there already. */
  invite(room: RoomOpening, because: Because): Promise<unknown>;
  archive(room: { name: string; reason: string }, because: Because): Promise<unknown>;
}

/** The market fact that led to a command. */
export interface Because {
  /** Its sequence: a command that comes a second time, when a channel has lived on or died since, changes nothing. */
  seq: number;
  factId: string;
}

/** What the worker works with; times in milliseconds. */
export interface AutomateChannelsOptions {
  log: Log;
  channels: ChannelAutomation;
  /** Nick of the bot that posts the events' lines. */
  eventBot: string;
  /** Screens the topics of events that were accepted before their effects were recorded with them. */
  screen?: (text: string) => string;
  /** How long a command that fails is tried again, by the event's age; an hour by default. */
  giveUpMs?: number;
  /** How long an ended task's room stays open for the line that says so; a minute by default. */
  lastLineMs?: number;
  logger: Logger;
}

interface Job {
  seq: number;
  is: 'open' | 'archive';
  channel: string;
  carryOut(): Promise<unknown>;
  /** When the log got the event, in milliseconds. */
  since: number;
}

const maxInHand = 4_096;
/** Commands under way at most: an outage must not end in a flood. */
const maxCommands = 32;
const pausesMs = { first: 250, longest: 10_000 };
const stopBoundMs = 3_000;

/**
 * Has the rooms of tasks and cities opened and closed as the marketplace's events want it. What fails is tried
 * again for an hour; neither the queue nor the lines of an event ever wait for it. Commands about one channel
 * run one after the other, in the order of the events.
 */
export class AutomateChannels {
  readonly #options: AutomateChannelsOptions;
  readonly #stop = new AbortController();
  readonly #events: InOrderConsumer;
  readonly #lastLines: LastLines;
  readonly #inHand = new Set<number>();
  /** The last job of each channel that has one. */
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #turns: (() => void)[] = [];
  #commands = 0;

  constructor(options: AutomateChannelsOptions) {
    const { log, logger } = options;
    this.#options = options;
    this.#lastLines = new LastLines(log, logger);
    setMaxListeners(0, this.#stop.signal);
    this.#events = new InOrderConsumer({
      log,
      logger,
      stream: market,
      durable: 'automate-channels',
      capacity: () => maxInHand - this.#inHand.size,
      takeOver: (place) => this.#lastLines.follow(place),
      message: (message) => this.#receive(message),
    });
  }

  start(): void {
    this.#events.start();
  }

  /** Takes no more events and lets the commands under way come to their end. Bounded. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const idle = Promise.all([this.#events.stop(), ...this.#lanes.values()]);
    await Promise.race([idle, sleep(stopBoundMs, undefined, { ref: false })]);
  }

  #receive(message: PulledMessage): void {
    const { seq } = message;
    if (this.#inHand.has(seq)) return;
    const job = this.#read(message);
    if (!job) {
      this.#lastLines.pass(seq);
      this.#events.done(seq);
      return;
    }
    const { channel } = job;
    const shown =
      job.is === 'archive'
        ? this.#lastLines.shown(seq, channel, this.#options.lastLineMs ?? 60_000)
        : this.#lastLines.pass(seq);
    this.#inHand.add(seq);
    const before = this.#lanes.get(channel);
    const lane = Promise.all([before, shown]).then(() => this.#carryOut(job));
    this.#lanes.set(channel, lane);
    void lane.then(() => {
      if (this.#lanes.get(channel) === lane) this.#lanes.delete(channel);
    });
  }

  /** What an event wants done; an event that cannot be read wants nothing, which is its deliverer's to report. */
  #read(message: PulledMessage): Job | undefined {
    try {
      const { channels, eventBot, screen } = this.#options;
      const { seq, id, at, data } = decodeFact(market, message.data, message);
      const { open, close } = effectsOf(data, screen);
      const because = { seq, factId: id };
      const since = at.getTime();
      if (open) {
        const carryOut = () => this.#open(withEventBot(open, eventBot), because);
        return { seq, since, is: 'open', channel: open.name, carryOut };
      }
      if (typeof close?.reason !== 'string') return undefined;
      const { name, reason } = close;
      const carryOut = () => channels.archive({ name, reason }, because);
      return { seq, since, is: 'archive', channel: name, carryOut };
    } catch {
      return undefined;
    }
  }

  async #carryOut(job: Job): Promise<void> {
    const { logger, log, giveUpMs = 3_600_000 } = this.#options;
    const { signal } = this.#stop;
    const { is: action, channel, seq } = job;
    const about = { action, channel, seq };
    for (let pauseMs = pausesMs.first; !signal.aborted; pauseMs = Math.min(pauseMs * 2, pausesMs.longest)) {
      const failure = await this.#inTurn(() => this.#command(job));
      if (failure === undefined) break;
      if (log.now().getTime() - job.since > giveUpMs) {
        logger.error({ ...about, error: failure }, 'channel automation given up');
        break;
      }
      logger.info({ ...about, error: failure, pauseMs }, 'channel automation is tried again');
      await sleep(pauseMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {});
    }
    if (signal.aborted) return; // whoever takes over is handed it again
    this.#inHand.delete(job.seq);
    this.#events.done(job.seq);
    this.#events.refill();
  }

  /** Carries a command out; the reason why it has to be tried again, if so. */
  async #command(job: Job): Promise<string | undefined> {
    try {
      await job.carryOut();
      return undefined;
    } catch (error) {
      const { code } = error as { code?: unknown };
      // it is there always, or there is nothing to archive or to be asked into
      if (code === 'channel_reserved' || code === 'not_found') return undefined;
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Where there is such a channel already, those whom the event names are still to be asked in. */
  async #open(room: RoomOpening, because: Because): Promise<void> {
    const { channels } = this.#options;
    try {
      await channels.create(room, because);
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'channel_exists') throw error;
      if (room.invite_list.length > 0) await channels.invite(room, because);
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    while (this.#commands >= maxCommands) await new Promise<void>((resolve) => this.#turns.push(resolve));
    this.#commands += 1;
    try {
      return await work();
    } finally {
      this.#commands -= 1;
      this.#turns.shift()?.();
    }
  }
}
