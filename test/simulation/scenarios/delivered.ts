import { type DeliveryFact, delivery } from '../../../streams/delivery/index.js';
import { type MarketFact, market } from '../../../streams/events/index.js';
import type { SimulatedLogServer } from '../log/server.js';
import type { Stage } from '../scenario.js';
import { markOf } from './producers.js';

type End = 'delivered' | 'dead_letter' | 'expired';

/** An event on the log, and the record of its delivery. */
export interface StoredEvent {
  id: string;
  seq: number;
  text: string;
  targets: readonly string[];
  /** The room that it has opened. */
  opens: string | undefined;
  /** Channels with a record of its line. */
  confirmed: Set<string>;
  /** The ends of its delivery since it was received or redriven: exactly one, wherever it was decided. */
  ends: End[];
  isRedriven: boolean;
  /** Failed attempts of each channel since it was received or redriven. */
  failures: Map<string, number>;
}

/**
 * A line is given up after three failed attempts. Two processes may have made theirs before they heard of
 * each other.
 */
const mostFailures = 6;

/** What is on the log of events and of their delivery. */
export class Delivered {
  /** By the numbers in their texts. */
  readonly events = new Map<number, StoredEvent>();
  readonly #stage: Stage;
  readonly #server: SimulatedLogServer;
  readonly #bySeq = new Map<number, StoredEvent>();
  readonly #readUpTo = new Map<string, number>();

  constructor(stage: Stage, server: SimulatedLogServer) {
    this.#stage = stage;
    this.#server = server;
  }

  /** Ids of events without a recorded end. */
  open(): string[] {
    this.#read();
    return [...this.events.values()].filter(({ ends }) => ends.length === 0).map(({ id }) => id);
  }

  /** Ids of those that were given up, or expired. */
  undelivered(): string[] {
    this.#read();
    const isOver = ({ ends }: StoredEvent) => ends.length > 0 && !ends.includes('delivered');
    return [...this.events.values()].filter(isOver).map(({ id }) => id);
  }

  has(id: string): boolean {
    this.#read();
    return [...this.events.values()].some((event) => event.id === id);
  }

  #read(): void {
    this.#each<MarketFact>(market.name, ({ data }, seq) => {
      const number = markOf(data.formatted_message);
      if (number === undefined) throw new Error(`an event without a mark: ${data.formatted_message}`);
      this.#stage.check('an event is on the log once', !this.events.has(number), data.event_id);
      const event = {
        id: data.event_id,
        seq,
        text: data.formatted_message,
        targets: data.target_channels,
        opens: data.effects?.open?.name,
        confirmed: new Set<string>(),
        ends: [],
        isRedriven: false,
        failures: new Map<string, number>(),
      };
      this.events.set(number, event);
      this.#bySeq.set(seq, event);
    });
    this.#each<DeliveryFact>(delivery.name, (fact) => {
      if (fact.type === 'lines.confirmed') {
        for (const { seq, channel, completes } of fact.data.lines) {
          const event = this.#eventAt(seq);
          event?.confirmed.add(channel);
          if (completes) event?.ends.push('delivered');
        }
        return;
      }
      const event = this.#eventAt(fact.data.seq);
      if (!event) return;
      if (fact.type === 'attempt.failed') this.#failed(event, fact.data.channel);
      else if (fact.type === 'event.dead_lettered') event.ends.push('dead_letter');
      else if (fact.type === 'event.expired') event.ends.push('expired');
      else {
        event.ends = [];
        event.failures.clear();
        event.isRedriven = true;
      }
    });
  }

  #failed({ id, failures }: StoredEvent, channel: string): void {
    const count = (failures.get(channel) ?? 0) + 1;
    failures.set(channel, count);
    this.#stage.count('attempts that failed');
    this.#stage.check('no line is tried for ever', count <= mostFailures, () => `${id} in ${channel}`);
  }

  #eventAt(seq: number): StoredEvent | undefined {
    const event = this.#bySeq.get(seq);
    this.#stage.check('what is recorded is about an event', event !== undefined, `${seq}`);
    return event;
  }

  #each<Fact>(name: string, take: (fact: Fact, seq: number) => void): void {
    const stream = this.#server.streams.get(name)?.stream;
    let seq = this.#readUpTo.get(name) ?? 0;
    for (; stream && seq < stream.lastSeq; seq++) {
      const message = stream.get(seq + 1);
      if (message) take(JSON.parse(new TextDecoder().decode(message.data)) as Fact, seq + 1);
    }
    this.#readUpTo.set(name, seq);
  }
}
