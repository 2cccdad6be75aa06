import pino from 'pino';
import type { Test } from 'tap';
import { decodeFact, Log } from '../../streams/core/index.js';
import { type DeliveryFact, delivery } from '../../streams/delivery/index.js';
import { streams } from '../../streams/index.js';
import { eventToken, market, marketSubject } from '../../streams/market/index.js';
import { DeliverToIrc } from '../../workers/deliver-to-irc/index.js';
import { IrcConnection } from '../../workers/irc/connection.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startIrcd, type TestIrcd } from '../support/ircd.js';
import { startNats, type TestNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';

/** An event as it stands on the market stream. */
export interface Event {
  id: string;
  channels: string[];
  text: string;
  seq: number;
}

export const maxBytes = 1_000_000_000;
export const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });

/** Opens the log with all streams of the house. */
export function openLog(t: Teardown, url: string, name = 'stage'): Promise<Log> {
  return Log.open({ urls: url, name, streams, replicas: 1, maxBytes, logger }).then((log) => {
    t.teardown(() => log.close());
    return log;
  });
}

/** A delivery worker in this process, with a log connection and a bot of its own. */
export interface Worker {
  deliver: DeliverToIrc;
  log: Log;
  irc: IrcConnection;
  /** Stops it and closes its log, once. */
  stop(): Promise<void>;
}

export interface WorkerOptions {
  natsUrl?: string;
  ircUrl?: string;
  /** Without operator state the bot is refused where anyone would be. */
  oper?: boolean;
  maxRetries?: number;
  ttlMs?: number;
  retryMs?: number;
  confirmTimeoutMs?: number;
}

/** Real servers, a witness in every channel, and everything that is recorded about deliveries. */
export class Stage {
  readonly events = new Map<string, Event>();
  readonly outcomes = new Outcomes();

  private constructor(
    readonly nats: TestNats,
    readonly ircd: TestIrcd,
    readonly log: Log,
    readonly channels: string[],
    /** Operator, in every channel from before the first line. */
    readonly witness: Observer,
    private readonly t: Test,
  ) {}

  static async open(t: Test, channelCount: number): Promise<Stage> {
    const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
    const log = await openLog(t, nats.url);
    const channels = Array.from({ length: channelCount }, (_, n) => `#room-${n}`);
    const witness = await observe(ircd.port, { nick: 'witness', password: ircd.serverPassword });
    t.teardown(() => witness.stop());
    await witness.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
    const stage = new Stage(nats, ircd, log, channels, witness, t);
    await stage.furnish(...channels);
    t.teardown(stage.outcomes.follow(log));
    return stage;
  }

  /** Makes channels as the service makes them, with the witness inside. */
  async furnish(...channels: string[]): Promise<void> {
    await this.witness.join(...channels);
    await this.witness.ask(...channels.map((channel) => `SAMODE ${channel} +PH 100:1d`));
  }

  /** A worker that is not started yet. */
  async worker(options: WorkerOptions = {}): Promise<Worker> {
    const { ircd, nats, t } = this;
    const log = await openLog(t, options.natsUrl ?? nats.url, 'worker');
    const irc = new IrcConnection({
      url: options.ircUrl ?? ircd.url,
      nick: 'em-bot',
      password: ircd.serverPassword,
      ...(options.oper === false ? {} : { oper: { name: ircd.operName, password: ircd.operPassword } }),
      ...(options.confirmTimeoutMs ? { confirmTimeoutMs: options.confirmTimeoutMs } : {}),
      log: logger,
    });
    const { maxRetries = 3, ttlMs = 3_600_000, retryMs = 300 } = options;
    const deliver = new DeliverToIrc({ log, irc, limits: { maxRetries, ttlMs, retryMs }, logger });
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= deliver.stop().then(() => log.close());
      return stopped;
    };
    t.teardown(stop);
    return { deliver, log, irc, stop };
  }

  async start(options: WorkerOptions = {}): Promise<Worker> {
    const worker = await this.worker(options);
    worker.deliver.start();
    return worker;
  }

  /** Appends events, many at a time, in the order given; repeats each until it is on the log. */
  async publish(events: { id: string; channels: string[] }[]): Promise<void> {
    let next = 0;
    const append = async () => {
      for (let event = events[next++]; event; event = events[next++]) await this.#append(event);
    };
    await Promise.all(Array.from({ length: 256 }, append));
  }

  async #append({ id, channels }: { id: string; channels: string[] }): Promise<void> {
    const text = `${id} ${'x'.repeat(80)}`;
    const data = {
      event_id: id,
      event_type: 'task.published',
      source: 'stage',
      payload: {},
      target_channels: channels,
      formatted_message: text,
    };
    const subject = marketSubject(eventToken(id));
    for (;;) {
      try {
        const fact = { type: 'event.received' as const, data };
        const place = await this.log.appendOnce(market, subject, fact, { by: 'stage' });
        const seq = place?.seq ?? (await this.log.last(market, subject))!.seq;
        this.events.set(id, { id, channels, text, seq });
        return;
      } catch (error) {
        if ((error as { code?: string }).code !== 'log_unavailable') throw error;
      }
    }
  }

  /** Waits until every event has come to one of its ends. */
  settled(ms: number): Promise<void> {
    return this.outcomes.until(
      () => this.outcomes.ended.size >= this.events.size,
      ms,
      'every event to be settled',
    );
  }

  /** Every line once, in the order of the log, and recorded once; `unless` names lines that must not be there. */
  async judge(t: Test, unless: (event: Event, channel: string) => boolean = () => false): Promise<void> {
    const events = [...this.events.values()].sort((a, b) => a.seq - b.seq);
    const wanted = new Map<string, string[]>();
    for (const event of events) {
      for (const channel of event.channels) {
        if (unless(event, channel)) continue;
        const texts = wanted.get(channel) ?? [];
        texts.push(event.id);
        wanted.set(channel, texts);
      }
    }
    const total = [...wanted.values()].reduce((sum, ids) => sum + ids.length, 0);
    await this.witness.waitUntil(() => this.witness.lines.length >= total, 5_000, 'every line').catch(() => {});
    const faults = { lost: [] as string[], twice: [] as string[], foreign: [] as string[], order: [] as string[] };
    for (const channel of new Set([...this.channels, ...wanted.keys()])) {
      const ids = wanted.get(channel) ?? [];
      const seen = this.witness.texts(channel).map((text) => text.split(' ', 1)[0]!);
      const times = new Map<string, number>();
      for (const id of seen) times.set(id, (times.get(id) ?? 0) + 1);
      for (const id of ids) if (!times.has(id)) faults.lost.push(`${channel} ${id}`);
      const expected = new Set(ids);
      for (const [id, n] of times) {
        if (!expected.has(id)) faults.foreign.push(`${channel} ${id}`);
        else if (n > 1) faults.twice.push(`${channel} ${id} ${n}`);
      }
      const first = [...times.keys()].filter((id) => expected.has(id));
      const at = first.findIndex((id, n) => n > 0 && this.events.get(id)!.seq < this.events.get(first[n - 1]!)!.seq);
      if (at > 0) faults.order.push(`${channel}: ${first.slice(at - 2, at + 2)}`);
    }
    for (const [fault, lines] of Object.entries(faults)) t.same(lines.slice(0, 20), [], `nothing ${fault} (${lines.length})`);
    const recorded = [...this.outcomes.confirmed].filter(([, times]) => times > 1);
    t.same(recorded.slice(0, 20), [], 'no confirmation is recorded twice');
    const unrecorded = [...wanted].flatMap(([channel, ids]) =>
      ids.filter((id) => !this.outcomes.confirmed.has(`${id} ${channel}`)),
    );
    t.same(unrecorded.slice(0, 20), [], 'every confirmation is recorded');
  }
}

/** What the delivery stream says, folded as it comes. */
export class Outcomes {
  /** Confirmations by `event_id channel`. */
  readonly confirmed = new Map<string, number>();
  /** The last word about an event. */
  readonly ended = new Map<string, 'delivered' | 'dead_letter' | 'expired'>();
  readonly facts: { fact: Exclude<DeliveryFact, { type: 'lines.confirmed' }>; at: Date }[] = [];
  readonly #checks = new Set<() => void>();

  /** Begins to read; what is returned ends it. */
  follow(log: Log): () => void {
    const reading = new AbortController();
    void (async () => {
      for await (const entries of log.follow(delivery, { after: 0, batch: 5_000, signal: reading.signal })) {
        for (const entry of entries) this.#fold(decodeFact(delivery, entry.data, entry), entry.at);
        for (const check of [...this.#checks]) check();
      }
    })();
    return () => reading.abort();
  }

  /** The facts of one type, about one event or all. */
  of<T extends DeliveryFact['type']>(type: T, id?: string) {
    type Found = { fact: Extract<DeliveryFact, { type: T }>; at: Date };
    return this.facts.filter(
      ({ fact }) => fact.type === type && (id === undefined || fact.data.event_id === id),
    ) as unknown as Found[];
  }

  /** Waits until a condition on what was recorded holds. */
  async until(condition: () => boolean, ms: number, what: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#checks.delete(check);
      };
      const check = () => {
        if (!condition()) return;
        end();
        resolve();
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`waited ${ms} ms for ${what}`));
      }, ms);
      this.#checks.add(check);
      check();
    });
  }

  #fold(fact: DeliveryFact, at: Date): void {
    if (fact.type === 'lines.confirmed') {
      for (const { event_id, channel, completes } of fact.data.lines) {
        const line = `${event_id} ${channel}`;
        this.confirmed.set(line, (this.confirmed.get(line) ?? 0) + 1);
        if (completes) this.ended.set(event_id, 'delivered');
      }
      return;
    }
    this.facts.push({ fact, at });
    const { event_id } = fact.data;
    if (fact.type === 'event.dead_lettered') this.ended.set(event_id, 'dead_letter');
    else if (fact.type === 'event.expired') this.ended.set(event_id, 'expired');
    else if (fact.type === 'event.redriven') this.ended.delete(event_id);
  }
}

/** `count` events that each go to one to three of the channels. */
export function someEvents(prefix: string, count: number, channels: string[]): { id: string; channels: string[] }[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `${prefix}${n}`,
    channels: Array.from({ length: 1 + (n % 3) }, (_, k) => channels[(n * 7 + k * 5) % channels.length]!),
  }));
}
