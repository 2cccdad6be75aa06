import type { Logger } from 'pino';
import { decodeFact, type Log, type PulledMessage, type Recorded } from '../../streams/core/index.js';
import {
  type ConfirmedLine,
  type DeliveryCommand,
  type DeliveryFact,
  type DeliveryLimits,
  type DeliveryState,
  delivery,
  deliveryDecider,
  deliverySubject,
  type EventRef,
  openChannels,
  pendingDelivery,
} from '../../streams/delivery/index.js';
import { eventToken, type MarketFact, market } from '../../streams/market/index.js';
import { InOrderConsumer, type Takeover } from '../core/in-order.js';
import type { IrcConnection } from '../irc/connection.js';
import { Lane, type LaneOwner, type Line } from './lane.js';
import { RecordedOutcomes } from './memory.js';
import { Presence } from './presence.js';
import { Recorder } from './recorder.js';

/** What the delivery worker works with. */
export interface DeliverToIrcOptions {
  log: Log;
  /** The marketplace bot's connection; started and stopped by the worker. */
  irc: IrcConnection;
  limits: DeliveryLimits & { retryMs: number };
  logger: Logger;
}

/** An event in hand: handed out by the log and not acknowledged yet. */
interface Job {
  ref: EventRef;
  state: DeliveryState;
  /** When its time to live began. */
  since: Date;
  lines: Line<Job>[];
  /** Acknowledgements owed: an event may be handed out again after a takeover, or by a redrive. */
  owed: { consumer: InOrderConsumer; reply: string }[];
}

/** Events in hand at most: bounds memory while the network is away. */
const maxInHand = 16_384;
const expirySweepMs = 500;
/** How long a stop waits for lines in flight. */
const stopBoundMs = 3_000;

/**
 * Takes events from the market stream in order and brings each line into its channel: confirmed by the
 * server, recorded, and only then acknowledged. What was recorded is never sent again.
 */
export class DeliverToIrc {
  readonly #options: DeliverToIrcOptions;
  readonly #decider;
  readonly #recorder: Recorder;
  readonly #stop = new AbortController();
  readonly #jobs = new Map<number, Job>();
  readonly #lanes = new Map<string, Lane<Job>>();
  readonly #owner: LaneOwner<Job>;
  readonly #events: InOrderConsumer;
  readonly #redrives: InOrderConsumer;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(options: DeliverToIrcOptions) {
    const { log, irc, limits, logger } = options;
    this.#options = options;
    this.#decider = deliveryDecider(limits);
    this.#recorder = new Recorder(log, logger);
    this.#owner = {
      presence: new Presence(irc, this.#stop.signal),
      stopping: this.#stop.signal,
      retryMs: limits.retryMs,
      wanted: ({ event, channel }) =>
        event.state.status === 'pending' && openChannels(event.state, limits).includes(channel),
      confirmed: (line, via) => this.#confirmed(line, via),
      failed: (line, error) => this.#failed(line, error),
      idle: (channel) => this.#lanes.delete(channel),
    };

    let recordedEvents = new RecordedOutcomes(limits);
    let eventsHead = 0;
    this.#events = new InOrderConsumer({
      log,
      logger,
      stream: market,
      durable: 'deliver-to-irc',
      capacity: () => maxInHand - this.#jobs.size,
      takeOver: async (place) => {
        recordedEvents = await this.#recall(place);
        eventsHead = place.head;
      },
      message: (message) => {
        if (message.seq > eventsHead) recordedEvents = new RecordedOutcomes(limits);
        this.#receive(this.#events, message, recordedEvents, message.seq <= eventsHead);
      },
    });

    let recordedRedrives = new RecordedOutcomes(limits);
    this.#redrives = new InOrderConsumer({
      log,
      logger,
      stream: delivery,
      durable: 'redrive-to-irc',
      filter: deliverySubject('>'),
      capacity: () => maxInHand - this.#jobs.size,
      takeOver: async (place) => {
        recordedRedrives = await this.#recall(place);
      },
      message: (message) => this.#redrive(message, recordedRedrives),
    });
  }

  start(): void {
    this.#options.irc.start();
    this.#events.start();
    this.#redrives.start();
    this.#sweeper = setInterval(() => this.#expire(), expirySweepMs);
  }

  /** Stops taking events, lets the lines in flight come to their confirmation, and leaves the network. */
  async stop(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#stop.abort();
    await Promise.all([this.#events.stop(), this.#redrives.stop()]);
    const lanes = Promise.all([...this.#lanes.values()].map((lane) => lane.done));
    await Promise.race([lanes, new Promise((resolve) => setTimeout(resolve, stopBoundMs).unref())]);
    await this.#recorder.stop();
    await this.#options.irc.stop();
  }

  /** Events in hand now. */
  get inHand(): number {
    return this.#jobs.size;
  }

  async #recall(place: Takeover): Promise<RecordedOutcomes> {
    const started = Date.now();
    const outcomes = await RecordedOutcomes.since(this.#options.log, place.since, this.#options.limits);
    this.#options.logger.info({ since: place.since, ms: Date.now() - started }, 'delivery taken over');
    return outcomes;
  }

  #receive(
    consumer: InOrderConsumer,
    message: PulledMessage,
    recorded: RecordedOutcomes,
    seenBefore: boolean,
  ): void {
    const owed = { consumer, reply: message.reply };
    const inHand = this.#jobs.get(message.seq);
    if (inHand) inHand.owed.push(owed);
    else if (recorded.isSettled(message.seq)) consumer.acknowledge(message.reply);
    else {
      const event = decodeFact(market, message.data, message);
      this.#take(event, message.at, recorded.open(message.seq), owed, seenBefore);
    }
  }

  /** A redrive brings back an event whose message was acknowledged long ago. */
  #redrive(message: PulledMessage, recorded: RecordedOutcomes): void {
    const consumer = this.#redrives;
    const fact = decodeFact(delivery, message.data, message);
    if (fact.type !== 'event.redriven' || recorded.isSettled(fact.data.seq)) {
      consumer.acknowledge(message.reply);
      return;
    }
    const { seq } = fact.data;
    const owed = { consumer, reply: message.reply };
    const inHand = this.#jobs.get(seq);
    if (inHand) {
      inHand.owed.push(owed);
      return;
    }
    const state = recorded.open(seq) ?? this.#decider.initial();
    if (state.status === 'unknown') this.#decider.evolve(state, fact);
    void this.#fetch(seq).then((event) => {
      if (event) this.#take(event, message.at, state, owed, true);
      else if (!this.#stop.signal.aborted) {
        this.#options.logger.error(
          { seq, event_id: fact.data.event_id },
          'redriven event is no longer stored',
        );
        consumer.acknowledge(message.reply);
      }
    });
  }

  async #fetch(seq: number): Promise<Recorded<MarketFact> | undefined> {
    while (!this.#stop.signal.aborted) {
      try {
        return await this.#options.log.at(market, seq);
      } catch {
        await new Promise((resolve) => {
          setTimeout(resolve, 500);
        });
      }
    }
    return undefined;
  }

  #take(
    event: Recorded<MarketFact>,
    since: Date,
    recorded: DeliveryState | undefined,
    owed: Job['owed'][number],
    inDoubt: boolean,
  ): void {
    const { event_id, target_channels, formatted_message } = event.data;
    const state = pendingDelivery(target_channels);
    for (const [name, channel] of recorded?.channels ?? []) state.channels.set(name, channel);
    state.lastError = recorded?.lastError ?? '';
    const ref = { seq: event.seq, event_id, token: eventToken(event_id) };
    const job: Job = { ref, state, since, lines: [], owed: [owed] };
    this.#jobs.set(event.seq, job);
    const open = openChannels(state, this.#options.limits);
    for (const channel of open) {
      let lane = this.#lanes.get(channel);
      if (!lane) {
        lane = new Lane(channel, this.#owner);
        this.#lanes.set(channel, lane);
      }
      const line = { event: job, channel, text: formatted_message, tag: ref.token, inDoubt, inFlight: false };
      job.lines.push(line);
      lane.push(line);
    }
    if (open.length === 0) void this.#conclude(job);
  }

  async #confirmed(line: Line<Job>, via: ConfirmedLine['via']): Promise<void> {
    const job = line.event;
    const fact = this.#decide(job, { is: 'confirm', event: job.ref, channel: line.channel, via });
    if (fact?.type !== 'lines.confirmed') return;
    const [confirmed] = fact.data.lines;
    await this.#recorder.confirm(confirmed!);
    if (confirmed!.completes) this.#release(job);
    else await this.#conclude(job);
  }

  async #failed(line: Line<Job>, error: string): Promise<boolean> {
    const job = line.event;
    const fact = this.#decide(job, { is: 'fail', event: job.ref, channel: line.channel, error });
    if (fact && !(await this.#recorder.record(deliverySubject(job.ref.token), fact))) return false;
    if (this.#owner.wanted(line)) return true;
    await this.#conclude(job);
    return false;
  }

  #expire(): void {
    const now = this.#options.log.now();
    const oldest = now.getTime() - this.#options.limits.ttlMs;
    for (const job of this.#jobs.values()) {
      if (job.since.getTime() >= oldest || job.lines.some((line) => line.inFlight)) continue;
      const fact = this.#decide(job, { is: 'check age', event: job.ref, since: job.since }, now);
      if (fact) void this.#settle(job, fact);
    }
  }

  /** Gives the event up when no channel may be tried again and one of them failed too often. */
  async #conclude(job: Job): Promise<void> {
    const fact = this.#decide(job, { is: 'conclude', event: job.ref });
    if (fact) await this.#settle(job, fact);
  }

  async #settle(job: Job, fact: DeliveryFact): Promise<void> {
    if (!(await this.#recorder.record(deliverySubject(job.ref.token), fact))) return;
    this.#options.logger.warn({ event_id: job.ref.event_id, outcome: fact.type }, 'event not delivered');
    this.#release(job);
  }

  #decide(job: Job, command: DeliveryCommand, now = this.#options.log.now()): DeliveryFact | undefined {
    const fact = this.#decider.decide(command, job.state, now);
    if (fact) this.#decider.evolve(job.state, fact);
    return fact;
  }

  #release(job: Job): void {
    if (!this.#jobs.delete(job.ref.seq)) return;
    for (const { consumer, reply } of job.owed) consumer.acknowledge(reply);
    this.#events.refill();
  }
}
