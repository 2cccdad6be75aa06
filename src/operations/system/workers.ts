import { z } from 'zod';
import type { Log } from '../../../streams/core/index.js';
import { streams } from '../../../streams/index.js';
import { consumerStatuses, skipWork as skip } from '../../../workers/core/consumers.js';
import { defineOperation } from '../core/operation.js';

/** What the operations about workers work with. */
export interface WorkerParts {
  log: Log;
}

const Worker = z.looseObject({
  worker: z.string(),
  stream: z.string(),
  position: z.int(),
  pending: z.int(),
  unacknowledged: z.int(),
  halted: z.array(z.object({ seq: z.int(), reason: z.string() })),
});
const well = { worker: 'deliver-to-irc', stream: 'MARKET', position: 42, pending: 0, unacknowledged: 0 };

/** How far each worker is. */
export const listWorkers = defineOperation({
  id: 'listWorkers',
  tag: 'Operations',
  summary: 'How far each worker is, and at which facts it has halted',
  access: 'key',
  answers: {
    200: {
      says: 'Workers by the consumers that their positions lie on',
      body: {
        schema: z.object({ workers: z.array(Worker) }),
        example: { workers: [{ ...well, halted: [] }] },
      },
    },
  },
  http: { method: 'get', path: '/ops/workers' },
  run: async (_input, _caller, { log }: WorkerParts) => ({
    workers: (await consumerStatuses(log, streams)).map((status) => ({ ...status })),
  }),
});

/** Lets a worker pass over a fact. */
export const skipWork = defineOperation({
  id: 'skipWork',
  tag: 'Operations',
  summary: 'Let a worker pass over a fact that it cannot take',
  access: 'key',
  input: z.object({
    name: z.string().min(1).describe('Name of the worker'),
    seq: z.int().min(1),
    reason: z.string().min(1).max(500),
  }),
  example: { name: 'deliver-to-irc', seq: 42, reason: 'cannot be read, ticket 7' },
  answers: {
    200: {
      says: 'It goes on without the fact',
      body: {
        schema: z.object({ name: z.string(), skipped: z.object({ stream: z.string(), seq: z.int() }) }),
        example: { name: 'deliver-to-irc', skipped: { stream: 'MARKET', seq: 42 } },
      },
    },
  },
  refusals: { not_found: 'There is none of this name', not_halted: true },
  http: { method: 'post', path: '/ops/workers/{name}/skip' },
  run: async ({ name, seq, reason }, { actor }, { log }: WorkerParts) => ({
    name,
    skipped: await skip(log, streams, name, { seq, reason, by: actor }),
  }),
});
