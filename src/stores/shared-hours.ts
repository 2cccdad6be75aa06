import type { Log } from '../../streams/core/index.js';
import type { Hours, Spent } from '../../workers/channels/index.js';
import { SharedRecords } from './shared-records.js';

const hourMs = 3_600_000;
/** Kinds of what is done at most. */
const mostKinds = 100;

/** What was done lately, of each kind: all processes share it, and restarts do not end it. */
export class SharedHours implements Hours {
  readonly #records: SharedRecords;

  /** `name` is that of their stream on the log server, in capitals. */
  constructor({ log, replicas, name }: { log: Log; replicas: number; name: string }) {
    const kept = { maxAgeMs: hourMs, maxEntries: mostKinds, whenFull: 'refuse', storage: 'disk' } as const;
    const description = 'What was done in the last hour, for limits by the hour.';
    this.#records = new SharedRecords(log, { name, description, replicas, ...kept });
  }

  async change(what: string, change: Parameters<Hours['change']>[1]): Promise<void> {
    const key = Buffer.from(what).toString('base64url');
    await this.#records.change(key, (text) =>
      JSON.stringify(change(text === undefined ? undefined : (JSON.parse(text) as Spent[]))),
    );
  }
}
