import type { Log } from '../../../streams/core/index.js';
import { ShortLived } from '../../stores/short-lived.js';

/** So long after it was accepted an event may not have opened its room yet. */
const maxAgeMs = 10 * 60_000;
const most = 10_000;

/** Which rooms were deleted once and are about to be opened again by an event. All processes share it. */
export class Openings {
  readonly #records: ShortLived;

  constructor({ log, replicas }: { log: Log; replicas: number }) {
    this.#records = new ShortLived(log, {
      name: 'RELAY_ROOM_OPENINGS',
      description: 'Rooms that an event opens again after they were deleted.',
      maxAgeMs,
      maxEntries: most,
      whenFull: 'forget',
      storage: 'memory',
      replicas,
    });
  }

  /** Notes that an event was accepted that opens a room. */
  async note(room: string): Promise<void> {
    await this.#records.put(keyOf(room), '');
  }

  /** When the last event was accepted that opens a room, by the time of the log server; `undefined` if none was lately. */
  async last(room: string): Promise<Date | undefined> {
    return (await this.#records.get(keyOf(room)))?.at;
  }
}

const keyOf = (room: string) => Buffer.from(room).toString('base64url');
