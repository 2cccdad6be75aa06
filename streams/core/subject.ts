import { timeout } from './clock.js';
import { Unavailable } from './errors.js';
import type { Entry, FollowOptions } from './follow.js';
import { type AnyFact, decodeFact, type FactOf, type Recorded, type StreamDefinition } from './stream.js';

/** The two ways in which a log gives facts of a subject: the next one from a sequence on, or all in batches. */
export interface SubjectSource<Fact extends AnyFact> {
  next(seq: number): Promise<Recorded<Fact> | undefined>;
  follow(options: FollowOptions): AsyncGenerator<Entry[]>;
}

/** So many are read one by one, which is quickest for few: a consumer costs several requests. */
const few = 32;
const batch = 1_000;
/** Bound of reading the rest, in milliseconds. */
const boundMs = 30_000;

/** See `Log.subject`. */
export async function* readSubject<S extends StreamDefinition>(
  source: SubjectSource<FactOf<S>>,
  stream: S,
  subject: string,
  fromSeq: number,
): AsyncGenerator<Recorded<FactOf<S>>> {
  let seq = fromSeq;
  for (let count = 0; count < few; count++) {
    const fact = await source.next(seq);
    if (!fact) return;
    yield fact;
    seq = fact.seq + 1;
  }
  const signal = timeout(boundMs);
  for await (const entries of source.follow({ after: seq - 1, filter: [subject], batch, signal })) {
    if (entries.length === 0) return;
    for (const entry of entries) yield decodeFact(stream, entry.data, entry);
  }
  throw new Unavailable('log_unavailable', `The event log did not give all facts of ${subject}`);
}
