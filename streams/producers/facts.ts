import { z } from 'zod';
import { defineStream } from '../core/index.js';

/** Whose the tasks are, where several producers post events here. */
export const producers = defineStream({
  name: 'PRODUCERS',
  description: 'Whose the tasks are, where several producers post events here.',
  subjects: ['producers.>'],
  share: 0.3,
  facts: {
    /** The first producer that spoke of a task or relay: no other one may. */
    'task.owned': z.object({
      /** The name of its room without `#`, which is what shows of the id; the id where it names no room. */
      task: z.string(),
      /** Name of the producer; empty for the one whose secret has no name. */
      source: z.string(),
    }),
    /** The owners of the tasks of before there were names were found, in the events up to a sequence of MARKET. */
    'tasks.looked_back': z.object({ seq: z.number().int().nonnegative() }),
  },
});

/** Where it is kept that owners were found for what came before there were names. */
export const lookedBackSubject = 'producers.looked-back';

/** One subject per task or relay: the log itself refuses a second owner. */
export function ownerSubject(token: string): string {
  return `producers.task.${token}`;
}
