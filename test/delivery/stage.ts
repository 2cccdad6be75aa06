import pino from 'pino';
import type { Test } from 'tap';
import { decodeFact, Log } from '../../streams/core/index.js';
import { type DeliveryFact, delivery, deliveryDecider } from '../../streams/delivery/index.js';
import { eventToken, type MarketFact, market, marketSubject } from '../../streams/events/index.js';
import { streams } from '../../streams/index.js';
import type { DeliveryObserver } from '../../workers/delivery/in-hand.js';
import { DeliverToIrc } from '../../workers/delivery/index.js';
import type { OpenChannel } from '../../workers/delivery/rooms.js';
import { IrcConnection } from '../../workers/irc/connection.js';
import type { Hands } from '../../workers/irc/hands.js';
import { hangMs } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats, type TestNats } from '../support/nats.js';
import type { ServerProcess, Teardown } from '../support/server-process.js';

/** An event to publish; its line is its id and some text. */
export interface Draft {
  id: string;
  channels: string[];
  effects?: MarketFact['data']['effects'];
}

/** An event as it is on the market stream. */
export interface Published extends Draft {
  seq: number;
}

/** An IRC server and who the bot is on it; without operator state it is refused where anyone would be. */
export interface IrcPlace extends Pick<ServerProcess, 'port' | 'pause' | 'resume'> {
  url: string;
  password?: string;
  oper?: { name: string; password: string };
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
  oper?: boolean;
  hands?: Hands;
  ttlMs?: number;
  retryMs?: number;
  confirmTimeoutMs?: number;
  openChannel?: OpenChannel;
  observe?: Partial<DeliveryObserver>;
}

const unobserved: DeliveryObserver = {
  lineConfirmed: () => {},
  attemptFailed: () => {},
  roomMissing: () => {},
  eventEnded: () => {},
};

const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
const limits = { maxRetries: 3, ttlMs: 3_600_000 };

/** Opens the log with all streams of the house, until the end of the test. */
export async function openLog(t: Teardown, urls: string, name = 'stage'): Promise<Log> {
  const log = await Log.open({ urls, name, streams, replicas: 1, maxBytes: 1_000_000_000, logger });
  t.teardown(() => log.close());
  return log;
}

/** Real servers, a witness in every channel, and all that is recorded about deliveries. */
export class Stage {
  readonly events = new Map<string, Published>();
  readonly outcomes = new Outcomes();

  private constructor(
    private readonly t: Test,
    readonly nats: TestNats,
    readonly log: Log,
    readonly irc: IrcPlace,
    readonly witness: Observer,
    readonly channels: string[],
  ) {
    t.teardown(this.outcomes.follow(log));
  }

  /** With an InspIRCd whose channels keep a history, as those that the service makes, or on the server given. */
  static async open(t: Test, channelCount: number, place?: IrcPlace): Promise<Stage> {
    const [nats, ircd] = await Promise.all([startNats(t), place ? undefined : startIrcd(t)]);
    const irc: IrcPlace = place ?? {
      port: ircd!.port,
      url: ircd!.url,
      pause: () => ircd!.pause(),
      resume: () => ircd!.resume(),
      password: ircd!.serverPassword,
      oper: { name: ircd!.operName, password: ircd!.operPassword },
    };
    const log = await openLog(t, nats.url);
    const witness = await observe(irc.port, {
      nick: 'witness',
      ...(irc.password ? { password: irc.password } : {}),
    });
    t.teardown(() => witness.stop());
    const channels = Array.from({ length: channelCount }, (_, n) => `#room-${n}`);
    const stage = new Stage(t, nats, log, irc, witness, channels);
    await stage.witness.join(...channels);
    if (ircd) {
      await witness.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
      await witness.ask(...channels.map((channel) => `SAMODE ${channel} +PHo 100:1d witness`));
    }
    return stage;
  }

  /** A started worker; its connections may lead through relays. */
  async start(options: WorkerOptions = {}): Promise<Worker> {
    const { irc: place, nats, t } = this;
    const { oper = true, ttlMs = limits.ttlMs, retryMs = 200, confirmTimeoutMs = 5_000 } = options;
    const log = await openLog(t, options.natsUrl ?? nats.url, 'worker');
    const irc = new IrcConnection({
      url: options.ircUrl ?? place.url,
      nick: 'em-bot',
      ...(place.password ? { password: place.password } : {}),
      ...(oper && place.oper ? { oper: place.oper } : {}),
      confirmTimeoutMs,
      ...(options.hands ? { hands: options.hands } : {}),
      log: logger,
    });
    const { openChannel, observe } = options;
    const deliver = new DeliverToIrc({
      log,
      irc,
      limits: { ...limits, ttlMs, retryMs },
      logger,
      ...(openChannel ? { openChannel } : {}),
      ...(observe ? { observe: { ...unobserved, ...observe } } : {}),
    });
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= deliver.stop().then(() => log.close());
      return stopped;
    };
    t.teardown(stop);
    deliver.start();
    return { deliver, log, irc, stop };
  }

  /** Appends events, many at a time, repeating each until it is on the log. */
  async publish(...drafts: Draft[]): Promise<void> {
    let next = 0;
    const append = async () => {
      for (let draft = drafts[next++]; draft; draft = drafts[next++]) await this.#append(draft);
    };
    await Promise.all(Array.from({ length: 256 }, append));
  }

  async #append({ id, channels, effects }: Draft): Promise<void> {
    const subject = marketSubject(eventToken(id));
    const data = {
      event_id: id,
      event_type: 'task.published',
      source: 'stage',
      payload: {},
      target_channels: channels,
      formatted_message: `${id} ${'x'.repeat(80)}`,
      ...(effects ? { effects } : {}),
    };
    for (;;) {
      try {
        const fact = { type: 'event.received' as const, data };
        const place = await this.log.appendOnce(market, subject, fact, { by: 'stage' });
        const seq = place?.seq ?? (await this.log.last(market, subject))!.seq;
        this.events.set(id, { id, channels, seq });
        return;
      } catch (error) {
        if ((error as { code?: string }).code !== 'log_unavailable') throw error;
      }
    }
  }

  /** What an operator does about a dead letter. */
  async redrive(id: string): Promise<void> {
    const event = { event_id: id, seq: this.events.get(id)!.seq, token: eventToken(id) };
    const { position } = await this.log.handle(
      delivery,
      deliveryDecider(limits),
      { is: 'redrive', event },
      { by: 'stage' },
    );
    await this.outcomes.until(() => this.outcomes.reached >= position.seq, 'the redrive to be recorded');
  }

  /** Waits until the witness has seen so many lines. */
  seen(lines: number): Promise<void> {
    return this.witness.waitUntil(() => this.witness.lines.length >= lines, `${lines} lines`);
  }

  /** Waits until every event has come to one of its ends. */
  settled(): Promise<void> {
    const all = () => this.outcomes.ended.size >= this.events.size;
    return this.outcomes.until(all, 'every event to come to an end');
  }

  /** How often a line was shown. */
  async times(id: string, channel: string): Promise<number> {
    await this.witness.ask(); // what the server has sent before is here then
    return this.witness.texts(channel).filter((text) => text.startsWith(`${id} `)).length;
  }

  /** Every line shown once, in the order of the log, and recorded once; `unless` tells which must not be there. */
  async judge(
    t: Test,
    options: {
      unless?: (id: string, channel: string) => boolean;
      channels?: string[];
      repeated?: boolean;
    } = {},
  ): Promise<void> {
    const { unless = () => false, channels = this.channels } = options;
    const wanted = new Map<string, string[]>(channels.map((channel) => [channel, []]));
    for (const event of [...this.events.values()].sort((a, b) => a.seq - b.seq)) {
      for (const channel of new Set(event.channels)) {
        if (!unless(event.id, channel)) wanted.get(channel)?.push(event.id);
      }
    }
    const lines = [...wanted.values()].reduce((sum, ids) => sum + ids.length, 0);
    await this.seen(lines).catch(() => undefined);
    await this.witness.ask(); // a line too many is here then
    const faults = {
      lost: [] as string[],
      twice: [] as string[],
      foreign: [] as string[],
      late: [] as string[],
    };
    for (const [channel, ids] of wanted) {
      const times = new Map<string, number>();
      let last = 0;
      for (const text of this.witness.texts(channel)) {
        const id = text.split(' ', 1)[0]!;
        const seq = this.events.get(id)?.seq ?? 0;
        if (!times.has(id) && seq < last) faults.late.push(`${id} ${channel}`);
        last = Math.max(last, seq);
        times.set(id, (times.get(id) ?? 0) + 1);
      }
      for (const [id, n] of times) if (n > 1) faults.twice.push(`${id} ${channel}`);
      for (const id of ids) if (!times.delete(id)) faults.lost.push(`${id} ${channel}`);
      for (const id of times.keys()) faults.foreign.push(`${id} ${channel}`);
    }
    for (const [fault, found] of Object.entries(faults))
      t.same(found.slice(0, 9), [], `${fault}: none of ${lines} lines`);
    const shown = [...wanted].flatMap(([channel, ids]) => ids.map((id) => `${id} ${channel}`));
    const unrecorded = shown.filter((line) => !this.outcomes.confirmed.has(line));
    t.same(unrecorded.slice(0, 9), [], 'every line is recorded as shown');
    if (options.repeated) return;
    const repeated = [...this.outcomes.confirmed].filter(([, times]) => times > 1);
    t.same(repeated.slice(0, 9), [], 'and none twice');
  }
}

type Single = Exclude<DeliveryFact, { type: 'lines.confirmed' }>;
type Dated<T extends Single['type']> = Extract<Single, { type: T }>['data'] & { at: Date };

/** What the delivery stream says, folded as it comes. */
export class Outcomes {
  /** How often a line was confirmed, by `event_id channel`. */
  readonly confirmed = new Map<string, number>();
  /** How many lines were found in a channel's history after a fault. */
  fromHistory = 0;
  /** The last word about an event. */
  readonly ended = new Map<string, 'delivered' | 'dead_letter' | 'expired'>();
  /** Sequence of the last fact that was folded. */
  reached = 0;
  readonly #facts: { fact: Single; at: Date }[] = [];
  readonly #checks = new Set<() => void>();

  /** Begins to read; what is returned ends it. */
  follow(log: Log): () => void {
    const reading = new AbortController();
    const read = async () => {
      for await (const entries of log.follow(delivery, { after: 0, batch: 5_000, signal: reading.signal })) {
        for (const entry of entries) {
          if (entry.subject.includes('unreadable')) continue;
          this.#fold(decodeFact(delivery, entry.data, entry), entry.at);
          this.reached = entry.seq;
        }
        for (const check of [...this.#checks]) check();
      }
    };
    void read();
    return () => reading.abort();
  }

  /** The facts of one type, of one event or of all. */
  of<T extends Single['type']>(type: T, id?: string): Dated<T>[] {
    return this.#facts
      .filter(({ fact }) => fact.type === type && (id === undefined || fact.data.event_id === id))
      .map(({ fact, at }) => ({ ...fact.data, at }) as unknown as Dated<T>);
  }

  /** Waits until a condition on what was recorded holds. */
  async until(condition: () => boolean, what: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const end = (how: () => void) => {
        clearTimeout(timer);
        this.#checks.delete(check);
        how();
      };
      const check = () => condition() && end(resolve);
      const timer = setTimeout(() => end(() => reject(new Error(`waited ${hangMs} ms for ${what}`))), hangMs);
      this.#checks.add(check);
      check();
    });
  }

  /** Waits until an event has come to an end. */
  end(id: string): Promise<void> {
    return this.until(() => this.ended.has(id), `${id} to come to an end`);
  }

  #fold(fact: DeliveryFact, at: Date): void {
    if (fact.type === 'lines.confirmed') {
      for (const { event_id, channel, via, completes } of fact.data.lines) {
        if (via === 'history') this.fromHistory += 1;
        const line = `${event_id} ${channel}`;
        this.confirmed.set(line, (this.confirmed.get(line) ?? 0) + 1);
        if (completes) this.ended.set(event_id, 'delivered');
      }
      return;
    }
    this.#facts.push({ fact, at });
    const { event_id } = fact.data;
    if (fact.type === 'event.dead_lettered') this.ended.set(event_id, 'dead_letter');
    else if (fact.type === 'event.expired') this.ended.set(event_id, 'expired');
    else if (fact.type === 'event.redriven') this.ended.delete(event_id);
  }
}

/** So many events that each go to one to three of the channels. */
export function drafts(prefix: string, count: number, channels: string[]): Draft[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `${prefix}${n}`,
    channels: Array.from({ length: 1 + (n % 3) }, (_, k) => channels[(n * 7 + k * 5) % channels.length]!),
  }));
}
