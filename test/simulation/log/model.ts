import { setTimeout as delay } from 'node:timers/promises';
import {
  AckPolicy,
  type ConsumerInfo,
  createInbox,
  headers,
  type JetStreamClient,
  type JetStreamManager,
  type KV,
  type Msg,
  type NatsConnection,
  NatsError,
  RequestStrategy,
  StorageType,
  type StreamInfo,
} from 'nats';

/** A server of either kind, as scripts use it. */
export interface Server {
  connect(): Promise<NatsConnection>;
  /** Ends it as a crash does and starts it again; resolves when connections are back. */
  restart(): Promise<void>;
}

/** A message as a script tells of it. */
interface Told {
  subject: string;
  seq: number;
  delivery: number;
  count: number;
  pending: number;
  data: string;
}

const expiresMs = 250;
/** A consumer of a real server hears of a new message a moment after it was acknowledged. */
const settleMs = 20;
/** After so long nothing will come any more. */
const silenceMs = 8_000;

/** What a script does on a server, each step with an answer that both kinds of server must give. */
export class Script {
  readonly answers: unknown[] = [];
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly client: JetStreamClient;
  /** Name of its stream, and beginning of its subjects. */
  readonly name: string;
  readonly #held = new Map<string, Msg>();
  #groups = 0;

  private constructor(connection: NatsConnection, manager: JetStreamManager, name: string) {
    this.connection = connection;
    this.manager = manager;
    this.client = connection.jetstream();
    this.name = name;
  }

  static async open(server: Server, name: string): Promise<Script> {
    const connection = await server.connect();
    return new Script(connection, await connection.jetstreamManager(), name);
  }

  /** Notes the answer to a step, or the error that it ends with. */
  async note(step: string, work: () => Promise<unknown>): Promise<void> {
    const noted = await work().then(
      (answer) => answer ?? null,
      (error: unknown) => errorOf(error),
    );
    this.answers.push([step, noted]);
  }

  publish(
    subject: string,
    text: string,
    options: Parameters<JetStreamClient['publish']>[2] = {},
  ): Promise<unknown> {
    return this.client
      .publish(this.subject(subject), text, options)
      .then(({ seq, duplicate, stream }) => ({ seq, duplicate, stream }));
  }

  /**
   * Publishes messages as one group, each with its subject, its id and the sequence that it expects; all but the one at
   * the place `without`, from 1. Answers what the group is told.
   */
  async group(messages: [subject: string, id?: string, after?: number][], without = 0): Promise<unknown> {
    const inbox = createInbox();
    const told = this.connection.subscribe(inbox, { max: 1, timeout: silenceMs });
    const group = `group-${++this.#groups}`;
    for (const [n, [subject, id, after]] of messages.entries()) {
      if (n + 1 === without) continue;
      const head = headers();
      head.set('Nats-Batch-Id', group);
      head.set('Nats-Batch-Sequence', String(n + 1));
      if (n + 1 === messages.length) head.set('Nats-Batch-Commit', '1');
      if (id !== undefined) head.set('Nats-Msg-Id', id);
      if (after !== undefined) head.set('Nats-Expected-Last-Subject-Sequence', String(after));
      const reply = n + 1 === messages.length ? { reply: inbox } : {};
      this.connection.publish(this.subject(subject), `text ${n}`, { headers: head, ...reply });
    }
    for await (const answer of told) return answer.json();
    return undefined;
  }

  /** The last messages of subjects, as they are told of in one answer. */
  async lastOf(subjects: string[]): Promise<unknown[]> {
    const body = JSON.stringify({ multi_last: subjects.map((subject) => this.subject(subject)) });
    const options = { strategy: RequestStrategy.SentinelMsg, maxWait: silenceMs };
    const told: unknown[] = [];
    for await (const { headers: head } of await this.connection.requestMany(
      `$JS.API.DIRECT.GET.${this.name}`,
      body,
      options,
    ))
      told.push([head?.code, head?.description, head?.get('Nats-Subject'), head?.get('Nats-Sequence')]);
    return told;
  }

  subject(end: string): string {
    return `${this.name}.${end}`;
  }

  async stream(): Promise<unknown> {
    return streamOf(await this.manager.streams.info(this.name));
  }

  async direct(query: object): Promise<unknown> {
    const answer = await this.connection.request(`$JS.API.DIRECT.GET.${this.name}`, JSON.stringify(query), {
      timeout: 3_000,
    });
    const { headers, data } = answer;
    const own = (name: string) => headers?.get(name);
    return {
      code: headers?.code,
      description: headers?.description,
      subject: own('Nats-Subject'),
      seq: own('Nats-Sequence'),
      stream: own('Nats-Stream'),
      id: own('Nats-Msg-Id'),
      hasTime: Boolean(own('Nats-Time-Stamp')),
      data: answer.string(),
      bytes: data.length,
    };
  }

  async get(query: object): Promise<unknown> {
    const { subject, seq, header, data } = await this.manager.streams.getMessage(this.name, query as never);
    return { subject, seq, id: header?.get('Nats-Msg-Id'), data: new TextDecoder().decode(data) };
  }

  async consumer(name: string): Promise<unknown> {
    await this.wait(settleMs);
    return consumerOf(await this.manager.consumers.info(this.name, name));
  }

  /** Asks for messages and waits until there are so many, or the request has run its time. */
  async pull(consumer: string, batch: number, more: object = {}): Promise<unknown> {
    await this.wait(settleMs);
    const inbox = createInbox();
    const told: unknown[] = [];
    let count = 0;
    await new Promise<void>((through) => {
      const resolve = () => {
        clearTimeout(bound);
        through();
      };
      const bound = setTimeout(() => {
        told.push('silence');
        subscription.unsubscribe();
        through();
      }, silenceMs);
      const subscription = this.connection.subscribe(inbox, {
        callback: (_error, message) => {
          if (!message.reply) {
            const { code, description } = message.headers!;
            const left = message.headers!.get('Nats-Pending-Messages');
            told.push({ code, description, left });
            if (code === 100) return;
            subscription.unsubscribe();
            resolve();
            return;
          }
          const one = toldOf(message);
          told.push(one);
          this.#held.set(`${consumer} ${one.seq}`, message);
          count += 1;
          if (count < batch) return;
          subscription.unsubscribe();
          resolve();
        },
      });
      const request = { batch, expires: expiresMs * 1e6, ...more };
      this.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${this.name}.${consumer}`, JSON.stringify(request), {
        reply: inbox,
      });
    });
    return told;
  }

  /** Says something about a message that was pulled, and waits until the server has heard of it. */
  async say(consumer: string, seq: number, text: string): Promise<unknown> {
    const message = this.#held.get(`${consumer} ${seq}`);
    if (!message) return 'never had';
    this.connection.publish(message.reply!, text);
    await this.connection.flush();
    return 'said';
  }

  /** A bucket as leases use one. */
  async bucket(ttl = 60_000): Promise<KV> {
    return await this.client.views.kv(this.name, { ttl, storage: StorageType.File, history: 1 });
  }

  wait(ms: number): Promise<void> {
    return delay(ms);
  }

  async close(): Promise<void> {
    await this.connection.close();
  }
}

/** How messages are acknowledged where a script says nothing else. */
export const explicit = { ack_policy: AckPolicy.Explicit };

export function toldOf(message: Msg): Told {
  const [, , , , count, seq, delivery, , pending] = message.reply!.split('.');
  return {
    subject: message.subject,
    seq: Number(seq),
    delivery: Number(delivery),
    count: Number(count),
    pending: Number(pending),
    data: message.string(),
  };
}

export function consumerOf(info: ConsumerInfo): unknown {
  const { name, stream_name, config, delivered, ack_floor } = info;
  const { num_ack_pending, num_redelivered, num_waiting, num_pending } = info;
  const { opt_start_time: _time, ...kept } = config as unknown as Record<string, unknown>;
  return {
    name,
    stream_name,
    config: comparable(kept),
    delivered: [delivered.consumer_seq, delivered.stream_seq],
    floor: [ack_floor.consumer_seq, ack_floor.stream_seq],
    num_ack_pending,
    num_redelivered,
    num_waiting,
    num_pending,
  };
}

export function streamOf({ config, state }: StreamInfo): unknown {
  const { messages, bytes, first_seq, last_seq, num_subjects, num_deleted, consumer_count } = state;
  return {
    config: comparable(config as unknown as Record<string, unknown>),
    messages,
    bytes,
    first_seq,
    last_seq,
    num_subjects,
    num_deleted,
    consumer_count,
  };
}

/** A configuration without what newer servers add of themselves: notes on their version, and switches that are off. */
function comparable({ metadata = {}, ...record }: Record<string, unknown>): unknown {
  const marks = Object.entries(metadata as object).filter(([name]) => !name.startsWith('_nats.'));
  const known = Object.entries({
    ...record,
    ...(marks.length > 0 ? { metadata: Object.fromEntries(marks) } : {}),
  });
  return Object.fromEntries(
    known.filter(([name]) => name !== 'allow_msg_ttl').sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function errorOf(error: unknown): unknown {
  if (!(error instanceof NatsError)) return { error: String(error) };
  const { code, message, api_error } = error;
  return { code, message, ...(api_error ? { api: api_error } : {}) };
}
