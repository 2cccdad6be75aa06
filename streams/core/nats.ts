import {
  connect,
  DiscardPolicy,
  ErrorCode,
  type JetStreamManager,
  type NatsConnection,
  NatsError,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamUpdateConfig,
} from 'nats';
import pRetry from 'p-retry';
import type { Logger } from 'pino';
import { isBeingImported } from './imported.js';
import type { StreamDefinition } from './stream.js';

/** Window in which the log recognises a repeated message id, in milliseconds. */
const duplicateWindowMs = 120_000;
/** The server's error code for streams that reserve more than it may store. */
const noRoom = 10047;
/**
 * Its codes for a cluster without a leader, and for one whose servers do not know enough of each other yet.
 */
const notYet = [10008, 10005];
/** How long a start waits for log servers that have not found each other yet, of a cluster and of one alone. */
const patienceMs = { cluster: 120_000, alone: 30_000 } as const;
/** The pause between two looks, in milliseconds. */
const lookMs = 500;

/** Whether a connection is ending: to publish on it may throw. */
export const isEnding = (connection: NatsConnection): boolean =>
  connection.isClosed() || connection.isDraining();

/**
 * Connects and stays connected: reconnects for ever, with jitter, to any of the comma-separated URLs.
 * Credentials come from the first URL that has any: user and password, or a token alone. `tls://` means TLS
 * or nothing.
 */
export function connectToNats(urls: string, name: string): Promise<NatsConnection> {
  const addresses = urls.split(',').map((url) => new URL(url.trim()));
  return connect({
    servers: addresses.map(({ host }) => host),
    ...credentialsOf(addresses),
    ...(addresses.some(({ protocol }) => protocol === 'tls:') ? { tls: {} } : {}),
    name,
    maxReconnectAttempts: -1,
    // a server may refuse us for a while, for example while credentials are changed: it is not given up
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 100,
    reconnectJitter: 150,
    pingInterval: 5_000,
    maxPingOut: 2,
    timeout: 5_000,
    // a stack trace per request is most of the client's cost
    noAsyncTraces: true,
  });
}

/** The client itself drops what comes before the @ of a URL. */
function credentialsOf(addresses: URL[]): { user: string; pass: string } | { token: string } | undefined {
  const found = addresses.find(({ username }) => username !== '');
  if (!found) return undefined;
  const [user, pass] = [decodeURIComponent(found.username), decodeURIComponent(found.password)];
  return pass === '' ? { token: user } : { user, pass };
}

/** Where and how big the streams are. */
export interface StreamPlacement {
  replicas: number;
  /** Disk budget of all streams together, in bytes. A full stream refuses appends, unless it is made to drop the oldest. */
  maxBytes: number;
  /** Opened for an import, which removes the placeholders of missing facts. */
  importing?: boolean;
  /** How long to wait for servers that have not found each other yet, in milliseconds; two minutes for a cluster by default. */
  patienceMs?: number;
  /** Whether existing streams get their part of `maxBytes` too; by default they keep their size. */
  resize?: boolean;
}

/** Settings that a stream gets when it is made, and that the log server can never change. */
export const lastingSettings = { retention: RetentionPolicy.Limits, storage: StorageType.File } as const;

/** The wanted settings of a stream on a log server, besides its size. Each start applies them. */
export function changeableSettings(
  definition: StreamDefinition,
  replicas: number,
  { info }: Pick<NatsConnection, 'info'>,
) {
  const { description } = definition;
  return {
    ...(description === undefined ? {} : { description }),
    subjects: definition.subjects,
    num_replicas: replicas,
    max_age: nanos(definition.maxAgeMs),
    discard: definition.whenFull === 'refuse' ? DiscardPolicy.New : DiscardPolicy.Old,
    max_msgs_per_subject: definition.mostOfSubject || -1,
    duplicate_window: nanos(duplicateWindowMs),
    allow_direct: true,
    // what happened has happened: nobody who reaches the log can take a fact back, by accident or on purpose
    deny_delete: true,
    deny_purge: true,
    ...(storesGroups(info?.version) ? { allow_atomic: true } : {}),
  };
}

/** Whether a log server of this version can store several messages atomically: since 2.12. */
function storesGroups(version = ''): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 2 || (major === 2 && minor >= 12);
}

/** The streams as they are on the log server. */
export interface OpenedStreams {
  manager: JetStreamManager;
  /** Names of the streams that take appends in groups. */
  grouped: Set<string>;
}

/**
 * Creates the streams that are missing and brings the others to the wanted configuration. Waits for log
 * servers that are up but have not found each other yet, as after a start of all of them.
 */
export async function openStreams(
  connection: NatsConnection,
  definitions: StreamDefinition[],
  placement: StreamPlacement & { logger: Logger },
): Promise<OpenedStreams> {
  const open = async () => {
    const manager = await connection.jetstreamManager();
    return { manager, grouped: await applyStreams(connection, manager, definitions, placement) };
  };
  const isCluster = placement.replicas > 1;
  const isNotYet = (error: unknown) => hasNoLeader(error) || (isCluster && isUnanswered(error));
  const usual = isCluster ? patienceMs.cluster : patienceMs.alone;
  try {
    return await pRetry(open, {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: lookMs,
      factor: 1,
      maxRetryTime: placement.patienceMs ?? usual,
      shouldRetry: ({ error }) => isNotYet(error),
      onFailedAttempt: ({ error, attemptNumber }) => {
        if (attemptNumber === 1 && isNotYet(error))
          placement.logger.warn(
            { err: error },
            'the log servers are not ready yet: the start waits for them',
          );
      },
    });
  } catch (error) {
    if (isNotYet(error) && isCluster)
      throw new Error(
        `The log servers do not form a cluster that keeps ${placement.replicas} copies (${(error as Error).message}): start that many, or lower NATS_REPLICAS`,
      );
    if (!(error instanceof NatsError) || error.api_error?.err_code !== noRoom) throw error;
    throw new Error(
      `The log server has no room for streams of ${placement.maxBytes} bytes: lower STREAMS_MAX_BYTES or free disk space`,
    );
  }
}

/** Servers of a cluster without a leader let requests wait, or refuse them. */
function hasNoLeader(error: unknown): boolean {
  if (!(error instanceof NatsError)) return false;
  return error.code === ErrorCode.Timeout || notYet.includes(error.api_error?.err_code ?? 0);
}

/**
 * Nobody answers for JetStream: a single server does not have it, servers of a cluster may not have found
 * each other yet.
 */
function isUnanswered(error: unknown): boolean {
  return error instanceof NatsError && error.code === ErrorCode.NoResponders;
}

async function applyStreams(
  connection: NatsConnection,
  manager: JetStreamManager,
  definitions: StreamDefinition[],
  placement: StreamPlacement,
): Promise<Set<string>> {
  const shares = definitions.reduce((sum, definition) => sum + definition.share, 0);
  const grouped = new Set<string>();
  for (const definition of definitions) {
    const { name } = definition;
    const wanted = {
      ...changeableSettings(definition, placement.replicas, connection),
      max_bytes: Math.floor((placement.maxBytes * definition.share) / shares),
    } as StreamUpdateConfig;
    let config = await streamConfig(manager, name);
    if (config && !placement.resize) wanted.max_bytes = config.max_bytes;
    // the log server never takes these two settings back
    if (placement.importing || isBeingImported(config)) {
      const { deny_delete = false, deny_purge = false } = config ?? {};
      Object.assign(wanted, { deny_delete, deny_purge });
    }
    if (!config) {
      const counted = await countedBefore(manager, definition);
      const first = counted > 0 ? { first_seq: counted + 1 } : {};
      config = (await manager.streams.add({ ...wanted, ...lastingSettings, ...first, name })).config;
    } else if (differs(config, wanted)) {
      config = (await manager.streams.update(name, { ...config, ...wanted })).config;
    }
    // servers of a cluster may have different versions: the stream's own setting counts
    if ((config as { allow_atomic?: boolean }).allow_atomic) grouped.add(name);
  }
  return grouped;
}

/** The last sequence of the stream that a new one goes on counting; 0 without one. */
async function countedBefore(manager: JetStreamManager, { countsOn }: StreamDefinition): Promise<number> {
  if (countsOn === undefined) return 0;
  return (await manager.streams.info(countsOn)).state.last_seq;
}

async function streamConfig(manager: JetStreamManager, name: string): Promise<StreamConfig | undefined> {
  try {
    return (await manager.streams.info(name)).config;
  } catch (error) {
    if (error instanceof NatsError && error.code === '404') return undefined;
    throw error;
  }
}

function differs(current: StreamConfig, wanted: StreamUpdateConfig): boolean {
  return Object.entries(wanted).some(
    ([key, value]) => JSON.stringify(current[key as keyof StreamConfig]) !== JSON.stringify(value),
  );
}
