import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { atMost, clock, type Timer } from '../../streams/core/clock.js';
import { isExpected, type Log, type Recorded, retry } from '../../streams/core/index.js';
import {
  type DeliveryFact,
  type DeliveryLimits,
  type DeliveryState,
  delivery,
  deliveryDecider,
  deliverySubject,
  pendingDelivery,
} from '../../streams/delivery/index.js';
import { effectsOf, eventToken, type MarketFact, market } from '../../streams/events/index.js';
import { FactConsumer, type Takeover } from '../core/fact-consumer.js';
import type { IrcConnection } from '../irc/connection.js';
import { type Consumer, type DeliveryObserver, EventsInHand, type Job } from './in-hand.js';
import { RecordedOutcomes } from './memory.js';
import { Presence } from './presence.js';
import { type OpenChannel, Rooms } from './rooms.js';

/** What the delivery worker works with. */
export interface DeliverToIrcOptions {
  log: Log;
  /** The marketplace bot's connection; started and stopped by the worker. */
  irc: IrcConnection;
  limits: DeliveryLimits & { retryMs: number };
  logger: Logger;
  observe?: DeliveryObserver;
  /** Opens the rooms that lines are the first to need. Without it they are plain channels. */
  openChannel?: OpenChannel;
}

/** The consumers that hold the worker's positions. */
export const deliverToIrcConsumers = [
  { stream: market, durable: 'deliver-to-irc' },
  { stream: delivery, durable: 'redrive-to-irc' },
] as const;

/** What is known about messages that are handed out again after a takeover. */
interface Recollection {
  outcomes: RecordedOutcomes;
  /** It covers everything up to this sequence; later messages are new. */
  head: number;
  /** Lines of events up to this sequence may have been shown by another process: we know only what it recorded. */
  doubtful: number;
}

/** Events in hand at most: bounds memory while the network is away. */
const maxInHand = 16_384;
/** Fetching fewer at a time would cost more than the messages themselves. */
const minAsked = 1_024;
const expirySweepMs = 500;
/** How long a stop waits for lines in flight, and after them for their facts, in milliseconds. */
const stopBoundMs = 3_000;
const flushBoundMs = 1_000;
const pauses = { first: 500, longest: 500 };

/**
 * Takes events from the market stream in order and brings each line into its channel: confirmed by the
 * server, recorded, and only then acknowledged. What was recorded is never sent again.
 */
export class DeliverToIrc {
  readonly #options: DeliverToIrcOptions;
  readonly #decider;
  readonly #stop = new AbortController();
  readonly #presence: Presence;
  readonly #inHand: EventsInHand;
  readonly #events: FactConsumer<typeof market>;
  readonly #redrives: FactConsumer<typeof delivery>;
  #sweeper: Timer | undefined;
  #fetching = Promise.resolve();

  constructor(options: DeliverToIrcOptions) {
    const { log, irc, limits, logger, observe } = options;
    this.#options = options;
    this.#decider = deliveryDecider(limits);
    const stopping = this.#stop.signal;
    setMaxListeners(0, stopping); // one for each channel that refuses
    const capacity = () => {
      const room = maxInHand - this.#inHand.size;
      return room < minAsked ? 0 : room;
    };

    let ofEvents: Recollection | undefined;
    this.#events = new FactConsumer({
      log,
      logger,
      capacity,
      ...deliverToIrcConsumers[0],
      takeOver: async (place) => {
        ofEvents = await this.#recall(this.#events, place, place.from);
      },
      concerns: ({ seq }) => {
        if (ofEvents && seq > ofEvents.head) ofEvents = undefined;
        return ofEvents?.outcomes.of(seq) !== 'settled';
      },
      take: (event) => this.#take(event, ofEvents),
    });

    let ofRedrives: Recollection | undefined;
    this.#redrives = new FactConsumer({
      log,
      logger,
      capacity,
      ...deliverToIrcConsumers[1],
      filter: deliverySubject('>'),
      takeOver: async (place) => {
        ofRedrives = await this.#recall(this.#redrives, place, Number.POSITIVE_INFINITY);
      },
      take: (fact) => {
        if (ofRedrives && fact.seq > ofRedrives.head) ofRedrives = undefined;
        this.#redrive(fact, ofRedrives);
      },
    });

    const [events, redrives] = [this.#events, this.#redrives];
    const permit = {
      get given() {
        return events.reading && redrives.reading;
      },
      async wait() {
        await events.whenReading();
        await redrives.whenReading();
      },
    };
    const open = options.openChannel;
    this.#presence = new Presence(irc, permit, stopping, open && new Rooms({ log, logger, open }));
    this.#inHand = new EventsInHand({
      log,
      logger,
      limits,
      stopping,
      presence: this.#presence,
      ...(observe ? { observe } : {}),
      released: () => {
        events.refill();
        redrives.refill();
      },
    });
  }

  start(): void {
    this.#options.irc.start();
    this.#events.start();
    this.#redrives.start();
    this.#sweeper = clock.setInterval(() => this.#inHand.expire(), expirySweepMs);
  }

  /** Takes no more events, lets the lines in flight be confirmed, and leaves the network. Bounded. */
  async stop(): Promise<void> {
    clock.clearInterval(this.#sweeper);
    this.#stop.abort();
    const idle = Promise.all([this.#events.stop(), this.#redrives.stop(), this.#inHand.atRest()]);
    await atMost(idle, stopBoundMs);
    await atMost(this.#inHand.flushed(), flushBoundMs);
    await this.#options.irc.stop();
  }

  /** Events in hand now. */
  get inHand(): number {
    return this.#inHand.size;
  }

  async #recall(
    consumer: Consumer & { durable: string },
    place: Takeover,
    from: number,
  ): Promise<Recollection> {
    const started = clock.elapsed();
    if (!place.ours) {
      this.#inHand.forget(consumer);
      this.#presence.forgetHistories();
      await this.#inHand.flushed();
    }
    const outcomes = await RecordedOutcomes.recall(place, from, this.#options);
    const { since, head, ours, doubtful } = place;
    const worker = consumer.durable;
    this.#options.logger.info(
      { worker, since, head, ours, ms: Math.round(clock.elapsed() - started) },
      'delivery taken over',
    );
    return { outcomes, head, doubtful };
  }

  #take(event: Recorded<MarketFact>, known: Recollection | undefined): void {
    const { seq } = event;
    if (this.#inHand.get(seq)) {
      // in the hands of a redrive: its first round is over
      this.#events.done(seq);
      return;
    }
    const { event_id, target_channels, formatted_message } = event.data;
    const state = pendingDelivery(target_channels);
    const recorded = known?.outcomes.of(seq);
    if (recorded && recorded !== 'settled') {
      for (const [name, channel] of recorded.channels) state.channels.set(name, channel);
      state.lastError = recorded.lastError;
    }
    const job = newJob(this.#events, event, { seq, event_id }, state);
    this.#inHand.take(job);
    const { open: room } = effectsOf(event.data);
    const opening = room && { room, seq, factId: event.id };
    this.#inHand.deliver(job, formatted_message, known !== undefined && seq <= known.doubtful, opening);
  }

  /** A redrive or redelivery brings back an event whose message was acknowledged long ago. */
  #redrive(fact: Recorded<DeliveryFact>, known: Recollection | undefined): void {
    const consumer = this.#redrives;
    if (fact.type !== 'event.redriven' && fact.type !== 'event.redelivered') {
      consumer.done(fact.seq);
      return;
    }
    const { seq, event_id } = fact.data;
    const recorded = known?.outcomes.of(seq, fact.seq);
    if (recorded === 'settled') {
      consumer.done(fact.seq);
      return;
    }
    const inHand = this.#inHand.get(seq);
    if (inHand) {
      // the event that it follows was given up and is about to be released
      const { followedBy } = inHand;
      inHand.followedBy = () => {
        followedBy?.();
        this.#redrive(fact, known);
      };
      return;
    }
    const state = recorded ?? this.#decider.initial();
    if (!recorded) this.#decider.evolve(state, fact);
    const job = newJob(consumer, fact, { seq, event_id }, state);
    this.#inHand.take(job);
    // requested at once and taken in the order of the log, which is the order to show them in
    const fetched = this.#fetch(seq);
    this.#fetching = this.#fetching.then(async () => {
      const event = await fetched;
      if (event) this.#inHand.deliver(job, event.data.formatted_message, true);
    });
  }

  /** The event at a sequence. Without it the job stays as it is until its time to live is over. */
  async #fetch(seq: number): Promise<Recorded<MarketFact> | undefined> {
    const { log, logger } = this.#options;
    const failed = (error: unknown) => {
      if (!isExpected(error)) throw error;
    };
    try {
      const event = await retry(() => log.at(market, seq), { pauses, failed, signal: this.#stop.signal });
      // at a stop there is no answer, which says nothing about the event
      if (!event && !this.#stop.signal.aborted) logger.error({ seq }, 'redriven event is no longer stored');
      return event;
    } catch (error) {
      logger.error({ seq, err: error }, 'redriven event cannot be read');
      return undefined;
    }
  }
}

function newJob(
  consumer: Consumer,
  fact: { seq: number; at: Date },
  event: { seq: number; event_id: string },
  state: DeliveryState,
): Job {
  return {
    ref: { seq: event.seq, event_id: event.event_id, token: eventToken(event.event_id) },
    state,
    since: fact.at.getTime(),
    consumer,
    handedOut: fact.seq,
    lines: [],
    recorded: undefined,
    confirmed: undefined,
    followedBy: undefined,
  };
}
