import { z } from 'zod';
import { defineStream } from '../core/index.js';

/** What operators decided about the service itself. */
export const operations = defineStream({
  name: 'OPERATIONS',
  subjects: ['operations.>'],
  facts: {
    /** A read model may pass over a fact that it cannot fold; a later version of it has to be told anew. */
    'fact.skipped': z.object({
      projection: z.string(),
      version: z.int().positive(),
      stream: z.string(),
      /** Sequence of the fact in that stream. */
      seq: z.int().positive(),
      reason: z.string(),
    }),
    /** A worker may pass over a fact that it cannot take. */
    'work.skipped': z.object({
      /** Name of its durable consumer. */
      worker: z.string(),
      stream: z.string(),
      seq: z.int().positive(),
      reason: z.string(),
    }),
  },
});

/** Subject of what was decided about one read model: a halted one looks only here. */
export function projectionSubject(name: string): string {
  return `operations.projection.${name}`;
}

/** Subject of what was decided about one worker. */
export function workerSubject(worker: string): string {
  return `operations.worker.${worker}`;
}
