import type { Operations } from '../core/rpc.js';

/** Told what the keeper of the channels does, as it does it. */
export interface ChannelsObserver {
  /** An operation came to its end: `done`, or the code of its error. */
  operation(name: string, outcome: string): void;
  /** Channels that were not as they are to be, and now are; by what had to be done. */
  repaired(what: 'changed' | 'recreated' | 'removed' | 'bot_brought_in', channels: number): void;
}

/** Runs an operation and tells how it ended. */
export async function observed<Result>(
  observe: ChannelsObserver | undefined,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await work();
    observe?.operation(name, 'done');
    return result;
  } catch (error) {
    observe?.operation(name, String((error as { code?: unknown }).code ?? 'error'));
    throw error;
  }
}

/** The same operations, each of them observed under its name. */
export function observedOperations(
  operations: Operations,
  observe: ChannelsObserver | undefined,
): Operations {
  const entries = Object.entries(operations).map(([name, run]) => [
    name,
    (input: never) => observed(observe, name, () => run(input)),
  ]);
  return Object.fromEntries(entries) as Operations;
}
