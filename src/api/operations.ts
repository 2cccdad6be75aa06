import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Projector } from '../../projections/core/projector.js';
import type { ProjectionStatus } from '../../projections/core/status.js';
import { deadLetters, queueRow } from '../../projections/delivery-queue.js';
import { type Log, Refusal } from '../../streams/core/index.js';
import { delivery, type deliveryDecider } from '../../streams/delivery/index.js';
import { eventToken, market, marketSubject } from '../../streams/market/index.js';
import type { ApiKeys } from '../auth/api-keys.js';
import type { ReadModels } from '../read-models.js';
import { parseInput } from '../validation.js';

/** What the operators' routes work with. */
export interface OperationsOptions {
  log: Log;
  readModels: ReadModels;
  projector: Projector;
  keys: ApiKeys;
  decider: ReturnType<typeof deliveryDecider>;
  /** What this process is and where its parts are, without credentials. */
  about: object;
}

const DeadLetterQuery = z.object({
  status: z.enum(['dead_letter', 'expired']).default('dead_letter'),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  before: z.coerce.number().int().min(1).optional(),
});
const EventParams = z.object({ event_id: z.string().min(1) });
const ProjectionParams = z.object({ name: z.string().min(1) });
const SkipBody = z.object({
  stream: z.string().min(1),
  seq: z.int().min(1),
  reason: z.string().min(1).max(500),
});

/** `/ops/*`: what an operator needs to see and to mend. All of it needs an API key, reads too. */
export async function operationsRoutes(app: FastifyInstance, options: OperationsOptions): Promise<void> {
  const { log, readModels, projector, keys, decider, about } = options;
  app.addHook('onRequest', async (request) => {
    keys.require(request);
  });

  app.get('/ops/service', async () => about);

  app.get('/ops/dead-letters', async (request) => {
    const { status, limit, before } = parseInput(DeadLetterQuery, request.query);
    const dead_letters = await readModels.read('delivery_queue', (sql, schema) =>
      deadLetters(sql, schema, { status, limit, ...(before === undefined ? {} : { before }) }),
    );
    return { dead_letters };
  });

  app.get('/ops/dead-letters/:event_id', async (request) => {
    const { event_id } = parseInput(EventParams, request.params);
    const row = await readModels.read('delivery_queue', (sql, schema) => queueRow(sql, schema, event_id));
    if (!row) throw new Refusal('not_found', 404, `No event with id ${event_id} was received`);
    return row;
  });

  app.post('/ops/dead-letters/:event_id/redrive', async (request) => {
    const { event_id } = parseInput(EventParams, request.params);
    const token = eventToken(event_id);
    const received = await log.last(market, marketSubject(token));
    if (!received) throw new Refusal('not_found', 404, `No event with id ${event_id} was received`);
    const event = { seq: received.seq, event_id, token };
    const { position, fact } = await log.handle(
      delivery,
      decider,
      { is: 'redrive', event },
      { by: keys.require(request), cause: request.id },
    );
    await projector.reached('delivery_queue', position, 2_000);
    return {
      event_id,
      redriven: true,
      channels: fact?.type === 'event.redriven' ? fact.data.undelivered : [],
    };
  });

  app.get('/ops/projections', async () => ({
    projections: (await projector.status()).map(projectionView),
    unused: projector.unused(),
  }));

  app.get('/ops/projections/:name', async (request) => {
    const { name } = parseInput(ProjectionParams, request.params);
    const builds = (await projector.status()).filter((status) => status.name === name);
    if (builds.length === 0) throw new Refusal('not_found', 404, `There is no read model ${name}`);
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
