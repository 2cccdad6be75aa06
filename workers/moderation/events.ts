import { createHash } from 'node:crypto';
import { decodeFact, type PulledMessage } from '../../streams/core/index.js';
import { eventToken, type MarketFact, market } from '../../streams/events/index.js';
import { isNick } from '../../streams/irc-grammar.js';
import { judge, moderation, singleSubject } from '../../streams/moderation/index.js';
import { InOrderConsumer } from '../core/in-order.js';
import { type GuardOptions, guard } from './options.js';
import { untilDone } from './retry.js';

const maxInHand = 4_096;
/** Stands in the bytes of every event of which something was withheld, and of few others. */
const sign = Buffer.from('"withheld":{');

/** Records an incident for each event of whose free text something was withheld. */
export class GuardEvents {
  readonly #options: GuardOptions;
  readonly #consumer: InOrderConsumer;
  readonly #stop = new AbortController();
  readonly #inHand = new Map<number, Promise<void>>();

  constructor(options: GuardOptions) {
    const { log, logger } = options;
    this.#options = options;
    this.#consumer = new InOrderConsumer({
      log,
      logger,
      stream: market,
      durable: 'guard-events',
      capacity: () => maxInHand - this.#inHand.size,
      takeOver: async () => {},
      message: (message) => this.#receive(message),
    });
  }

  start(): void {
    this.#consumer.start();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#consumer.stop(), ...this.#inHand.values()]);
  }

  #receive(message: PulledMessage): void {
    const { seq, data } = message;
    if (this.#inHand.has(seq)) return;
    const fact = Buffer.from(data.buffer, data.byteOffset, data.byteLength).includes(sign)
      ? this.#read(message)
      : undefined;
    if (!fact?.data.withheld) {
      this.#consumer.done(seq);
      return;
    }
    const { log, logger } = this.#options;
    const { signal } = this.#stop;
    const job = untilDone(() => this.#record(fact), { log, logger, signal }).then(() => {
      this.#inHand.delete(seq);
      if (signal.aborted) return; // whoever takes over is handed it again
      this.#consumer.done(seq);
      this.#consumer.refill();
    });
    this.#inHand.set(seq, job);
  }

  /** An event that cannot be read is its deliverer's to report. */
  #read(message: PulledMessage): WithheldEvent | undefined {
    try {
      return decodeFact(market, message.data, message);
    } catch {
      return undefined;
    }
  }

  async #record({ id, at, data }: WithheldEvent): Promise<void> {
    const { event_id, source, payload, target_channels, withheld } = data;
    const { score, patterns } = withheld!;
    const { publisher_nick: publisher } = payload;
    const found = { score, patterns: patterns.split(','), encoded: false, money: false, talk: false };
    const judged = judge(found, [], at.getTime(), this.#options.thresholds);
    if (!judged) return; // the thresholds were lower when it was withheld
    const incident = {
      ref: `event:${event_id}`,
      person: null,
      nick: typeof publisher === 'string' && isNick(publisher) ? publisher : source,
      channel: target_channels[0] ?? '',
      said_at: at.toISOString(),
      ...judged,
      text_score: score,
      patterns,
      text_hash: createHash('sha256').update(JSON.stringify(payload)).digest('hex'),
      action: 'withhold' as const,
    };
    await this.#options.log.appendOnce(
      moderation,
      singleSubject(`event-${eventToken(event_id)}`),
      { type: 'incident.recorded', data: incident },
      { by: guard, cause: id },
    );
  }
}

type WithheldEvent = Pick<MarketFact, 'data'> & { id: string; at: Date };
