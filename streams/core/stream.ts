import type { Logger } from 'pino';
import type { z } from 'zod';

/** A fact type with a history: readers of old records run `upcast` from each older version to the next. */
export interface VersionedSchema<S extends z.ZodType = z.ZodType> {
  v: number;
  schema: S;
  /** `upcast[n]` turns the data of version n into the data of version n + 1. Pure. */
  upcast: Record<number, (data: unknown) => unknown>;
}

type FactSchema = z.ZodType | VersionedSchema;
type DataOf<S extends FactSchema> = S extends VersionedSchema<infer Z> ? z.output<Z> : z.output<S>;

/** A stream as a value: its name and subjects on the log, how long it is kept, and what can happen in it. */
export interface StreamDefinition<Facts extends Record<string, FactSchema> = Record<string, FactSchema>> {
  /** Name on the log, upper case. */
  name: string;
  /** What it is about, in a sentence: the log server shows it to its users. */
  description?: string;
  /** Subject patterns that belong to the stream. */
  subjects: string[];
  /** Age after which facts are dropped, in milliseconds; 0 keeps them for ever. */
  maxAgeMs: number;
  /** What a full stream does with new facts. Old ones may only go where nothing is decided by them. */
  whenFull: 'refuse' | 'drop oldest';
  /** How many facts of one subject are kept: older ones go. 0 is no bound. */
  mostOfSubject: number;
  /**
   * Name of the stream whose sequences it goes on counting when it is made. What it holds was there before, and its readers
   * know the last sequence that they have read.
   */
  countsOn?: string;
  /** The stream's part of the disk budget of all streams; parts are relative to each other. */
  share: number;
  /** Whether the service is of no use without it: readiness asks for these streams alone. */
  essential: boolean;
  facts: Facts;
}

/** The union of a stream's facts, narrowed by `type`. */
export type FactOf<S> =
  S extends StreamDefinition<infer Facts>
    ? { [T in keyof Facts & string]: { type: T; data: DataOf<Facts[T]> } }[keyof Facts & string]
    : never;

/** What any fact looks like to code that does not care which one it is. */
export interface AnyFact {
  type: string;
  data: unknown;
}

/** A fact as it is on the log. */
export type Recorded<F extends AnyFact = AnyFact> = F & {
  /** Unique id of the record, also its message id on the log. */
  id: string;
  stream: string;
  subject: string;
  /** Sequence in the stream, from 1. */
  seq: number;
  /** When the log stored it, by the log server's clock. */
  at: Date;
  /** Who caused it: a key's name, a nick, a producer, or a part of this service. */
  by: string;
  /** Id of the fact or request that led to it, if any. */
  cause: string | null;
};

/** A place in a stream: everything up to and including `seq`. */
export interface Position {
  stream: string;
  seq: number;
}

/** The author and the cause of a new fact. */
export interface Origin {
  by: string;
  cause?: string | null;
  /** Id to record under. A retry of the same append must carry the same id; generated when absent. */
  id?: string;
}

type Preset = 'maxAgeMs' | 'whenFull' | 'mostOfSubject' | 'share' | 'essential';

/** Defines a stream; facts are kept for ever, a full stream refuses, `share` is 1, and it is not essential, unless said otherwise. */
export function defineStream<Facts extends Record<string, FactSchema>>(
  definition: Omit<StreamDefinition<Facts>, Preset> & Partial<Pick<StreamDefinition<Facts>, Preset>>,
): StreamDefinition<Facts> {
  return { maxAgeMs: 0, whenFull: 'refuse', mostOfSubject: 0, share: 1, essential: false, ...definition };
}

interface Envelope {
  id: string;
  type: string;
  v: number;
  by: string;
  cause: string | null;
  /**
   * When it was made, in ISO 8601: by the log server's clock, as the process that made it knows that. Facts of older
   * versions have none.
   */
  time?: string;
  data: unknown;
}

/** The last time that was written, and how: many facts are made in one millisecond. */
let written = { ms: Number.NaN, text: '' };

function isoOf(ms: number): string {
  if (ms !== written.ms) written = { ms, text: new Date(ms).toISOString() };
  return written.text;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The bytes of a fact that is made now, on the log. Throws when the data is not what the stream's schema says. */
export function encodeFact(
  stream: StreamDefinition,
  fact: AnyFact,
  origin: Origin & { id: string },
  now: Date,
): Uint8Array {
  const { v, schema } = schemaOf(stream, fact.type);
  const envelope: Envelope = {
    id: origin.id,
    type: fact.type,
    v,
    by: origin.by,
    cause: origin.cause ?? null,
    time: isoOf(now.getTime()),
    data: schema.parse(fact.data),
  };
  return encoder.encode(JSON.stringify(envelope));
}

/** Throws when the data of a fact is not what the stream's schema says: no try to append it would end otherwise. */
export function requireFact(stream: StreamDefinition, fact: AnyFact): void {
  schemaOf(stream, fact.type).schema.parse(fact.data);
}

/**
 * A fact from its bytes, brought to the newest version of its type. Throws on bytes that are no fact of the stream, and on
 * a version that is not known here yet.
 */
export function decodeFact<S extends StreamDefinition>(
  stream: S,
  bytes: Uint8Array,
  place: { subject: string; seq: number; at: Date },
): Recorded<FactOf<S>> {
  const envelope = JSON.parse(decoder.decode(bytes)) as Envelope;
  const { v, schema, upcast } = schemaOf(stream, envelope.type);
  // read as the version that is known here, it would lose what is new in it, in silence
  if (envelope.v > v)
    throw new Error(
      `${envelope.type} is of version ${envelope.v}, newer than ${v}, which this service knows`,
    );
  let data = envelope.data;
  for (let from = envelope.v; from < v; from++) {
    const step = upcast[from];
    if (!step) throw new Error(`${envelope.type}: no upcast from version ${from} to ${from + 1}`);
    data = step(data);
  }
  const recorded: Recorded = {
    id: envelope.id,
    type: envelope.type,
    data: schema.parse(data),
    stream: stream.name,
    subject: place.subject,
    seq: place.seq,
    at: place.at,
    by: envelope.by,
    cause: envelope.cause,
  };
  return recorded as Recorded<FactOf<S>>;
}

/** The facts of some entries, in order. An entry that cannot be read is logged, and passed over. */
export function* factsIn<S extends StreamDefinition>(
  stream: S,
  entries: Iterable<{ data: Uint8Array; subject: string; seq: number; at: Date }>,
  logger: Logger,
): Generator<Recorded<FactOf<S>>> {
  for (const entry of entries) {
    let fact: Recorded<FactOf<S>>;
    try {
      fact = decodeFact(stream, entry.data, entry);
    } catch (error) {
      logger.error({ stream: stream.name, seq: entry.seq, err: error }, 'fact cannot be read: passed over');
      continue;
    }
    yield fact;
  }
}

function schemaOf(stream: StreamDefinition, type: string): VersionedSchema {
  const found = stream.facts[type];
  if (!found) throw new Error(`${stream.name} has no fact of type ${type}`);
  return 'upcast' in found ? found : { v: 1, schema: found, upcast: {} };
}
