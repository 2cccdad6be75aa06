import {
  connect,
  DiscardPolicy,
  type JetStreamManager,
  type NatsConnection,
  NatsError,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamUpdateConfig,
} from 'nats';
import type { StreamDefinition } from './stream.js';

/** Window in which the log recognises a repeated message id, in milliseconds. */
const duplicateWindowMs = 120_000;
/** The server's error code for streams that reserve more than it may store. */
const noRoom = 10047;

/** Connects and stays connected: reconnects for ever, with jitter, to any of the comma-separated URLs. */
export function connectToNats(urls: string, name: string): Promise<NatsConnection> {
  return connect({
    servers: urls.split(',').map((url) => url.trim()),
    name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 150,
    pingInterval: 5_000,
    maxPingOut: 2,
    timeout: 5_000,
    // a stack trace per request is most of the client's cost
    noAsyncTraces: true,
  });
}

/** Where and how big the streams are. */
export interface StreamPlacement {
  replicas: number;
  /** Disk budget of all streams together, in bytes. A full stream refuses appends; it never drops old facts for new. */
  maxBytes: number;
  /** Whether streams that are there already get their part of `maxBytes`, too; by default they keep their size. */
  resize?: boolean;
}

/** Creates the streams that are missing and brings the others to the wanted configuration. */
export async function ensureStreams(
  manager: JetStreamManager,
  definitions: StreamDefinition[],
  placement: StreamPlacement,
): Promise<void> {
  try {
    await applyStreams(manager, definitions, placement);
  } catch (error) {
    if (error instanceof NatsError && error.api_error?.err_code === noRoom) {
      throw new Error(
        `The log server has no room for streams of ${placement.maxBytes} bytes: lower STREAMS_MAX_BYTES or free disk space`,
      );
    }
    throw error;
  }
}

async function applyStreams(
  manager: JetStreamManager,
  definitions: StreamDefinition[],
  placement: StreamPlacement,
): Promise<void> {
  const shares = definitions.reduce((sum, definition) => sum + definition.share, 0);
  for (const definition of definitions) {
    const wanted: StreamUpdateConfig = {
      subjects: definition.subjects,
      num_replicas: placement.replicas,
      max_age: nanos(definition.maxAgeMs),
      max_bytes: Math.floor((placement.maxBytes * definition.share) / shares),
      discard: DiscardPolicy.New,
      duplicate_window: nanos(duplicateWindowMs),
      allow_direct: true,
    } as StreamUpdateConfig;
    const current = await streamConfig(manager, definition.name);
    if (current && !placement.resize) wanted.max_bytes = current.max_bytes;
    if (!current) {
      await manager.streams.add({
        ...wanted,
        name: definition.name,
        retention: RetentionPolicy.Limits,
        storage: StorageType.File,
      });
    } else if (differs(current, wanted)) {
      await manager.streams.update(definition.name, { ...current, ...wanted });
    }
  }
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
