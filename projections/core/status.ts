import { clock } from '../../streams/core/clock.js';
import type { Build } from './builds.js';
import type { Fold } from './fold.js';
import type { Projection } from './projection.js';

/** How far a build is in one stream, in sequences: how far it is folded, how far it goes, and what lies between. */
export interface StreamStatus {
  stream: string;
  position: number;
  head: number;
  lag: number;
  /** `waiting`: the read store or the log does not answer; `null`: it is not folded in this process. */
  state: Fold['state'] | null;
}

/** How far a build has come that is not read yet, over all its streams. */
export interface Progress {
  position: number;
  head: number;
  /** 0 to 1. */
  fraction: number;
  /** `null` until it has been seen for a moment. */
  factsPerSecond: number | null;
  /** `null` when it does not move. */
  secondsLeft: number | null;
}

/** The state of one build of a read model. */
export interface ProjectionStatus {
  name: string;
  version: number;
  schema: string;
  /** `live`: it is the one that is read. */
  state: 'building' | 'live' | 'halted';
  streams: StreamStatus[];
  /** `null` when it is read already, or has halted. */
  progress: Progress | null;
  /** The fact that it halted at. */
  error: { stream: string; seq: number; message: string } | null;
}

/** So much of a status as tells why it halted. */
type IsHalted = { streams: Pick<StreamStatus, 'stream' | 'position'>[] } & Pick<ProjectionStatus, 'error'>;

/** The status of a build from what the registry says and, where it is folded in this process, from the folds themselves. */
export function statusOf(
  projection: Projection,
  build: Build,
  known: { isRead: boolean; folds: readonly Fold[]; heads: ReadonlyMap<string, number>; rates: FoldingRates },
): ProjectionStatus {
  const { name, version, schema } = build;
  let error: ProjectionStatus['error'] = null;
  const streams = projection.streams.map(({ name: stream }) => {
    const fold = known.folds.find((it) => it.stream.name === stream);
    const halt = fold ? fold.halt : build.halts[stream];
    if (halt) error ??= { stream, ...halt };
    const position = fold && fold.state !== 'waiting' ? fold.position : (build.positions[stream] ?? 0);
    const head = Math.max(position, known.heads.get(stream) ?? 0);
    return { stream, position, head, lag: head - position, state: fold?.state ?? null };
  });
  const state = error ? 'halted' : known.isRead ? 'live' : 'building';
  const progress = state === 'building' ? progressOf(streams, (at) => known.rates.of(schema, at)) : null;
  return { name, version, schema, state, streams, progress, error };
}

/**
 * Whether a read model has halted because it has folded more than the log has: facts were lost, or it is another log.
 * It then names the last fact that it has folded; a fact that cannot be folded comes after its position.
 */
export function isAheadOfLog({ streams, error }: IsHalted): boolean {
  if (error === null || error.seq === 0) return false;
  return streams.some(({ stream, position }) => stream === error.stream && position >= error.seq);
}

function progressOf(streams: StreamStatus[], rateAt: (position: number) => number | null): Progress {
  const position = streams.reduce((sum, stream) => sum + stream.position, 0);
  const head = streams.reduce((sum, stream) => sum + stream.head, 0);
  const factsPerSecond = rateAt(position);
  return {
    position,
    head,
    fraction: head === 0 ? 1 : position / head,
    factsPerSecond,
    secondsLeft: factsPerSecond ? (head - position) / factsPerSecond : null,
  };
}

/** Long enough to even out batches, short enough to follow a store that becomes slower; in milliseconds. */
const windowMs = 30_000;
const shortestMs = 100;

/** How fast builds move, from where they have been seen before. */
export class FoldingRates {
  readonly #seen = new Map<string, { at: number; position: number }[]>();
  readonly #elapsed: () => number;

  /** `elapsed` is in milliseconds and never goes back. */
  constructor(elapsed = () => clock.elapsed()) {
    this.#elapsed = elapsed;
  }

  /** Facts per second of a build that is at a position now; `null` when it is seen for the first time. */
  of(schema: string, position: number): number | null {
    const at = this.#elapsed();
    const seen = this.#seen.get(schema) ?? [];
    this.#seen.set(schema, seen);
    if (position < (seen.at(-1)?.position ?? 0)) seen.length = 0; // the store went back
    const last = seen.at(-1);
    if (!last || at - last.at >= shortestMs) seen.push({ at, position });
    while (seen.length > 2 && at - seen[1]!.at > windowMs) seen.shift();
    const first = seen[0]!;
    if (at - first.at < shortestMs) return null;
    return ((position - first.position) * 1_000) / (at - first.at);
  }

  /** Forgets the builds that are none of these any more. */
  keep(schemas: ReadonlySet<string>): void {
    for (const schema of this.#seen.keys()) if (!schemas.has(schema)) this.#seen.delete(schema);
  }
}
