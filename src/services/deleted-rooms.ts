import type { Logger } from 'pino';
import { channelSubject, channels } from '../../streams/channels/index.js';
import { decodeFact, type Entry, type Log } from '../../streams/core/index.js';

/** Names that are remembered at most. */
const maxKnown = 10_000;
const batch = 256;

/** Which channels are deleted now: the log is asked once for each name, and tells of every change from there on. */
export class DeletedRooms {
  readonly #log: Pick<Log, 'head' | 'follow' | 'last'>;
  readonly #logger: Logger;
  readonly #stop = new AbortController();
  /** By name; the map's order is the order of use. */
  readonly #known = new Map<string, boolean>();
  #listening: Promise<void> | undefined;

  constructor(log: Pick<Log, 'head' | 'follow' | 'last'>, logger: Logger) {
    this.#log = log;
    this.#logger = logger;
  }

  /** Throws `Unavailable` when the log cannot be asked. */
  async has(name: string): Promise<boolean> {
    await this.#listen();
    if (!this.#known.has(name)) {
      const last = await this.#log.last(channels, channelSubject(name));
      // what was heard meanwhile is newer
      if (!this.#known.has(name)) this.#note(name, last?.type === 'channel.deleted');
    }
    const isDeleted = this.#known.get(name) ?? false;
    this.#note(name, isDeleted);
    return isDeleted;
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Listens to the log from its end on; resolves when it is known where that is. */
  async #listen(): Promise<void> {
    this.#listening ??= this.#log.head(channels).then((head) => {
      void this.#hear(head).catch((error: unknown) => {
        this.#logger.warn({ err: error }, 'changes of channels are not heard, listening again');
        this.#known.clear();
        this.#listening = undefined;
      });
    });
    await this.#listening.catch((error: unknown) => {
      this.#listening = undefined;
      throw error;
    });
  }

  async #hear(after: number): Promise<void> {
    const { signal } = this.#stop;
    for await (const entries of this.#log.follow(channels, { after, batch, signal })) {
      for (const entry of entries) {
        const name = `#${entry.subject.slice(channelSubject('#').length)}`;
        this.#note(name, isDeletion(entry));
      }
    }
  }

  #note(name: string, isDeleted: boolean): void {
    this.#known.delete(name);
    this.#known.set(name, isDeleted);
    if (this.#known.size > maxKnown) this.#known.delete(this.#known.keys().next().value!);
  }
}

/** What this version cannot read opens or changes a channel in a way it does not know of. */
function isDeletion(entry: Entry): boolean {
  try {
    return decodeFact(channels, entry.data, entry).type === 'channel.deleted';
  } catch {
    return false;
  }
}
