import type { Projection } from '../../../projections/core/projection.js';
import type { ReplayEnd } from '../../../projections/core/replay.js';
import type { Log } from '../../../streams/core/index.js';
import { timeOf } from '../../words/times.js';
import { Failed, UsageError } from '../core/failure.js';

/** A point of the past as an operator names it: the end of some streams, or a time. */
export type ReplayPoint =
  | { at: Date }
  /** Last sequences by stream; `alone`: the other streams go up to the time of that fact. */
  | { seqs: ReadonlyMap<string, number>; alone: boolean };

/** Reads `--to`. Throws `UsageError` when it is no point of the read model. */
export function replayPoint({ streams }: Projection, text: string | undefined): ReplayPoint {
  if (text === undefined) return { seqs: new Map(), alone: false };
  if (/^[1-9]\d{0,14}$/.test(text)) return { seqs: new Map([[streams[0]!.name, Number(text)]]), alone: true };
  const at = timeOf(text);
  if (at) return { at };
  const seqs = new Map<string, number>();
  for (const part of text.split(',')) {
    const [, name = '', seq = ''] = /^\s*(\w+)=(\d{1,15})\s*$/.exec(part) ?? [];
    if (name === '') throw new UsageError('--to must be a sequence, STREAM=SEQ,..., or a time in ISO 8601');
    if (!streams.some((stream) => stream.name === name.toUpperCase())) {
      const known = streams.map((stream) => stream.name).join(' and ');
      throw new UsageError(`the read model is not made of ${name.toUpperCase()} but of ${known}`);
    }
    seqs.set(name.toUpperCase(), Number(seq));
  }
  return { seqs, alone: false };
}

/** Where each stream ends. What is the end of a stream now is fixed here: facts that come later do not count. */
export async function replayEnds(
  log: Log,
  { streams }: Projection,
  point: ReplayPoint,
): Promise<Map<string, ReplayEnd>> {
  const ends = new Map<string, ReplayEnd>();
  for (const stream of streams) {
    const head = await log.head(stream);
    const seq = 'seqs' in point ? point.seqs.get(stream.name) : undefined;
    if (seq !== undefined && seq > head) {
      throw new Failed(`${stream.name} ends at ${head}: ${seq} has not come yet`, 'beyond_the_end');
    }
    ends.set(stream.name, { seq: seq ?? head, at: 'at' in point ? point.at : undefined });
  }
  const [first, ...others] = streams;
  if ('seqs' in point && point.alone && others.length > 0) {
    const { seq } = ends.get(first!.name)!;
    const fact = await log.next(first!, seq);
    // of a fact that is no longer there only the time of the next one is known
    const at = fact && new Date(fact.at.getTime() - (fact.seq > seq ? 1 : 0));
    for (const { name } of others) ends.set(name, { ...ends.get(name)!, at });
  }
  return ends;
}
