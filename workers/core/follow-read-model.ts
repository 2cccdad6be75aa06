import type { Logger } from 'pino';
import {
  decodeFact,
  type FactOf,
  type Log,
  type Position,
  pause,
  type Recorded,
  type StreamDefinition,
} from '../../streams/core/index.js';

/** What is known by a read model, and goes on by the facts behind it. */
export interface FollowedReadModel<S extends StreamDefinition, Row> {
  log: Log;
  logger: Logger;
  stream: S;
  /** What the read model holds once it has folded a position, and up to which sequence that is so. */
  read(after: Position): Promise<{ rows: Row[]; seq: number }>;
  /** Something that it holds: told at the beginning, and again after a failure. */
  known(row: Row): void;
  /** A fact behind what was read. */
  seen(fact: Recorded<FactOf<S>>): void;
  signal: AbortSignal;
}

const batch = 256;
const againMs = 1_000;

/** Tells what a read model holds and then each fact behind it, for ever: a restart forgets nothing that it knows. */
export async function followReadModel<S extends StreamDefinition, Row>(
  options: FollowedReadModel<S, Row>,
): Promise<void> {
  const { log, logger, stream, read, known, seen, signal } = options;
  while (!signal.aborted) {
    try {
      const head = await log.head(stream);
      const { rows, seq } = await read({ stream: stream.name, seq: head });
      for (const row of rows) known(row);
      for await (const entries of log.follow(stream, { after: seq, batch, signal })) {
        for (const entry of entries) seen(decodeFact(stream, entry.data, entry));
      }
    } catch (error) {
      if (signal.aborted) return;
      const level = (error as { kind?: string }).kind === 'unavailable' ? 'debug' : 'warn';
      logger[level]({ stream: stream.name, err: error }, 'read model cannot be followed yet');
      await pause(againMs, signal);
    }
  }
}
