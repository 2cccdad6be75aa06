import { type AnyFact, type Log, newId, retry, type StreamDefinition } from '../../streams/core/index.js';

/** A fact that is to be recorded, and who says so. */
export interface ToRecord {
  stream: StreamDefinition;
  subject: string;
  fact: AnyFact;
  by: string;
}

const pauses = { first: 250, longest: 250 };

/**
 * Appends a fact until it is on the log, however long that is away. False when it was given up because of a stop: then
 * the fact may or may not be on the log.
 */
export async function record(
  log: Log,
  { stream, subject, fact, by }: ToRecord,
  { stopping, waits }: { stopping: AbortSignal; waits(error: unknown): void },
): Promise<boolean> {
  const id = newId();
  const append = async (tries: number) => {
    // the log knows a repeated id for minutes only, and may have been away for longer
    const isStored = tries > 0 && (await log.last(stream, subject))?.id === id;
    if (!isStored) await log.append(stream, subject, fact as never, { by, id });
    return true;
  };
  const failed = (error: unknown, tries: number) => {
    if (tries === 1) waits(error);
  };
  return (await retry(append, { pauses, failed, signal: stopping })) ?? false;
}
