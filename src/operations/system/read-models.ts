import { z } from 'zod';
import type { Projector } from '../../../projections/core/projector.js';
import type { ProjectionStatus } from '../../../projections/core/status.js';
import { Refusal } from '../../../streams/core/index.js';
import { text } from '../core/fields.js';
import { defineForOperators } from '../core/operation.js';

/** What the operations about read models work with. */
export interface ReadModelParts {
  projector: Projector;
}

const name = z.string().min(1).meta({ description: 'Name of the read model', example: 'delivery_queue' });
const input = z.object({ name });
const projection = text('delivery_queue');
const seq = z.int().meta({ example: 42 });
/** A build of a read model, as it is answered. */
const Build = z
  .object({
    name: projection,
    version: z.int().meta({ example: 2 }),
    schema: text('delivery_queue_v2'),
    state: z
      .enum(['building', 'live', 'halted'])
      .meta({ example: 'live' })
      .describe('live: it is the one that is read'),
    streams: z.array(
      z.object({
        stream: text('MARKET'),
        position: seq.describe('Sequence up to which it is folded'),
        head: seq.describe('Last sequence of the stream'),
        lag: z.int().meta({ example: 0 }).describe('What lies between'),
        state: z
          .enum(['folding', 'waiting', 'halted'])
          .nullable()
          .meta({ example: 'folding' })
          .describe(
            'waiting: the read store or the log does not answer; null: this process does not fold it',
          ),
      }),
    ),
    progress: z
      .object({
        position: seq,
        head: seq,
        fraction: z.number().describe('0 to 1'),
        facts_per_second: z.int().nullable(),
        seconds_left: z.int().nullable().describe('null while it does not move'),
      })
      .nullable()
      .meta({ example: null })
      .describe('How far a build is that is not read yet, over all its streams'),
    error: z
      .object({ stream: text('MARKET'), seq, message: text('cannot be folded') })
      .nullable()
      .meta({ example: null })
      .describe('The fact at which it has halted'),
  })
  .meta({ id: 'ReadModelBuild' });
const unknown = { read_model_not_found: true } as const;

/** How far each read model is. */
export const listProjections = defineForOperators('listProjections', {
  summary: 'How far each read model is',
  says: 'Builds, and those that are not used any more',
  output: z.object({ projections: z.array(Build), unused: z.array(text('delivery_queue_v1')) }),
  http: { method: 'get', path: '/ops/projections' },
  run: async (_input, _caller, { projector }: ReadModelParts) => ({
    projections: (await projector.status()).map(projectionView),
    unused: projector.upkeep.unused(),
  }),
});

/** How far one read model is. */
export const getProjection = defineForOperators('getProjection', {
  summary: 'How far one read model is',
  input,
  says: 'Its builds',
  output: z.object({ name: projection, builds: z.array(Build) }),
  refusals: unknown,
  http: { method: 'get', path: '/ops/projections/{name}' },
  run: async ({ name }, _caller, { projector }: ReadModelParts) => {
    const builds = (await projector.status()).filter((status) => status.name === name);
    if (builds.length === 0) throw new Refusal('read_model_not_found', `There is no read model ${name}`);
    return { name, builds: builds.map(projectionView) };
  },
});

/** Rebuilds a read model. */
export const rebuildProjection = defineForOperators('rebuildProjection', {
  summary: 'Build a read model again, next to the one that is read',
  input,
  status: 202,
  says: 'It has begun; Location says where to look',
  output: z.object({
    name: projection,
    version: z.int().meta({ example: 2 }),
    schema: text('delivery_queue_v2_g2'),
  }),
  refusals: unknown,
  http: {
    method: 'post',
    path: '/ops/projections/{name}/rebuild',
    headersOf: ({ name }: { name: string }) => ({ location: `/ops/projections/${name}` }),
  },
  run: async ({ name }, _caller, { projector }: ReadModelParts) => await projector.upkeep.rebuild(name),
});

/** Lets a halted read model skip a fact. */
export const skipFact = defineForOperators('skipFact', {
  summary: 'Let a halted read model pass over a fact',
  input: z.object({
    name,
    stream: z.string().min(1).meta({ example: 'MARKET' }),
    seq: z.int().min(1).meta({ example: 42 }),
    reason: z.string().min(1).max(500).meta({ example: 'cannot be folded, ticket 7' }),
  }),
  says: 'It goes on after the fact',
  output: z.object({
    name: projection,
    skipped: z.object({ stream: text('MARKET'), seq }),
  }),
  refusals: { ...unknown, not_halted: true, ahead_of_log: true },
  http: { method: 'post', path: '/ops/projections/{name}/skip' },
  run: async ({ name, stream, seq, reason }, { actor }, { projector }: ReadModelParts) => {
    await projector.upkeep.skip(name, { stream, seq, reason, by: actor });
    return { name, skipped: { stream, seq } };
  },
});

/** Drops the tables of builds that are no longer read. */
export const pruneProjections = defineForOperators('pruneProjections', {
  summary: 'Drop the tables of builds that are not read any more',
  says: 'What was dropped',
  output: z.object({ dropped: z.array(text('delivery_queue_v1')) }),
  http: { method: 'post', path: '/ops/projections/prune' },
  run: async (_input, _caller, { projector }: ReadModelParts) => ({
    dropped: await projector.upkeep.prune(),
  }),
});

/** A build of a read model, as it is answered; numbers are rounded to a useful precision. */
function projectionView({ progress, ...status }: ProjectionStatus): z.output<typeof Build> {
  if (!progress) return { ...status, progress };
  const { position, head, fraction, factsPerSecond, secondsLeft } = progress;
  return {
    ...status,
    progress: {
      position,
      head,
      fraction: Math.floor(fraction * 1_000) / 1_000,
      facts_per_second: factsPerSecond === null ? null : Math.round(factsPerSecond),
      seconds_left: secondsLeft === null ? null : Math.ceil(secondsLeft),
    },
  };
}
