import type {
  ConnectionOptions,
  ConsumerConfig,
  ConsumerInfo,
  MsgHdrs,
  NatsConnection,
  StreamConfig,
} from 'nats';
import { NatsError } from 'nats';
import { floorOf, namesOf } from '../../../workers/core/durable-consumer.js';
import type { World } from '../world.js';
import { type ApiHost, answerApi, findMessage, type Kept } from './api.js';
import { connectTo, type Reachable } from './client.js';
import { Groups, placeInGroup, type TakenGroup } from './groups.js';
import { type ClientEnd, Link, type Subscribed, type ToServer } from './link.js';
import type { Latency } from './pipe.js';
import { type ConsumerState, StoredConsumer } from './stored-consumer.js';
import { type ApiError, type Stored, StoredStream } from './stored-stream.js';
import { Interest, matches } from './subjects.js';
import { bytesOf, headersFrom, nothing, status, textOf, type WireMessage } from './wire.js';

/** The settings of a simulated log server. */
export interface SimulatedLogServerOptions {
  /** How long a message is on its way between a client and the server. */
  latency?: Latency;
  /** Whether what is acknowledged is on disk, as in production's configuration. */
  sync?: 'always' | 'sometimes';
  /**
   * Whether it behaves like 2.15 or like 2.10. The newer one stores messages together if a stream allows it.
   * It refuses a repeated append with a stale expectation; the older one recognises it by its id.
   */
  isNew?: boolean;
}

const usualLatency: Latency = { least: 0.1, most: 2 };
/** What the server knows of its consumers is on disk after this time at the latest. */
const consumerFlushMs = 1_000;

/** The texts with which a server that cannot store refuses. */
export const refusals = {
  diskFull: { code: 503, err_code: 10077, description: 'write msgs/1.blk: no space left on device' },
  noRoom: { code: 503, err_code: 10023, description: 'insufficient resources' },
} as const satisfies Record<string, ApiError>;

/**
 * A NATS server with JetStream in memory, in simulated time. Clients are connections of the client library
 * whose messages are objects and take a while. It has one method for each fault.
 */
export class SimulatedLogServer implements ApiHost, Reachable {
  readonly version: string;
  readonly streams = new Map<string, Kept>();
  /** How much this server's clock is ahead of the world's, in milliseconds. */
  clockOffsetMs = 0;
  /** Messages that went either way. */
  messages = 0;
  readonly #world: World;
  readonly #sync: 'always' | 'sometimes';
  readonly #isNew: boolean;
  readonly #groups = new Map<StoredStream, Groups>();
  readonly #links = new Set<Link>();
  readonly #interest = new Interest<Subscribed>();
  readonly #written = new Map<StoredConsumer, { at: number; state: ConsumerState }>();
  readonly #synced = new Map<StoredStream, number>();
  #latency: Latency;
  #running = true;
  #frozen = false;
  #answersToLose = 0;
  #partitionMs = 0;
  /** Names of clients that cannot connect, and until when. */
  readonly #partitioned = new Map<string, number>();
  /** Names whose clients are gone for ever. */
  readonly #dead = new Set<string>();
  #refusal: { error: ApiError; until: number } | undefined;
  /** Streams without a leader, and until when. */
  readonly #leaderless = new Map<string, number>();

  constructor(world: World, options: SimulatedLogServerOptions = {}) {
    this.#world = world;
    this.#latency = options.latency ?? usualLatency;
    this.#sync = options.sync ?? 'always';
    this.#isNew = options.isNew ?? false;
    this.version = this.#isNew ? '2.15.1' : '2.10.27';
  }

  /** The time by this server's clock, in whole milliseconds. */
  now(): number {
    return Math.floor(this.#world.now + this.clockOffsetMs);
  }

  get running(): boolean {
    return this.#running;
  }

  /** A connection of a client that reconnects, as in processes of the product. */
  connect(name: string, options: ConnectionOptions = {}): Promise<NatsConnection> {
    return connectTo(this, {
      name,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      reconnectJitter: 150,
      pingInterval: 5_000,
      maxPingOut: 2,
      timeout: 5_000,
      noAsyncTraces: true,
      ...options,
    });
  }

  /** The links of clients with a name; all of them without a name. */
  links(name?: string): Link[] {
    return [...this.#links].filter((link) => name === undefined || link.name === name);
  }

  /** Sequence up to which a worker's position says that all is acknowledged. */
  positionOf(stream: string, durable: string): number {
    const consumers = [...(this.streams.get(stream)?.consumers.values() ?? [])];
    const own = consumers.filter(({ name }) => namesOf(durable).includes(name));
    return Math.max(0, ...own.map((consumer) => floorOf(consumer.info() as ConsumerInfo)));
  }

  /** Durable consumers that have not come to the end of their streams, with how much they have left and in hand. */
  unfinished(): string[] {
    return [...this.streams.values()].flatMap(({ consumers }) =>
      [...consumers.values()].flatMap((consumer) => {
        const { name, config, num_pending: left = 0, num_ack_pending: inHand = 0 } = consumer.info();
        const isOver = config?.durable_name === undefined || left + inHand === 0;
        return isOver ? [] : [`${name}: ${left} left, ${inHand} in hand`];
      }),
    );
  }

  // Faults

  /** Ends the server; what was on its way is lost. */
  stop(options: { unsyncedLost?: boolean } = {}): void {
    if (!this.#running) return;
    this.#running = false;
    for (const link of this.#links) link.cut(this.#draw(), 0, () => this.#forget(link));
    this.#groups.clear();
    for (const kept of [...this.streams.values()]) this.#stopStream(kept, options.unsyncedLost === true);
  }

  /** Starts it again, with what was on its disk. */
  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.thaw();
    for (const { stream, consumers } of this.streams.values()) {
      stream.recover();
      for (const consumer of consumers.values())
        consumer.recover(this.#written.get(consumer)?.state ?? consumer.state);
    }
  }

  /** Reads and answers nothing, with all connections open, until `thaw`. */
  freeze(): void {
    this.#frozen = true;
    for (const link of this.#links) link.freeze();
  }

  thaw(): void {
    this.#frozen = false;
    for (const link of this.#links) link.thaw();
  }

  /** Cuts connections. A client that does not hear of it in time notices by its pings. */
  cut(links: Link[], clientAfterMs: number | undefined = 0, serverAfterMs = 0): void {
    for (const link of links) link.cut(clientAfterMs, serverAfterMs, () => this.#forget(link));
  }

  /** A process is gone: its connections are cut, and none of its name comes again. */
  bury(name: string): void {
    this.#dead.add(name);
    this.cut(this.links(name));
  }

  /** The answers to the next appends are lost after these were stored. */
  loseAnswers(count: number): void {
    this.#answersToLose += count;
  }

  /** The next append is stored, and its client is cut off for this time before it hears of it. */
  partitionBehindAppend(ms: number): void {
    this.#partitionMs = ms;
  }

  /** Stores nothing for a while, and says why. */
  refuse(error: ApiError, ms: number): void {
    this.#refusal = { error, until: this.#world.now + ms };
  }

  /** Messages take this long from now on; the usual time by default. */
  slow(latency: Latency = usualLatency): void {
    this.#latency = latency;
  }

  /** A stream has no leader for a while: nobody answers for it. Its consumers' requests are gone afterwards. */
  moveLeader(name: string, ms: number, word?: string): void {
    const kept = this.streams.get(name);
    if (!kept) return;
    this.#leaderless.set(name, this.#world.now + ms);
    for (const consumer of kept.consumers.values()) consumer.forgetRequests(word);
  }

  /** Consumers that live in memory are gone, as after a restart of the server that had them. */
  loseEphemerals(word?: string): void {
    for (const { consumers } of this.streams.values())
      for (const consumer of [...consumers.values()])
        if (consumer.config.mem_storage) this.removeConsumer(consumer, word);
  }

  /** Ends every fault that lasts. */
  heal(): void {
    this.#partitionMs = 0;
    this.#partitioned.clear();
    this.#leaderless.clear();
    this.#refusal = undefined;
    this.#answersToLose = 0;
    this.start();
    this.thaw();
    this.slow();
  }

  /** Ends everything that it still plans. */
  close(): void {
    for (const { stream, consumers } of this.streams.values()) {
      for (const consumer of consumers.values()) consumer.close();
      stream.close();
    }
  }

  // Connections

  async accept(name: string, client: ClientEnd): Promise<Link> {
    await this.#later(this.#draw() + this.#draw());
    const isCutOff = this.#dead.has(name) || (this.#partitioned.get(name) ?? 0) > this.#world.now;
    if (!this.#running || isCutOff) throw new NatsError('connect ECONNREFUSED', 'CONNECTION_REFUSED');
    const link = new Link(this.#world, {
      name,
      client,
      latency: () => this.#latency,
      server: (from, message) => this.#receive(from, message),
    });
    this.#links.add(link);
    if (this.#frozen) link.freeze();
    return link;
  }

  send(to: string, message: WireMessage): void {
    for (const subscribed of this.#interest.of(to)) this.#tell(subscribed, message);
  }

  isHeard(subject: string): boolean {
    return this.#interest.of(subject).length > 0;
  }

  #receive(link: Link, message: ToServer): void {
    if (!this.#running || !link.isServed) return;
    this.messages += 1;
    switch (message.is) {
      case 'publish':
        this.#publish(link, message.message);
        break;
      case 'subscribe': {
        const { sid, subject, queue } = message;
        if (link.subscriptions.has(sid)) break;
        const subscribed = { link, sid, subject, queue, received: 0, most: undefined };
        link.subscriptions.set(sid, subscribed);
        this.#interest.add(subscribed);
        break;
      }
      case 'unsubscribe': {
        const subscribed = link.subscriptions.get(message.sid);
        if (!subscribed) break;
        subscribed.most = message.after;
        if (message.after === undefined || subscribed.received >= message.after)
          this.#unsubscribe(subscribed);
        break;
      }
      case 'ping':
        link.toClient({ is: 'pong' });
        break;
      case 'end':
        link.ended();
        this.#forget(link);
    }
  }

  #publish(link: Link, message: WireMessage): void {
    const { subject, reply, data } = message;
    if (subject.startsWith('$JS.')) {
      if (subject.startsWith('$JS.ACK.')) this.#acknowledge(subject, data, reply);
      else if (subject.startsWith('$JS.API.')) this.#request(subject.slice(8), data, reply);
      return;
    }
    const heard = this.#tellAll(subject, message);
    const kept = this.#streamOf(subject);
    if (kept) this.#store(kept, message, link);
    else if (!heard && reply)
      this.send(reply, {
        subject: reply,
        reply: '',
        data: nothing,
        headers: status(503, ''),
      });
  }

  /** Tells all subscribers; in a queue group, any one of them. */
  #tellAll(subject: string, message: WireMessage): boolean {
    const groups = new Map<string, Subscribed[]>();
    const found = this.#interest.of(subject);
    for (const subscribed of found) {
      if (subscribed.queue === undefined) this.#tell(subscribed, message);
      else groups.set(subscribed.queue, [...(groups.get(subscribed.queue) ?? []), subscribed]);
    }
    for (const group of groups.values()) this.#tell(this.#world.random.pick(group), message);
    return found.length > 0;
  }

  #tell(subscribed: Subscribed, message: WireMessage): void {
    this.messages += 1;
    subscribed.received += 1;
    subscribed.link.toClient({ is: 'message', sid: subscribed.sid, message });
    if (subscribed.most !== undefined && subscribed.received >= subscribed.most)
      this.#unsubscribe(subscribed);
  }

  #unsubscribe(subscribed: Subscribed): void {
    subscribed.link.subscriptions.delete(subscribed.sid);
    this.#interest.remove(subscribed);
  }

  #forget(link: Link): void {
    this.#links.delete(link);
    for (const subscribed of [...link.subscriptions.values()]) this.#unsubscribe(subscribed);
  }

  // JetStream

  #streamOf(subject: string): Kept | undefined {
    for (const kept of this.streams.values())
      if (kept.stream.config.subjects.some((pattern) => matches(pattern, subject))) return kept;
    return undefined;
  }

  #store({ stream }: Kept, message: WireMessage, link: Link): void {
    const { name } = stream.config;
    if (this.#isLeaderless(name)) return;
    const refusal = this.#refusal && this.#refusal.until > this.#world.now ? this.#refusal.error : undefined;
    const taken = this.#take(stream, message, refusal);
    if (!taken) return;
    if (this.#sync === 'always') this.#synced.set(stream, stream.lastSeq);
    if (!message.reply) return;
    if (this.#partitionMs > 0) {
      this.#partitioned.set(link.name, this.#world.now + this.#partitionMs);
      this.#partitionMs = 0;
      this.cut([link]);
      return;
    }
    if (this.#answersToLose > 0) {
      this.#answersToLose -= 1;
      return;
    }
    const text =
      'err_code' in taken
        ? JSON.stringify({ error: taken, stream: name, seq: 0 })
        : JSON.stringify({ stream: name, ...taken, duplicate: taken.duplicate || undefined });
    this.#answer(message.reply, bytesOf(text));
  }

  #take(stream: StoredStream, message: WireMessage, refusal?: ApiError): TakenGroup | undefined {
    const place = this.#isNew ? placeInGroup(message) : undefined;
    if (!place) return stream.take(message, refusal);
    let groups = this.#groups.get(stream);
    if (!groups) {
      groups = new Groups(stream, () => this.#world.now);
      this.#groups.set(stream, groups);
    }
    return groups.take(message, place, refusal);
  }

  #request(operation: string, data: Uint8Array, reply: string): void {
    if (operation.startsWith('DIRECT.GET.')) {
      this.#direct(operation.slice(11), data, reply);
      return;
    }
    if (operation.startsWith('CONSUMER.MSG.NEXT.')) {
      const [stream = '', name = ''] = operation.slice(18).split('.');
      const consumer = this.#isLeaderless(stream) ? undefined : this.streams.get(stream)?.consumers.get(name);
      if (consumer) consumer.ask(textOf(data), reply);
      else if (!this.#isLeaderless(stream)) this.#nobody(reply);
      return;
    }
    const stream = operation.split('.').find((token) => this.streams.has(token));
    if (stream && this.#isLeaderless(stream)) return;
    const answer = answerApi(this, operation, textOf(data));
    if (answer) this.#answer(reply, bytesOf(JSON.stringify(answer)));
    else this.#nobody(reply);
  }

  #direct(place: string, data: Uint8Array, reply: string): void {
    const [name = '', ...subject] = place.split('.');
    const kept = this.streams.get(name);
    if (kept && this.#isLeaderless(name)) return;
    if (!kept?.stream.config.allow_direct) {
      this.#nobody(reply);
      return;
    }
    const query =
      subject.length > 0 ? { last_by_subj: subject.join('.') } : (JSON.parse(textOf(data)) as object);
    if (this.#isNew && 'multi_last' in query) {
      this.#directLast(kept.stream, query.multi_last as string[], reply);
      return;
    }
    const isEmpty = Object.values(query).every((value) => value === 0);
    const found = isEmpty ? undefined : findMessage(kept.stream, query);
    if (found) this.#directMessage(name, found, reply);
    else this.#directStatus(reply, isEmpty ? status(408, 'Empty Request') : status(404, 'Message Not Found'));
  }

  /** The last message of each subject, and that this was all. */
  #directLast(stream: StoredStream, subjects: string[], reply: string): void {
    const found = stream.lastPerSubject(subjects);
    for (const seq of found) this.#directMessage(stream.config.name, stream.get(seq)!, reply);
    this.#directStatus(reply, found.length > 0 ? status(204, 'EOB') : status(404, 'No Results'));
  }

  #directStatus(reply: string, headers: MsgHdrs): void {
    this.send(reply, { subject: reply, reply: '', data: nothing, headers });
  }

  #directMessage(name: string, found: Stored, reply: string): void {
    const own = {
      'Nats-Stream': name,
      'Nats-Subject': found.subject,
      'Nats-Sequence': String(found.seq),
      'Nats-Time-Stamp': new Date(found.at).toISOString(),
    };
    this.send(reply, {
      subject: reply,
      reply: '',
      data: found.data,
      headers: headersFrom(own, found.headers),
    });
  }

  /** `$JS.ACK.<stream>.<consumer>.<delivered>.<seq>.<delivery seq>.<time>.<pending>` */
  #acknowledge(subject: string, data: Uint8Array, reply: string): void {
    const [, , stream = '', name = '', , seq, deliverySeq] = subject.split('.');
    if (this.#isLeaderless(stream)) return;
    const consumer = this.streams.get(stream)?.consumers.get(name);
    if (!consumer) return;
    consumer.acknowledge(Number(seq), Number(deliverySeq), textOf(data), (body) => consumer.ask(body, reply));
    this.#write(consumer);
    if (reply) this.#answer(reply, nothing);
  }

  #answer(reply: string, data: Uint8Array): void {
    if (reply) this.send(reply, { subject: reply, reply: '', data, headers: undefined });
  }

  #nobody(reply: string): void {
    const headers = status(503, '');
    if (reply) this.send(reply, { subject: reply, reply: '', data: nothing, headers });
  }

  #isLeaderless(stream: string): boolean {
    const until = this.#leaderless.get(stream);
    if (until === undefined) return false;
    if (until > this.#world.now) return true;
    this.#leaderless.delete(stream);
    return false;
  }

  // What the API does

  newName(): string {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
    return Array.from({ length: 8 }, () => letters[this.#world.random.int(0, letters.length - 1)]).join('');
  }

  addStream(config: StreamConfig): Kept {
    const stream = new StoredStream(this.#world, () => this.now(), config, this.#isNew);
    const kept = { stream, consumers: new Map<string, StoredConsumer>() };
    this.streams.set(config.name, kept);
    return kept;
  }

  removeStream(name: string): void {
    const kept = this.streams.get(name);
    if (!kept) return;
    for (const consumer of kept.consumers.values()) this.removeConsumer(consumer, 'Consumer Deleted');
    kept.stream.close();
    this.streams.delete(name);
  }

  addConsumer(kept: Kept, name: string, config: ConsumerConfig): StoredConsumer {
    const host = {
      world: this.#world,
      now: () => this.now(),
      send: (to: string, message: WireMessage) => this.send(to, message),
      isHeard: (subject: string) => this.isHeard(subject),
      expire: (consumer: StoredConsumer) => this.removeConsumer(consumer),
    };
    const consumer = new StoredConsumer(host, kept.stream, name, config);
    kept.consumers.set(name, consumer);
    return consumer;
  }

  removeConsumer(consumer: StoredConsumer, word?: string): void {
    consumer.close(word);
    this.#written.delete(consumer);
    this.streams.get(consumer.stream.config.name)?.consumers.delete(consumer.name);
  }

  /** Notes a state of a consumer as on disk, now and then: the last of it may be lost by a stop. */
  #write(consumer: StoredConsumer): void {
    const written = this.#written.get(consumer);
    if (written && written.at + consumerFlushMs > this.#world.now) return;
    this.#written.set(consumer, { at: this.#world.now, state: consumer.state });
  }

  #stopStream({ stream, consumers }: Kept, unsyncedLost: boolean): void {
    if (stream.config.storage === 'memory') {
      this.removeStream(stream.config.name);
      return;
    }
    for (const consumer of [...consumers.values()]) {
      if (consumer.config.mem_storage) this.removeConsumer(consumer);
      else {
        // either the last state that was surely written, or the one at the end
        if (!unsyncedLost || !this.#written.has(consumer) || this.#world.random.chance(0.5))
          this.#written.set(consumer, { at: this.#world.now, state: consumer.state });
        consumer.forgetRequests();
      }
    }
    if (!unsyncedLost || this.#sync === 'always') return;
    const synced = this.#synced.get(stream) ?? 0;
    stream.recover(this.#world.random.int(Math.min(synced, stream.lastSeq), stream.lastSeq));
  }

  #draw(): number {
    const { least, most } = this.#latency;
    return least + this.#world.random.next() * (most - least);
  }

  #later(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#world.after(ms, resolve);
    });
  }
}
