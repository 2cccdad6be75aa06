import type { JetStreamManager, MsgHdrs, StreamConfig } from 'nats';

/**
 * A log server stamps a message with its own clock when it stores it. A fact that was imported keeps the time
 * at which it was first stored in this header: times to live and read models go by that one. (How long the
 * server keeps it, it counts from the import.)
 */
const firstStoredAt = 'Relay-Stored-At';
/** Metadata of a stream on the log server: the last imported sequence, or `unfinished` while an import runs. */
const importKey = 'relay-import';
const unfinished = 'unfinished';

/** The headers of a message that was first stored at a time. */
export function importedHeader(at: Date): [name: string, value: string] {
  return [firstStoredAt, at.toISOString()];
}

/** When a message was first stored, if it was imported. */
export function firstStored(headers: MsgHdrs | undefined): Date | undefined {
  const text = headers?.get(firstStoredAt);
  return text ? new Date(text) : undefined;
}

/** Whether an import into a stream was begun and not finished. */
export function isBeingImported(config: Pick<StreamConfig, 'metadata'> | undefined): boolean {
  return config?.metadata?.[importKey] === unfinished;
}

/**
 * Up to which sequence each stream was imported; infinity for one whose import was not finished. Known once, so
 * that reading need not look into the headers of every message.
 */
export async function importedParts(manager: JetStreamManager): Promise<Map<string, number>> {
  const parts = new Map<string, number>();
  for await (const { config } of manager.streams.list()) {
    const mark = config.metadata?.[importKey];
    if (mark) parts.set(config.name, mark === unfinished ? Number.POSITIVE_INFINITY : Number(mark));
  }
  return parts;
}

/** Says that a stream was imported up to a sequence, or is being imported. */
export async function markImport(
  manager: JetStreamManager,
  stream: string,
  upTo: number | typeof unfinished,
): Promise<void> {
  const { config } = await manager.streams.info(stream);
  await manager.streams.update(stream, {
    ...config,
    metadata: { ...config.metadata, [importKey]: String(upTo) },
  });
}
