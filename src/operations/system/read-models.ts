import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Projector } from '../../../projections/core/projector.js';
import type { ProjectionStatus } from '../../../projections/core/status.js';
import { Refusal } from '../../../streams/core/index.js';
import type { ApiKeys } from '../../auth/api-keys.js';
import { parseInput } from '../core/validation.js';

/** What the operators' routes work with. */
export interface OperationsOptions {
  projector: Projector;
  keys: ApiKeys;
  /** What this process is and where its parts are, without credentials. */
  about: object;
}

const ProjectionParams = z.object({ name: z.string().min(1) });
const SkipBody = z.object({
  stream: z.string().min(1),
  seq: z.int().min(1),
  reason: z.string().min(1).max(500),
});

/** `/ops/service` and `/ops/projections`: what an operator needs to see and to mend. All of it needs an API key, reads too. */
export async function operationsRoutes(app: FastifyInstance, options: OperationsOptions): Promise<void> {
  const { projector, keys, about } = options;
  app.addHook('onRequest', async (request) => {
    keys.require(request);
  });

  app.get('/ops/service', async () => about);

  app.get('/ops/projections', async () => ({
    projections: (await projector.status()).map(projectionView),
    unused: projector.unused(),
  }));

  app.get('/ops/projections/:name', async (request) => {
    const { name } = parseInput(ProjectionParams, request.params);
    const builds = (await projector.status()).filter((status) => status.name === name);
    if (builds.length === 0) throw new Refusal('not_found', `There is no read model ${name}`);
    return { name, builds: builds.map(projectionView) };
  });

  app.post('/ops/projections/:name/rebuild', async (request, reply) => {
    const { name } = parseInput(ProjectionParams, request.params);
    const build = await projector.rebuild(name);
    return reply.code(202).header('location', `/ops/projections/${name}`).send(build);
  });

  app.post('/ops/projections/:name/skip', async (request) => {
    const { name } = parseInput(ProjectionParams, request.params);
    const { stream, seq, reason } = parseInput(SkipBody, request.body);
    await projector.skip(name, { stream, seq, reason, by: keys.require(request) });
    return { name, skipped: { stream, seq } };
  });

  app.post('/ops/projections/prune', async () => ({ dropped: await projector.prune() }));
}

/** A build of a read model as it is answered; numbers are rounded to what they are worth. */
function projectionView({ progress, ...status }: ProjectionStatus): object {
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
