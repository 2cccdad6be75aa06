import {
  decodeFact,
  type Entry,
  type Log,
  type Recorded,
  type StreamDefinition,
} from '../../streams/core/index.js';
import { operations, projectionSubject } from '../../streams/operations/facts.js';
import { messageOf } from './cursor.js';
import type { Projection } from './projection.js';
import type { Sql } from './sql.js';

/** Where a replay ends in a stream: after this sequence, or before the first fact later than `at`. */
export interface ReplayEnd {
  seq: number;
  at?: Date | undefined;
}

/** The last fact of a stream that a replay has folded. Without any, sequence 0 and no time. */
export interface ReplayedTo {
  stream: string;
  seq: number;
  at: Date | null;
}

/** What a replay works with. */
export interface ReplayOptions {
  sql: Sql;
  projection: Projection;
  /** Schema for the tables: it must not exist yet. */
  schema: string;
  /** Facts that operators allowed the read model to skip. */
  skipped: SkippedFacts;
  /** Reads a stream from its first fact up to a sequence, in batches. */
  read(stream: StreamDefinition, upTo: number): AsyncIterable<Entry[]>;
  ends: ReadonlyMap<string, ReplayEnd>;
  /** Called with the sequence up to which a stream is done: in the end with that of its end, whatever was wanted of it. */
  folded(stream: string, seq: number): void;
}

/** The facts that one version of a read model skips, by `stream seq`. */
export type SkippedFacts = ReadonlySet<string>;

/** `code` of the error that names a fact which cannot be folded, in `stream` and `seq`. */
export const replayHalted = 'replay_halted';

/**
 * Folds a read model up to a point of the past into tables of its own; the live ones stay untouched. The same
 * point gives the same rows, as long as the log still has the facts. Throws an error with the code
 * `replay_halted` at a fact that cannot be folded and that no operator allowed to skip.
 */
export async function replay(options: ReplayOptions): Promise<ReplayedTo[]> {
  const { sql, projection, schema } = options;
  await sql.transaction((tx) => tx.query(`create schema ${schema}; ${projection.ddl(schema)}`));
  const reached: ReplayedTo[] = [];
  for (const stream of projection.streams) reached.push(await replayStream(options, stream));
  return reached;
}

/** What operators decided so far about facts that a version of a read model cannot fold. */
export async function skippedFacts(log: Log, { name, version }: Projection): Promise<SkippedFacts> {
  const skipped = new Set<string>();
  for await (const { type, data } of log.subject(operations, projectionSubject(name))) {
    if (type === 'fact.skipped' && data.version === version) skipped.add(`${data.stream} ${data.seq}`);
  }
  return skipped;
}

async function replayStream(options: ReplayOptions, stream: StreamDefinition): Promise<ReplayedTo> {
  const { seq: upTo, at: until } = options.ends.get(stream.name) ?? { seq: 0 };
  const reached: ReplayedTo = { stream: stream.name, seq: 0, at: null };
  for await (const entries of options.read(stream, upTo)) {
    const later = until ? entries.findIndex(({ at }) => at > until) : -1;
    const wanted = later < 0 ? entries : entries.slice(0, later);
    await fold(options, decode(options, stream, wanted));
    const last = wanted.at(-1);
    if (last) Object.assign(reached, { seq: last.seq, at: last.at });
    options.folded(stream.name, reached.seq);
    if (later >= 0) break;
  }
  // the end may be far beyond the last fact that was wanted: a time comes first, or no fact has the last sequences
  if (reached.seq < upTo) options.folded(stream.name, upTo);
  return reached;
}

function decode({ skipped }: ReplayOptions, stream: StreamDefinition, entries: Entry[]): Recorded[] {
  return entries.flatMap((entry) => {
    if (skipped.has(`${stream.name} ${entry.seq}`)) return [];
    try {
      return [decodeFact(stream, entry.data, entry)];
    } catch (error) {
      throw halted(stream.name, entry.seq, error);
    }
  });
}

/** Applies facts in one transaction. If that fails, each half is tried alone, to find the faulty fact. */
async function fold(options: ReplayOptions, facts: Recorded[]): Promise<void> {
  const { sql, projection, schema } = options;
  if (facts.length === 0) return;
  try {
    await sql.transaction((tx) => projection.apply(tx, facts, schema));
  } catch (error) {
    if ((error as { kind?: unknown }).kind === 'unavailable') throw error;
    if (facts.length === 1) throw halted(facts[0]!.stream, facts[0]!.seq, error);
    const half = facts.length >> 1;
    await fold(options, facts.slice(0, half));
    await fold(options, facts.slice(half));
  }
}

function halted(stream: string, seq: number, cause: unknown): Error {
  return Object.assign(new Error(messageOf(cause)), { code: replayHalted, stream, seq });
}
