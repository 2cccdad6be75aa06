import type { ConsumerConfig, ConsumerInfo } from 'nats';
import type { Planned, World } from '../world.js';
import { isOneOf, type Stored, type StoredStream, type StreamWatcher } from './stored-stream.js';
import { matches } from './subjects.js';
import { nothing, status, type WireMessage } from './wire.js';

/** What a consumer needs of the server. */
export interface ConsumerHost {
  world: World;
  now(): number;
  /** Sends to whoever subscribed to a subject. */
  send(to: string, message: WireMessage): void;
  isHeard(subject: string): boolean;
  /** Removes a consumer that nobody asks any more. */
  expire(consumer: StoredConsumer): void;
}

/** A pull request that is not fulfilled yet. */
interface Waiting {
  reply: string;
  left: number;
  /** Infinity for one without an end. */
  expires: number;
  noWait: boolean;
  heartbeatMs: number;
  nextHeartbeat: number;
}

interface PullRequest {
  batch?: number;
  expires?: number;
  no_wait?: boolean;
  idle_heartbeat?: number;
}

interface Delivered {
  deliverySeq: number;
  at: number;
}

/** What a server writes down of a consumer, and has when it starts again. */
export interface ConsumerState {
  nextSeq: number;
  nextDelivery: number;
  floor: { consumer: number; stream: number };
  unacknowledged: [seq: number, delivered: Delivered][];
  deliveries: [seq: number, count: number][];
}

const usualMaxWaiting = 512;

/** A pull consumer: hands messages to those who ask, and knows which were acknowledged. */
export class StoredConsumer implements StreamWatcher {
  readonly stream: StoredStream;
  readonly name: string;
  readonly created: number;
  config: ConsumerConfig;
  readonly #host: ConsumerHost;
  readonly #filters: readonly string[];
  /** Sequence of the next message to look at, and of the next delivery. */
  #nextSeq: number;
  #nextDelivery = 1;
  #floor: { consumer: number; stream: number };
  #pendingCount: number;
  /** Where only the last message of each subject is wanted: those that are left. */
  #wanted: Set<number> | undefined;
  #waiting: Waiting[] = [];
  #unacknowledged = new Map<number, Delivered>();
  #deliveries = new Map<number, number>();
  #again: number[] = [];
  #clock: Planned | undefined;
  #redeliveryClock: Planned | undefined;
  #inactivity: Planned | undefined;
  #askedAt: number;

  constructor(host: ConsumerHost, stream: StoredStream, name: string, config: ConsumerConfig) {
    this.#host = host;
    this.name = name;
    this.stream = stream;
    this.config = config;
    this.created = host.now();
    this.#filters = filtersOf(config);
    this.#nextSeq = this.#firstWanted();
    this.#floor = { consumer: 0, stream: 0 };
    this.#pendingCount = this.#wanted?.size ?? stream.countFrom(this.#nextSeq, this.#filters);
    this.#askedAt = host.world.now;
    stream.watchers.add(this);
    this.#watchInactivity();
  }

  info(): Partial<ConsumerInfo> & { ts: string } {
    const { stream, config, name } = this;
    return {
      stream_name: stream.config.name,
      name,
      created: new Date(this.created).toISOString() as never,
      config,
      delivered: { consumer_seq: this.#nextDelivery - 1, stream_seq: this.#nextSeq - 1 } as never,
      ack_floor: { consumer_seq: this.#floor.consumer, stream_seq: this.#floor.stream } as never,
      num_ack_pending: this.#unacknowledged.size,
      num_redelivered: this.#deliveries.size,
      num_waiting: this.#waiting.filter(({ reply }) => this.#host.isHeard(reply)).length,
      num_pending: this.#pendingCount,
      ts: new Date(this.#host.now()).toISOString(),
    };
  }

  /** A request for messages, from whoever listens at `reply`. */
  ask(body: string, reply: string): void {
    const request = requestOf(body);
    const say = (code: number, description: string) => this.#say(reply, status(code, description));
    if (!request) {
      say(400, 'Bad Request');
      return;
    }
    const now = this.#host.world.now;
    const heartbeatMs = (request.idle_heartbeat ?? 0) / 1e6;
    const expiresMs = (request.expires ?? 0) / 1e6;
    if (heartbeatMs > 0 && (expiresMs === 0 || heartbeatMs * 2 > expiresMs)) {
      say(400, 'Bad Request - heartbeat value too large');
      return;
    }
    this.#askedAt = now;
    if (this.#waiting.length >= (this.config.max_waiting ?? usualMaxWaiting)) {
      this.#dropLost();
      if (this.#waiting.length >= (this.config.max_waiting ?? usualMaxWaiting)) {
        say(409, 'Exceeded MaxWaiting');
        return;
      }
    }
    const batch = request.batch ?? 1;
    this.#waiting.push({
      reply,
      left: batch > 0 ? batch : 1,
      expires: expiresMs > 0 ? now + expiresMs : Number.POSITIVE_INFINITY,
      noWait: request.no_wait === true,
      heartbeatMs,
      nextHeartbeat: heartbeatMs > 0 ? now + heartbeatMs : Number.POSITIVE_INFINITY,
    });
    this.#deliver();
  }

  /** What came on the subject that acknowledges a delivery. */
  acknowledge(seq: number, deliverySeq: number, body: string, ask: (body: string) => void): void {
    if (body === '' || body.startsWith('+ACK') || body.startsWith('+NXT')) {
      this.#acknowledged(seq, deliverySeq);
      if (body.startsWith('+NXT')) ask(body.slice(4).trim());
    } else if (body.startsWith('-NAK')) this.#refused(seq, body.slice(4).trim());
    else if (body.startsWith('+WPI')) {
      const delivered = this.#unacknowledged.get(seq);
      if (delivered) delivered.at = this.#host.world.now;
    } else if (body.startsWith('+TERM')) this.#done(seq);
    this.#deliver();
  }

  stored(message: Stored): void {
    if (!isOneOf(this.#filters, message.subject)) return;
    this.#pendingCount += 1;
    if (this.#waiting.length > 0) this.#deliver();
  }

  removed(message: Stored): void {
    const { seq, subject } = message;
    if (this.#wanted ? this.#wanted.delete(seq) : seq >= this.#nextSeq && isOneOf(this.#filters, subject))
      this.#pendingCount -= 1;
    if (this.#unacknowledged.has(seq)) this.#done(seq);
  }

  /** Messages of a subject were purged, or of all; where what is left of them begins is of interest then. */
  purged(subject: string | undefined): void {
    const { stream } = this;
    let from = stream.firstSeq;
    let isWider = false;
    if (subject !== undefined && subject !== '>') {
      const isInside = this.#filters.length > 0 && this.#filters.every((filter) => matches(subject, filter));
      if (isInside) from = stream.next(1, [subject])?.seq ?? stream.lastSeq + 1;
      else if (this.#filters.length > 0 && !this.#filters.some((filter) => matches(filter, subject))) return;
      else isWider = true;
    }
    this.#nextSeq = Math.max(this.#nextSeq, from);
    this.#floor.stream = Math.max(this.#floor.stream, from - 1);
    for (const [seq, { deliverySeq }] of this.#unacknowledged) {
      if (seq > this.#floor.stream && !(isWider && !stream.get(seq))) continue;
      this.#floor.consumer = Math.max(this.#floor.consumer, deliverySeq);
      this.#unacknowledged.delete(seq);
      this.#deliveries.delete(seq);
    }
    if (this.#unacknowledged.size === 0)
      this.#floor = { consumer: this.#nextDelivery - 1, stream: this.#nextSeq - 1 };
    this.#pendingCount = stream.countFrom(this.#nextSeq, this.#filters);
  }

  /** What the server has on disk of it. */
  get state(): ConsumerState {
    return {
      nextSeq: this.#nextSeq,
      nextDelivery: this.#nextDelivery,
      floor: { ...this.#floor },
      unacknowledged: [...this.#unacknowledged].map(([seq, delivered]) => [seq, { ...delivered }]),
      deliveries: [...this.#deliveries],
    };
  }

  /** Begins from what was written down, with nobody waiting. What is not acknowledged is handed out again when its time is over. */
  recover(state: ConsumerState): void {
    this.forgetRequests();
    const { lastSeq } = this.stream;
    this.#nextSeq = Math.min(state.nextSeq, Math.max(lastSeq + 1, 1));
    this.#nextDelivery = state.nextDelivery;
    this.#floor = { ...state.floor, stream: Math.min(state.floor.stream, lastSeq) };
    this.#unacknowledged = new Map(state.unacknowledged.filter(([seq]) => this.stream.get(seq)));
    this.#deliveries = new Map(state.deliveries.filter(([seq]) => this.stream.get(seq)));
    this.#again = [];
    this.#pendingCount = this.#wanted?.size ?? this.stream.countFrom(this.#nextSeq, this.#filters);
    this.#watchRedelivery();
    this.#watchInactivity();
  }

  /** Loses who asked, with a word to them or without. */
  forgetRequests(word?: string): void {
    for (const { reply } of this.#waiting.splice(0)) if (word) this.#say(reply, status(409, word));
    this.#plan();
  }

  /** Ends it; whoever asked is told why, where there is a reason. */
  close(word?: string): void {
    this.stream.watchers.delete(this);
    this.forgetRequests(word);
    for (const planned of [this.#clock, this.#redeliveryClock, this.#inactivity])
      if (planned) planned.cancelled = true;
  }

  #firstWanted(): number {
    const { stream, config } = this;
    const { firstSeq, lastSeq } = stream;
    switch (config.deliver_policy) {
      case 'new':
        return lastSeq + 1;
      case 'last':
        return lastOfAny(stream, this.#filters) ?? lastSeq + 1;
      case 'last_per_subject': {
        const wanted = stream.lastPerSubject(this.#filters);
        this.#wanted = new Set(wanted);
        return wanted[0] ?? lastSeq + 1;
      }
      case 'by_start_sequence':
        return Math.min(Math.max(config.opt_start_seq ?? 1, firstSeq), lastSeq + 1);
      case 'by_start_time': {
        const from = Date.parse(config.opt_start_time ?? '');
        for (let seq = firstSeq; seq <= lastSeq; seq++) if ((stream.get(seq)?.at ?? 0) >= from) return seq;
        return lastSeq + 1;
      }
      default:
        return firstSeq;
    }
  }

  #deliver(): void {
    for (;;) {
      if (this.#waiting.length === 0) break;
      const message = this.#takeNext();
      if (!message) break;
      const request = this.#nextRequest();
      if (!request) {
        this.#putBack(message);
        break;
      }
      this.#handOut(message, request);
    }
    for (const request of this.#waiting.filter(({ noWait }) => noWait)) {
      this.#waiting.splice(this.#waiting.indexOf(request), 1);
      this.#say(request.reply, status(404, 'No Messages'));
    }
    this.#plan();
  }

  #takeNext(): Stored | undefined {
    const { max_ack_pending = -1, max_deliver = -1, ack_policy } = this.config;
    for (let seq = this.#again.shift(); seq !== undefined; seq = this.#again.shift()) {
      const message = this.stream.get(seq);
      const count = (this.#deliveries.get(seq) ?? 1) + 1;
      if (max_deliver > 0 && count > max_deliver) {
        this.#unacknowledged.delete(seq);
        continue;
      }
      if (!message) continue;
      this.#deliveries.set(seq, count);
      return message;
    }
    if (ack_policy !== 'none' && max_ack_pending > 0 && this.#unacknowledged.size >= max_ack_pending)
      return undefined;
    if (this.#wanted) {
      const [seq] = this.#wanted;
      if (seq !== undefined) {
        this.#wanted.delete(seq);
        this.#nextSeq = seq + 1;
        this.#pendingCount -= 1;
        if (this.#wanted.size === 0) this.#wanted = undefined;
        return this.stream.get(seq);
      }
    }
    const message = this.stream.next(this.#nextSeq, this.#filters);
    if (!message) {
      this.#nextSeq = Math.max(this.#nextSeq, this.stream.lastSeq + 1);
      return undefined;
    }
    this.#nextSeq = message.seq + 1;
    this.#pendingCount -= 1;
    return message;
  }

  /** Nobody could be given it after all. */
  #putBack({ seq }: Stored): void {
    const count = this.#deliveries.get(seq);
    if (count !== undefined) {
      if (count > 2) this.#deliveries.set(seq, count - 1);
      else this.#deliveries.delete(seq);
      this.#again.unshift(seq);
      return;
    }
    this.#nextSeq = seq;
    this.#pendingCount += 1;
  }

  /** Whose turn it is: each gets one message, then the next one does. */
  #nextRequest(): Waiting | undefined {
    for (let request = this.#waiting.shift(); request; request = this.#waiting.shift()) {
      if (request.expires <= this.#host.world.now) this.#expired(request);
      else if (this.#host.isHeard(request.reply)) {
        request.left -= 1;
        if (request.left > 0) this.#waiting.push(request);
        return request;
      }
    }
    return undefined;
  }

  #handOut({ seq, subject, data, headers, at }: Stored, request: Waiting): void {
    const { name } = this;
    const { ack_policy } = this.config;
    const { now } = this.#host.world;
    const deliverySeq = this.#nextDelivery++;
    const count = this.#deliveries.get(seq) ?? 1;
    if (request.heartbeatMs > 0) request.nextHeartbeat = now + request.heartbeatMs;
    if (ack_policy === 'none') this.#floor = { consumer: deliverySeq, stream: seq };
    else {
      const before = this.#unacknowledged.get(seq);
      if (before) before.at = now;
      else this.#unacknowledged.set(seq, { deliverySeq, at: now });
      if (!this.#redeliveryClock) this.#watchRedelivery();
    }
    const place = `${count}.${seq}.${deliverySeq}.${at}000000.${this.#pendingCount}`;
    const reply = `$JS.ACK.${this.stream.config.name}.${name}.${place}`;
    this.#host.send(request.reply, { subject, reply, data, headers });
  }

  #acknowledged(seq: number, deliverySeq: number): void {
    if (seq >= this.#nextSeq) return;
    const delivered = this.#unacknowledged.get(seq);
    if (this.config.ack_policy === 'all') {
      if (seq <= this.#floor.stream) return;
      const upTo = delivered?.deliverySeq ?? deliverySeq;
      for (const one of [...this.#unacknowledged.keys()]) {
        if (one > seq) continue;
        this.#unacknowledged.delete(one);
        this.#deliveries.delete(one);
      }
      this.#again = this.#again.filter((one) => one > seq);
      this.#floor = { consumer: upTo, stream: seq };
    } else if (this.config.ack_policy === 'explicit' && delivered) this.#done(seq);
  }

  /** One message is through, however it came to that. */
  #done(seq: number): void {
    const delivered = this.#unacknowledged.get(seq);
    if (!delivered) return;
    if (this.config.ack_policy === 'all') {
      this.#acknowledged(seq, delivered.deliverySeq);
      return;
    }
    this.#unacknowledged.delete(seq);
    this.#deliveries.delete(seq);
    this.#again = this.#again.filter((one) => one !== seq);
    if (this.#unacknowledged.size === 0) {
      this.#floor = { consumer: this.#nextDelivery - 1, stream: this.#nextSeq - 1 };
    } else if (delivered.deliverySeq === this.#floor.consumer + 1) {
      this.#floor = { consumer: delivered.deliverySeq, stream: seq };
      for (let next = seq + 1; next < this.#nextSeq; next++) {
        const open = this.#unacknowledged.get(next);
        if (!open) continue;
        this.#floor = { consumer: open.deliverySeq - 1, stream: next - 1 };
        break;
      }
    }
  }

  #refused(seq: number, delay: string): void {
    if (!this.#unacknowledged.has(seq)) return;
    const delayMs = delay.startsWith('{') ? ((JSON.parse(delay) as { delay?: number }).delay ?? 0) / 1e6 : 0;
    if (delayMs > 0) {
      const waitMs = (this.config.ack_wait ?? 0) / 1e6;
      this.#unacknowledged.get(seq)!.at = this.#host.world.now - waitMs + delayMs;
      this.#watchRedelivery();
    } else if (!this.#again.includes(seq)) this.#again.push(seq);
  }

  #watchRedelivery(): void {
    if (this.#redeliveryClock) this.#redeliveryClock.cancelled = true;
    this.#redeliveryClock = undefined;
    const waitMs = (this.config.ack_wait ?? 0) / 1e6;
    let oldest = Number.POSITIVE_INFINITY;
    for (const [seq, { at }] of this.#unacknowledged)
      if (!this.#again.includes(seq)) oldest = Math.min(oldest, at);
    if (waitMs <= 0 || oldest === Number.POSITIVE_INFINITY) return;
    const { world } = this.#host;
    this.#redeliveryClock = world.after(oldest + waitMs - world.now, () => {
      this.#redeliveryClock = undefined;
      const due = [...this.#unacknowledged].filter(
        ([seq, { at }]) => at + waitMs <= world.now && !this.#again.includes(seq),
      );
      this.#again.push(...due.map(([seq]) => seq).sort((a, b) => a - b));
      this.#deliver();
      this.#watchRedelivery();
    });
  }

  #expired({ reply, left }: Waiting): void {
    const more = { 'Nats-Pending-Messages': String(left), 'Nats-Pending-Bytes': '0' };
    this.#say(reply, status(408, 'Request Timeout', more));
  }

  #dropLost(): void {
    this.#waiting = this.#waiting.filter(({ reply }) => this.#host.isHeard(reply));
  }

  /** Plans the next heartbeat or the next end of a request. */
  #plan(): void {
    let due = Number.POSITIVE_INFINITY;
    for (const { expires, nextHeartbeat } of this.#waiting) due = Math.min(due, expires, nextHeartbeat);
    // one that comes too early plans the next one
    if (this.#clock && this.#clock.at <= due && due < Number.POSITIVE_INFINITY) return;
    if (this.#clock) this.#clock.cancelled = true;
    this.#clock = undefined;
    if (due === Number.POSITIVE_INFINITY) return;
    const { world } = this.#host;
    this.#clock = world.after(due - world.now, () => {
      this.#clock = undefined;
      this.#dropLost();
      for (const request of [...this.#waiting]) {
        if (request.expires <= world.now) {
          this.#waiting.splice(this.#waiting.indexOf(request), 1);
          this.#expired(request);
        } else if (request.nextHeartbeat <= world.now) {
          request.nextHeartbeat = world.now + request.heartbeatMs;
          const more = {
            'Nats-Last-Consumer': String(this.#nextDelivery - 1),
            'Nats-Last-Stream': String(this.#nextSeq - 1),
          };
          this.#say(request.reply, status(100, 'Idle Heartbeat', more));
        }
      }
      this.#plan();
    });
  }

  #watchInactivity(): void {
    if (this.#inactivity) this.#inactivity.cancelled = true;
    this.#inactivity = undefined;
    const boundMs = (this.config.inactive_threshold ?? 0) / 1e6;
    if (boundMs <= 0) return;
    const { world } = this.#host;
    this.#inactivity = world.after(Math.max(1, this.#askedAt + boundMs - world.now), () => {
      this.#dropLost();
      if (this.#waiting.length > 0) this.#askedAt = world.now;
      if (world.now - this.#askedAt >= boundMs) this.#host.expire(this);
      else this.#watchInactivity();
    });
  }

  #say(reply: string, headers: ReturnType<typeof status>): void {
    this.#host.send(reply, { subject: reply, reply: '', data: nothing, headers });
  }
}

/** The subjects that a consumer wants; none where it wants all. */
export function filtersOf(config: Partial<ConsumerConfig>): string[] {
  if (config.filter_subjects) return config.filter_subjects;
  return config.filter_subject ? [config.filter_subject] : [];
}

function lastOfAny(stream: StoredStream, filters: readonly string[]): number | undefined {
  const patterns = filters.length > 0 ? filters : ['>'];
  const found = patterns.map((pattern) => stream.lastOf(pattern)?.seq ?? 0);
  return Math.max(...found) || undefined;
}

function requestOf(body: string): PullRequest | undefined {
  if (body === '') return {};
  if (/^\d+$/.test(body)) return { batch: Number(body) };
  try {
    return JSON.parse(body) as PullRequest;
  } catch {
    return undefined;
  }
}
