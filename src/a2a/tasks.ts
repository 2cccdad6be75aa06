import type { Log } from '../../streams/core/index.js';
import { networkOf } from '../operations/core/network-of.js';
import { SharedCounts } from '../stores/shared-counts.js';
import { ShortLived } from '../stores/short-lived.js';
import type { Task } from './protocol.js';

/** How long tasks are known, in milliseconds, and how many at a time; the oldest go first. */
export const taskLimits = { maxAgeMs: 3_600_000, maxEntries: 10_000, maxBytes: 32_000_000 };

/**
 * The room that one address may take in an hour, in bytes, from all processes together. Each task counts its own size and this overhead.
 */
const addressBytes = taskLimits.maxBytes / 10;
const overheadBytes = 3_000;

/** Recently answered tasks, for any process that is asked about them next. */
export class Tasks {
  readonly #records: ShortLived;
  readonly #addresses: SharedCounts;

  constructor(parts: { log: Log; replicas: number; limits?: typeof taskLimits }) {
    const { log, replicas, limits = taskLimits } = parts;
    // if it is lost with the log server, the agent can ask its question again
    const kept = { whenFull: 'forget', storage: 'memory', replicas } as const;
    this.#records = new ShortLived(log, {
      name: 'RELAY_A2A_TASKS',
      description: 'Tasks that the A2A agent has answered.',
      ...limits,
      ...kept,
    });
    this.#addresses = new SharedCounts({
      log,
      replicas,
      name: 'RELAY_A2A_ADDRESSES',
      description: 'Bytes of tasks of the A2A agent, by client address.',
      most: addressBytes,
      windowMs: taskLimits.maxAgeMs,
      storage: 'memory',
    });
  }

  /** A task and its revision; `undefined` if it is not known, or not any more. */
  async find(id: string): Promise<{ task: Task; revision: number } | undefined> {
    if (!/^[0-9a-f-]{36}$/.test(id)) return undefined;
    const record = await this.#records.get(id);
    return record && { task: JSON.parse(record.text) as Task, revision: record.revision };
  }

  /**
   * Stores a task if it still has this revision. Resolves with whether it had. A task from an address that
   * has used up its room is not stored: others would be forgotten for it.
   */
  async keep(task: Task, revision: number, address?: string): Promise<boolean> {
    const text = JSON.stringify(task);
    if (address !== undefined) {
      const { allowed } = await this.#addresses.take(networkOf(address), text.length + overheadBytes);
      if (!allowed) return true;
    }
    return (await this.#records.put(task.id, text, revision)) === 'stored';
  }
}
