import type { Logger } from 'pino';
import { backoff, type Log, type Recorded } from '../../../streams/core/index.js';
import { effectsOf, type MarketFact, market, withEventBot } from '../../../streams/events/index.js';
import { Reactor, type Try, type Verdict } from '../../core/reactor.js';
import { openForEvent } from '../opening.js';
import type { Channels } from '../requests.js';
import { LastLines } from './last-lines.js';

/** What the worker works with; times in milliseconds. */
export interface AutomateChannelsOptions {
  log: Log;
  channels: Channels;
  /** Nick of the bot that posts the events' lines. */
  eventBot: string;
  /** Screens the topics of events that were accepted before their effects were recorded with them. */
  screen?: (text: string) => string;
  /** How long a command that fails is tried again, by the event's age; an hour by default. */
  giveUpMs?: number;
  logger: Logger;
}

interface Job {
  channel: string;
  carryOut(): Promise<unknown>;
  /** Whether it waits for the event's last line, before the room is closed. */
  waits: boolean;
  /** When the log got the event, in milliseconds. */
  since: number;
}

const actor = 'automate-channels';
const maxInHand = 4_096;
/** Commands under way at most: an outage must not end in a flood. */
const maxCommands = 32;
const pauses = { first: 250, longest: 10_000 };
/** How long an ended task's room stays open for the line that says so, in milliseconds. */
const lastLineMs = 60_000;
/** A wait for a line ends with it, and is looked at again in any case. */
const lookMs = 1_000;

/**
 * Has the rooms of tasks and cities opened and closed as the marketplace's events want it. What fails is tried
 * again for an hour; neither the queue nor the lines of an event ever wait for it. Commands about one channel
 * run one after the other, in the order of the events.
 */
export class AutomateChannels {
  readonly #options: AutomateChannelsOptions;
  readonly #reactor: Reactor<typeof market, Job>;
  readonly #lastLines: LastLines;

  constructor(options: AutomateChannelsOptions) {
    const { log, logger } = options;
    this.#options = options;
    this.#lastLines = new LastLines(log, logger);
    this.#reactor = new Reactor<typeof market, Job>({
      log,
      logger,
      maxInHand,
      stream: market,
      durable: actor,
      atOnce: maxCommands,
      takeOver: (place) => this.#lastLines.follow(place),
      plan: (event) => {
        const job = this.#jobOf(event);
        if (!job?.waits) this.#lastLines.pass(event.seq);
        return job ? [{ key: job.channel, item: job }] : [];
      },
      handle: (job, attempt) => this.#carryOut(job, attempt),
    });
  }

  start(): void {
    this.#reactor.start();
  }

  /** Takes no more events and lets the commands under way come to their end. Bounded. */
  async stop(): Promise<void> {
    await this.#reactor.stop();
  }

  /** What an event wants done. */
  #jobOf({ seq, id, at, data }: Recorded<MarketFact>): Job | undefined {
    const { channels, eventBot, screen } = this.#options;
    const { open, close } = effectsOf(data, screen);
    // a command that comes a second time, when a channel has lived on or died since, changes nothing
    const because = { cause: 'automation' as const, event_seq: seq };
    const asker = { by: actor, cause_id: id };
    const since = at.getTime();
    if (open) {
      const carryOut = () => openForEvent(channels, { ...withEventBot(open, eventBot), ...because }, asker);
      return { since, channel: open.name, waits: false, carryOut };
    }
    if (typeof close?.reason !== 'string') return undefined;
    const { name, reason } = close;
    const carryOut = () => channels.remove({ name, reason, immediate: false, ...because }, asker);
    const job = { since, channel: name, waits: true, carryOut };
    void this.#lastLines.shown(seq, name, lastLineMs).then(() => {
      job.waits = false;
      this.#reactor.hurry(name);
    });
    return job;
  }

  async #carryOut({ waits, carryOut, since }: Job, { tries }: Try): Promise<Verdict> {
    if (waits) return { is: 'wait', afterMs: lookMs };
    try {
      await carryOut();
    } catch (error) {
      const { code } = error as { code?: unknown };
      // it is there always, or there is nothing to archive or to be asked into
      if (code === 'channel_reserved' || code === 'not_found') return { is: 'done' };
      const { log, giveUpMs = 3_600_000 } = this.#options;
      const reason = error instanceof Error ? error.message : String(error);
      if (log.now().getTime() - since > giveUpMs) return { is: 'dead', reason };
      return { is: 'retry', afterMs: backoff(tries + 1, pauses), reason };
    }
    return { is: 'done' };
  }
}
