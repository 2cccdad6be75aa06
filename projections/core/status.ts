import type { Fold } from './fold.js';
import type { Projection } from './projection.js';
import type { Build } from './registry.js';

/** How one build of a read model stands. */
export interface ProjectionStatus {
  name: string;
  version: number;
  schema: string;
  /** `live`: it is the one that is read. */
  state: 'building' | 'live' | 'halted';
  /** Sequences: how far each stream is folded, how far it goes, and what lies between. */
  streams: { stream: string; position: number; head: number; lag: number }[];
  /** The fact that it halted at. */
  error: { stream: string; seq: number; message: string } | null;
}

/** The status of a build from what the registry says and, where it is folded in this process, from the folds themselves. */
export function statusOf(
  projection: Projection,
  build: Build,
  known: { isRead: boolean; folds: readonly Fold[]; heads: ReadonlyMap<string, number> },
): ProjectionStatus {
  const { name, version, schema } = build;
  let error: ProjectionStatus['error'] = null;
  const streams = projection.streams.map(({ name: stream }) => {
    const fold = known.folds.find((it) => it.stream.name === stream);
    const halt = fold ? fold.halt : build.halts[stream];
    if (halt) error ??= { stream, ...halt };
    const position = fold && fold.state !== 'waiting' ? fold.position : (build.positions[stream] ?? 0);
    const head = Math.max(position, known.heads.get(stream) ?? 0);
    return { stream, position, head, lag: head - position };
  });
  const state = error ? 'halted' : known.isRead ? 'live' : 'building';
  return { name, version, schema, state, streams, error };
}
