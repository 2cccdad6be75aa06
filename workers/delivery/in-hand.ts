import type { Logger } from 'pino';
import type { Log } from '../../streams/core/index.js';
import {
  type ConfirmedLine,
  confirmationsSubject,
  type DeliveryCommand,
  type DeliveryFact,
  type DeliveryLimits,
  type DeliveryState,
  delivery,
  deliveryDecider,
  deliverySubject,
  type EventRef,
  openChannels,
} from '../../streams/delivery/index.js';
import { KeyedQueue } from '../core/keyed-queue.js';
import { Recorder } from '../core/record.js';
import { type Line, Lines } from './lines.js';
import type { Presence } from './presence.js';
import type { Opening } from './rooms.js';

/** The one that handed out positions, such as a worker's consumer. It is told when the job of one is done. */
export interface Consumer {
  done(seq: number): void;
  leave(seq: number): void;
}

/** An event in hand: handed out by the log and not acknowledged yet. */
export interface Job {
  readonly ref: EventRef;
  state: DeliveryState;
  /** When its time to live began, in milliseconds. */
  readonly since: number;
  /** Who handed it out, under which sequence: told when the job is done. */
  readonly consumer: Consumer;
  readonly handedOut: number;
  readonly lines: Line<Job>[];
  /** Settles when the facts that were decided about it up to now, but for confirmations, are on the log. */
  recorded: Promise<unknown> | undefined;
  /** Settles when its confirmations up to now are on the log. */
  confirmed: Promise<unknown> | undefined;
  /** Called when the job is done: a redrive came while its predecessor was not off our hands yet. */
  followedBy: (() => void) | undefined;
}

/** Told what becomes of lines and events, for whoever counts them. */
export interface DeliveryObserver {
  /** The network confirmed a line, so many milliseconds after its event was received or redriven. */
  lineConfirmed(via: ConfirmedLine['via'], ms: number): void;
  attemptFailed(): void;
  /** A line could not be tried: its room has to wait for a place. */
  roomMissing(): void;
  /** It is recorded how the delivery of an event ended. */
  eventEnded(outcome: 'delivered' | 'dead_letter' | 'expired'): void;
}

/** What events are delivered with. */
export interface EventsInHandOptions {
  log: Log;
  presence: Presence;
  limits: DeliveryLimits & { retryMs: number };
  stopping: AbortSignal;
  logger: Logger;
  observe?: DeliveryObserver;
  /** There is room for more events. */
  released(): void;
}

const by = 'deliver-to-irc';
const maxLinesPerFact = 500;

/** The events that are being delivered: one line per open channel, and a recorded outcome before each is let go. */
export class EventsInHand {
  readonly #options: EventsInHandOptions;
  readonly #decider;
  readonly #jobs = new Map<number, Job>();
  /** The lines by their channels. */
  readonly #queue: KeyedQueue<Line<Job>>;
  readonly #lines: Lines<Job>;
  readonly #recorder: Recorder;
  /** Confirmed lines that wait for the log, and who is told when they are on it. */
  #confirmed: { line: ConfirmedLine; recorded: () => void }[] = [];
  #flushing: Promise<void> | undefined;
  /** The log's time at the last sweep: as exact as a time to live has to be. */
  #now: Date;

  constructor(options: EventsInHandOptions) {
    const { log, logger, presence, limits, stopping } = options;
    this.#options = options;
    this.#decider = deliveryDecider(limits);
    this.#recorder = new Recorder(log, logger, stopping);
    this.#now = log.now();
    const { retryMs } = limits;
    this.#lines = new Lines<Job>({
      presence,
      stopping,
      retryMs,
      wanted: this.#wanted,
      waiting: ({ event, channel }) => {
        const { event_id } = event.ref;
        logger.info({ event_id, channel }, 'line waits for a room: there are as many as there may be');
        options.observe?.roomMissing();
      },
      confirmed: (line, via) => this.#confirm(line, via),
      failed: (line, error) => this.#failed(line, error),
    });
    this.#queue = new KeyedQueue({ stopping, handle: (line) => this.#lines.deliver(line) });
  }

  get size(): number {
    return this.#jobs.size;
  }

  get(seq: number): Job | undefined {
    return this.#jobs.get(seq);
  }

  /** Takes an event in hand whose channels are known, though not yet its line. */
  take(job: Job): void {
    this.#jobs.set(job.ref.seq, job);
  }

  /**
   * Brings the line into the channels that have not confirmed it. `inDoubt`: it may have been shown there before;
   * `opening`: the room that the event has opened, if any.
   */
  deliver(job: Job, text: string, inDoubt: boolean, opening?: Opening): void {
    if (this.#expire(job)) return;
    const tag = tagOf(job);
    for (const channel of openChannels(job.state, this.#options.limits)) {
      const opens = channel === opening?.room.name ? opening : undefined;
      const line = { event: job, channel, text, tag, inDoubt, opens, inFlight: false, unconfirmed: false };
      job.lines.push(line);
      this.#queue.push(channel, line);
    }
    if (job.lines.length > 0 || this.#conclude(job)) return;
    // settled before, or sent to nobody
    this.release(job);
  }

  /** Lets go of an event, and of its message. */
  release(job: Job): void {
    if (this.#jobs.get(job.ref.seq) !== job) return;
    this.#jobs.delete(job.ref.seq);
    job.consumer.done(job.handedOut);
    this.#options.released();
    job.followedBy?.();
  }

  /** Forgets the events of a consumer without an outcome: somebody else has had them in hand meanwhile. */
  forget(consumer: Consumer): void {
    for (const [seq, job] of this.#jobs) {
      if (job.consumer !== consumer) continue;
      job.state = this.#decider.initial();
      this.#jobs.delete(seq);
      consumer.leave(job.handedOut);
      job.followedBy?.();
    }
    this.#prune();
  }

  /** Gives up events that are older than their time to live; one with a line on the wire waits for its answer. */
  expire(): void {
    this.#now = this.#options.log.now();
    let expired = 0;
    for (const job of this.#jobs.values()) {
      if (!job.lines.some((line) => line.inFlight) && this.#expire(job)) expired += 1;
    }
    if (expired > 0) this.#prune();
  }

  /** Resolves when all lines have come to rest after a stop, and no confirmation waits for the log any more. */
  async atRest(): Promise<void> {
    await this.#queue.atRest();
    await this.flushed();
  }

  /** Resolves when no confirmations wait for the log any more, or none can be recorded. */
  async flushed(): Promise<void> {
    await this.#flushing;
  }

  /** Whether a line must still be shown. */
  readonly #wanted = ({ event: { state }, channel: name }: Line<Job>): boolean => {
    const channel = state.channels.get(name);
    return (
      state.status === 'pending' &&
      channel !== undefined &&
      !channel.confirmed &&
      channel.failures < this.#options.limits.maxRetries
    );
  };

  #prune(): void {
    this.#queue.prune(this.#wanted);
  }

  /**
   * Records a confirmed line. Lines confirmed while an append is under way share the next one, so a fact has one line
   * when little happens and hundreds when much does.
   */
  #confirm(line: Line<Job>, via: ConfirmedLine['via']): void {
    // the event may have been forgotten and handed out again while its line was on the wire
    const inHand = this.#jobs.get(line.event.ref.seq);
    const job = inHand && tagOf(inHand) === line.tag ? inHand : line.event;
    const fact = this.#decide(job, { is: 'confirm', event: job.ref, channel: line.channel, via });
    if (fact?.type !== 'lines.confirmed') {
      this.#lines.recorded(line.channel);
      return;
    }
    const confirmed = fact.data.lines[0]!;
    const { log, observe } = this.#options;
    observe?.lineConfirmed(via, log.now().getTime() - job.since);
    this.#recordLine(job, confirmed, () => this.#lines.recorded(line.channel));
  }

  #recordLine(job: Job, line: ConfirmedLine, then = () => {}): void {
    const recorded = () => {
      if (line.completes) {
        this.#options.observe?.eventEnded('delivered');
        this.release(job);
      } else this.#conclude(job);
      then();
    };
    const before = job.confirmed;
    job.confirmed = new Promise((resolve) => {
      const stored = () => {
        resolve(before);
        recorded();
      };
      this.#confirmed.push({ line, recorded: stored });
    });
    this.#flushing ??= this.#flush();
  }

  async #flush(): Promise<void> {
    await undefined; // lines confirmed by the same packet go together
    while (this.#confirmed.length > 0) {
      const batch = this.#confirmed.splice(0, maxLinesPerFact);
      const fact = { type: 'lines.confirmed' as const, data: { lines: batch.map(({ line }) => line) } };
      if (!(await this.#recorder.recordNow({ stream: delivery, subject: confirmationsSubject, fact, by })))
        return;
      for (const { recorded } of batch) recorded();
    }
    this.#flushing = undefined;
  }

  async #failed(line: Line<Job>, error: string): Promise<boolean> {
    const job = line.event;
    const fact = this.#decide(job, { is: 'fail', event: job.ref, channel: line.channel, error });
    const { event_id } = job.ref;
    this.#options.logger.info({ event_id, channel: line.channel, error }, 'line not shown');
    this.#options.observe?.attemptFailed();
    if (fact && !(await this.#record(job, fact))) return false;
    if (this.#wanted(line)) return true;
    this.#conclude(job);
    return false;
  }

  #expire(job: Job): boolean {
    if (this.#now.getTime() - job.since <= this.#options.limits.ttlMs) return false;
    const fact = this.#decide(job, { is: 'check age', event: job.ref, since: new Date(job.since) });
    if (fact) void this.#settle(job, fact);
    return fact !== undefined;
  }

  /** Records how the event ended when no channel may be tried again. */
  #conclude(job: Job): boolean {
    const fact = this.#decide(job, { is: 'conclude', event: job.ref });
    if (fact?.type === 'lines.confirmed') this.#recordLine(job, fact.data.lines[0]!);
    else if (fact) void this.#settle(job, fact);
    return fact !== undefined;
  }

  async #settle(job: Job, fact: DeliveryFact): Promise<void> {
    // what was shown is on record before the end of its event
    await job.confirmed;
    if (!(await this.#record(job, fact))) return;
    this.#options.logger.warn({ event_id: job.ref.event_id, outcome: fact.type }, 'event not delivered');
    this.#options.observe?.eventEnded(fact.type === 'event.expired' ? 'expired' : 'dead_letter');
    this.release(job);
  }

  /** One fact of an event after the other: a second one must not overtake the retries of the first. */
  #record(job: Job, fact: DeliveryFact): Promise<boolean> {
    const subject = deliverySubject(job.ref.token);
    const record = () => this.#recorder.record({ stream: delivery, subject, fact, by });
    const recorded = job.recorded ? job.recorded.then(record) : record();
    job.recorded = recorded;
    return recorded;
  }

  #decide(job: Job, command: DeliveryCommand): DeliveryFact | undefined {
    const fact = this.#decider.decide(command, job.state, this.#now);
    if (fact) this.#decider.evolve(job.state, fact);
    return fact;
  }
}

/** What lines carry to be recognised by in a channel's history; no token has a dot, so each showing has a tag of its own. */
function tagOf({ ref, state }: Job): string {
  return state.showing > 0 ? `${ref.token}.${state.showing}` : ref.token;
}
