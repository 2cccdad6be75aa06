import type { ConsumerConfig, MsgRequest, PurgeOpts, StreamConfig } from 'nats';
import type { StoredConsumer } from './stored-consumer.js';
import type { ApiError, StoredStream } from './stored-stream.js';
import { overlap } from './subjects.js';
import { headersOf } from './wire.js';

/** A stream with its consumers. */
export interface Kept {
  stream: StoredStream;
  consumers: Map<string, StoredConsumer>;
}

/** What requests are carried out on. */
export interface ApiHost {
  readonly streams: Map<string, Kept>;
  now(): number;
  newName(): string;
  addStream(config: StreamConfig): Kept;
  removeStream(name: string): void;
  addConsumer(kept: Kept, name: string, config: ConsumerConfig): StoredConsumer;
  removeConsumer(consumer: StoredConsumer, word?: string): void;
}

type Answer = Record<string, unknown>;

const noSuchStream: ApiError = { code: 404, err_code: 10059, description: 'stream not found' };
const noSuchConsumer: ApiError = { code: 404, err_code: 10014, description: 'consumer not found' };
const noMessage: ApiError = { code: 404, err_code: 10037, description: 'no message found' };

/** Carries out a request to `$JS.API`; `undefined` for one that nobody answers. */
export function answerApi(host: ApiHost, operation: string, body: string): Answer | undefined {
  const [area = '', ...rest] = operation.split('.');
  const input = () => (body === '' ? {} : JSON.parse(body)) as never;
  if (area === 'INFO') return typed('account_info', accountInfo(host));
  if (area === 'STREAM') return streamRequest(host, rest, input);
  if (area === 'CONSUMER') return consumerRequest(host, rest, input);
  return undefined;
}

function streamRequest(host: ApiHost, [verb, ...rest]: string[], input: () => never): Answer | undefined {
  const name = rest.at(-1)!;
  const kept = host.streams.get(name);
  switch (verb) {
    case 'CREATE':
      return typed('stream_create', createStream(host, input()));
    case 'UPDATE':
      return typed('stream_update', kept ? updateStream(host, kept, input()) : { error: noSuchStream });
    case 'INFO':
      return typed('stream_info', kept ? streamInfo(host, kept, input()) : { error: noSuchStream });
    case 'DELETE':
      if (kept) host.removeStream(name);
      return typed('stream_delete', kept ? { success: true } : { error: noSuchStream });
    case 'PURGE':
      return typed('stream_purge', kept ? purge(kept, input()) : { error: noSuchStream });
    case 'LIST': {
      const { offset = 0 } = input() as { offset?: number };
      const streams = sorted(host.streams).map((one) => streamInfo(host, one, {}));
      return typed('stream_list', page({ streams: streams.slice(offset) }, streams.length, offset));
    }
    case 'NAMES': {
      const { offset = 0, subject } = input() as { offset?: number; subject?: string };
      const names = sorted(host.streams)
        .filter(({ stream }) => !subject || stream.config.subjects.some((own) => overlap(own, subject)))
        .map(({ stream }) => stream.config.name);
      return typed('stream_names', page({ streams: names.slice(offset) }, names.length, offset));
    }
    case 'MSG': {
      const operation = rest[0];
      if (!kept)
        return typed(operation === 'GET' ? 'stream_msg_get' : 'stream_msg_delete', { error: noSuchStream });
      return operation === 'GET'
        ? typed('stream_msg_get', getMessage(kept, input()))
        : typed('stream_msg_delete', deleteMessage(kept, input()));
    }
    default:
      return undefined;
  }
}

function consumerRequest(host: ApiHost, [verb, ...rest]: string[], input: () => never): Answer | undefined {
  const [stream = '', name = ''] = verb === 'DURABLE' ? rest.slice(1) : rest;
  const kept = host.streams.get(stream);
  const consumer = kept?.consumers.get(name);
  const missing = { error: kept ? noSuchConsumer : noSuchStream };
  switch (verb) {
    case 'CREATE':
    case 'DURABLE':
      return typed('consumer_create', kept ? createConsumer(host, kept, name, input()) : missing);
    case 'INFO':
      return typed('consumer_info', consumer ? consumer.info() : missing);
    case 'DELETE':
      if (consumer) host.removeConsumer(consumer, 'Consumer Deleted');
      return typed('consumer_delete', consumer ? { success: true } : missing);
    case 'LIST': {
      if (!kept) return typed('consumer_list', missing);
      const { offset = 0 } = input() as { offset?: number };
      const consumers = [...kept.consumers.values()]
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((one) => one.info());
      return typed('consumer_list', page({ consumers: consumers.slice(offset) }, consumers.length, offset));
    }
    default:
      return undefined;
  }
}

function typed(of: string, answer: object): Answer {
  return { type: `io.nats.jetstream.api.v1.${of}_response`, ...answer };
}

function page(answer: object, total: number, offset: number): object {
  return { total, offset, limit: 256, ...answer };
}

function sorted(streams: Map<string, Kept>): Kept[] {
  return [...streams.values()].sort((a, b) => (a.stream.config.name < b.stream.config.name ? -1 : 1));
}

function accountInfo(host: ApiHost): object {
  const kept = [...host.streams.values()];
  return {
    memory: 0,
    storage: kept.reduce((sum, { stream }) => sum + stream.bytes, 0),
    streams: kept.length,
    consumers: kept.reduce((sum, { consumers }) => sum + consumers.size, 0),
    limits: { max_memory: -1, max_storage: -1, max_streams: -1, max_consumers: -1 },
    api: { total: 0, errors: 0 },
  };
}

/** A configuration with all that the server fills in. */
function fullConfig(given: Partial<StreamConfig>): StreamConfig {
  const { max_age = 0, duplicate_window, ...others } = given;
  const usualWindow = 120_000_000_000;
  const config = {
    retention: 'limits',
    storage: 'file',
    discard: 'old',
    max_consumers: -1,
    num_replicas: 1,
    sealed: false,
    deny_delete: false,
    deny_purge: false,
    allow_rollup_hdrs: false,
    allow_direct: false,
    mirror_direct: false,
    compression: 'none',
    consumer_limits: {},
    subjects: [given.name],
    ...others,
    max_age,
    duplicate_window: duplicate_window || (max_age > 0 ? Math.min(max_age, usualWindow) : usualWindow),
  } as unknown as StreamConfig;
  for (const limit of ['max_msgs', 'max_bytes', 'max_msg_size', 'max_msgs_per_subject'] as const)
    if (!config[limit]) config[limit] = -1;
  return config;
}

function createStream(host: ApiHost, given: Partial<StreamConfig>): object {
  const config = fullConfig(given);
  const there = host.streams.get(config.name);
  if (there) {
    if (isSame(there.stream.config, config)) return streamInfo(host, there, {});
    const description = 'stream name already in use with a different configuration';
    return { error: { code: 400, err_code: 10058, description } satisfies ApiError };
  }
  const wrong = whyWrong(host, config);
  return wrong ? { error: wrong } : streamInfo(host, host.addStream(config), {});
}

function updateStream(host: ApiHost, kept: Kept, given: Partial<StreamConfig>): object {
  const config = fullConfig(given);
  const { stream } = kept;
  if (config.storage !== stream.config.storage)
    return { error: invalid('stream configuration update can not change storage type') };
  if (config.retention !== stream.config.retention)
    return {
      error: invalid('stream configuration update can not change retention policy to/from workqueue'),
    };
  const wrong = whyWrong(host, config);
  if (wrong) return { error: wrong };
  stream.update(config);
  return streamInfo(host, kept, {});
}

function whyWrong(host: ApiHost, config: StreamConfig): ApiError | undefined {
  if (config.max_age > 0 && config.duplicate_window > config.max_age)
    return invalid('duplicates window can not be larger then max age');
  const others = [...host.streams.values()].filter(({ stream }) => stream.config.name !== config.name);
  const taken = others.flatMap(({ stream }) => stream.config.subjects);
  return config.subjects.some((subject) => taken.some((other) => overlap(subject, other)))
    ? { code: 400, err_code: 10065, description: 'subjects overlap with an existing stream' }
    : undefined;
}

function invalid(description: string): ApiError {
  return { code: 500, err_code: 10052, description };
}

function isSame(one: object, other: object): boolean {
  const entries = (value: object) =>
    JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  return entries(one) === entries(other);
}

function streamInfo(host: ApiHost, { stream, consumers }: Kept, asked: { subjects_filter?: string }): object {
  const { config, count, bytes, firstSeq, lastSeq, lastAt, subjectCount } = stream;
  const first = stream.get(firstSeq)?.at;
  const deleted = lastSeq - firstSeq + 1 - count;
  const never = '0001-01-01T00:00:00Z';
  return {
    total: 0,
    offset: 0,
    limit: 0,
    config,
    created: new Date(stream.created).toISOString(),
    state: {
      messages: count,
      bytes,
      first_seq: lastSeq === 0 ? 0 : firstSeq,
      last_seq: lastSeq,
      first_ts: first === undefined ? never : new Date(first).toISOString(),
      last_ts: lastAt === 0 ? never : new Date(lastAt).toISOString(),
      ...(subjectCount > 0 ? { num_subjects: subjectCount } : {}),
      ...(deleted > 0 ? { num_deleted: deleted } : {}),
      consumer_count: consumers.size,
      ...(asked.subjects_filter ? { subjects: stream.subjectsOf(asked.subjects_filter) } : {}),
    },
    ts: new Date(host.now()).toISOString(),
  };
}

function purge({ stream, consumers }: Kept, options: PurgeOpts): object {
  const purged = stream.purge(options as { filter?: string; seq?: number; keep?: number });
  for (const consumer of consumers.values()) consumer.purged((options as { filter?: string }).filter);
  return { success: true, purged };
}

function getMessage({ stream }: Kept, query: MsgRequest): object {
  const found = findMessage(stream, query as object);
  if (!found) return { error: noMessage };
  const { subject, seq, data, at } = found;
  const headers = headersOf(found.headers);
  return {
    message: {
      subject,
      seq,
      ...(headers ? { hdrs: Buffer.from(String(headers)).toString('base64') } : {}),
      ...(data.length > 0 ? { data: Buffer.from(data).toString('base64') } : {}),
      time: new Date(at).toISOString(),
    },
  };
}

/** The message that a query means. */
export function findMessage(stream: StoredStream, query: object) {
  const { seq, last_by_subj, next_by_subj } = query as {
    seq?: number;
    last_by_subj?: string;
    next_by_subj?: string;
  };
  if (last_by_subj !== undefined) return stream.lastOf(last_by_subj);
  if (next_by_subj !== undefined) return stream.next(seq ?? 0, [next_by_subj]);
  return stream.get(seq ?? 0);
}

function deleteMessage({ stream }: Kept, { seq }: { seq: number }): object {
  if (stream.remove(seq)) return { success: true };
  if (seq >= stream.firstSeq && seq <= stream.lastSeq)
    return {
      error: { code: 400, err_code: 10043, description: `sequence ${seq} not found` } satisfies ApiError,
    };
  const description = seq > stream.lastSeq ? 'stream store EOF' : 'no message found';
  return { error: { code: 500, err_code: 10057, description } satisfies ApiError };
}

function createConsumer(
  host: ApiHost,
  kept: Kept,
  named: string,
  request: { config: Partial<ConsumerConfig>; action?: string },
): object {
  const { config: given, action } = request;
  const name = named || given.durable_name || given.name || host.newName();
  const acknowledges = given.ack_policy !== undefined && given.ack_policy !== 'none';
  const isDurable = given.durable_name !== undefined;
  const config = {
    max_deliver: -1,
    max_waiting: 512,
    replay_policy: 'instant',
    num_replicas: 0,
    deliver_policy: 'all',
    ack_policy: 'none',
    ...(acknowledges ? { ack_wait: 30_000_000_000, max_ack_pending: 1_000 } : {}),
    ...(isDurable ? {} : { inactive_threshold: 5_000_000_000 }),
    ...given,
    // requests of the older form, as those with several filters are, leave it out
    ...(given.filter_subjects ? {} : { name }),
  } as ConsumerConfig;
  if (config.max_ack_pending === 0) delete (config as Partial<ConsumerConfig>).max_ack_pending;
  const there = kept.consumers.get(name);
  if (there) {
    if (isSame(there.config, config)) return there.info();
    if (action === 'create')
      return { error: { code: 400, err_code: 10148, description: 'consumer already exists' } };
    for (const fixed of [
      'deliver_policy',
      'opt_start_seq',
      'opt_start_time',
      'ack_policy',
      'replay_policy',
    ] as const)
      if (there.config[fixed] !== config[fixed]) return { error: fixedError(fixed) };
    there.config = config;
    return there.info();
  }
  if (action === 'update')
    return { error: { code: 400, err_code: 10149, description: 'consumer does not exist' } };
  return host.addConsumer(kept, name, config).info();
}

function fixedError(field: string): ApiError {
  const words: Record<string, string> = {
    deliver_policy: 'deliver policy',
    opt_start_seq: 'start sequence',
    opt_start_time: 'start time',
    ack_policy: 'ack policy',
    replay_policy: 'replay policy',
  };
  return { code: 500, err_code: 10012, description: `${words[field]} can not be updated` };
}
