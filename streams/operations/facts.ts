import { z } from 'zod';
import { defineStream } from '../core/index.js';

/** What operators decided about the service itself. */
export const operations = defineStream({
  name: 'OPERATIONS',
  description: 'What operators decided about the service itself.',
  subjects: ['operations.>'],
  facts: {
    /** A read model may skip a fact that it cannot fold. A later version of the model must be told again. */
    'fact.skipped': z.object({
      projection: z.string(),
      version: z.int().positive(),
      stream: z.string(),
      /** Sequence of the fact in that stream. */
      seq: z.int().positive(),
      reason: z.string(),
    }),
    /** A worker may skip a fact that it cannot process. */
    'work.skipped': z.object({
      /** Name of its durable consumer. */
      worker: z.string(),
      stream: z.string(),
      seq: z.int().positive(),
      reason: z.string(),
    }),
  },
});

/** Subject of the decisions about one read model: a halted model looks only here. */
export function projectionSubject(name: string): string {
  return `operations.projection.${name}`;
}

/** Subject of the decisions about one worker. */
export function workerSubject(worker: string): string {
  return `operations.worker.${worker}`;
}
