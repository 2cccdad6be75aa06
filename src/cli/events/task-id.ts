import { randomBytes } from 'node:crypto';

/** A new id for a task or relay: eight characters, which is what channel names show of one. */
export function newTaskId(): string {
  return randomBytes(4).toString('hex');
}
