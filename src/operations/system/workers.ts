import { z } from 'zod';
import type { Log } from '../../../streams/core/index.js';
import { streams } from '../../../streams/index.js';
import { consumerStatuses, skipWork as skip } from '../../../workers/core/consumers.js';
import { text } from '../core/fields.js';
import { defineForOperators } from '../core/operation.js';

/** What the operations about workers work with. */
export interface WorkerParts {
  log: Log;
}

const worker = text('deliver-to-irc');
const seq = z.int().meta({ example: 42 });
const Worker = z.looseObject({
  worker,
  stream: text('MARKET'),
  position: seq,
  pending: z.int().meta({ example: 0 }),
  unacknowledged: z.int(),
  halted: z.array(z.object({ seq, reason: text('a fact that cannot be read') })),
});

/** How far each worker is. */
export const listWorkers = defineForOperators('listWorkers', {
  summary: 'How far each worker is, and at which facts it has halted',
  says: 'Workers by the consumers that their positions lie on',
  output: z.object({ workers: z.array(Worker) }),
  http: { method: 'get', path: '/ops/workers' },
  run: async (_input, _caller, { log }: WorkerParts) => ({
    workers: (await consumerStatuses(log, streams)).map((status) => ({ ...status })),
  }),
});

/** Lets a worker pass over a fact. */
export const skipWork = defineForOperators('skipWork', {
  summary: 'Let a worker pass over a fact that it cannot take',
  input: z.object({
    name: worker.min(1).describe('Name of the worker'),
    seq: seq.min(1),
    reason: z.string().min(1).max(500).meta({ example: 'cannot be read, ticket 7' }),
  }),
  says: 'It goes on without the fact',
  output: z.object({ name: worker, skipped: z.object({ stream: text('MARKET'), seq }) }),
  refusals: { worker_not_found: true, not_halted: true },
  http: { method: 'post', path: '/ops/workers/{name}/skip' },
  run: async ({ name, seq, reason }, { actor }, { log }: WorkerParts) => ({
    name,
    skipped: await skip(log, streams, name, { seq, reason, by: actor }),
  }),
});
