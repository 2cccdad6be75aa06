import type { Logger } from 'pino';
import { type ChannelFact, channelSubject, channels } from '../../../streams/channels/index.js';
import { clock } from '../../../streams/core/clock.js';
import {
  boundedCache,
  decodeFact,
  isExpected,
  type Log,
  type Recorded,
} from '../../../streams/core/index.js';

/** The last fact of a room that counts here. */
interface Known {
  seq: number;
  deletedAt: Date | undefined;
  /** When this process learned it, by its own clock. */
  learned: number;
}

/** Rooms whose last fact is remembered; for the others the log is asked again. */
const mostRemembered = 10_000;
/** What nothing was heard of for so long is asked again: a copy of the stream that lags may have answered. */
const trustedMs = 60_000;
const batch = 256;

/**
 * Which rooms are deleted. The log is asked once for each room. From then on the channels are followed, so that events
 * of a room that is in use wait for no request.
 */
export class DeletedRooms {
  readonly #log: Log;
  readonly #logger: Logger;
  readonly #known = boundedCache<string, Known>(mostRemembered);
  readonly #stop = new AbortController();
  #following: Promise<boolean> | undefined;

  constructor({ log, logger }: { log: Log; logger: Logger }) {
    this.#log = log;
    this.#logger = logger;
  }

  /** When a room was deleted, by the log's clock; `undefined` if it was not, or was made again since. */
  async deletedAt(room: string): Promise<Date | undefined> {
    const subject = channelSubject(room);
    const known = this.#known.get(subject);
    if (known && clock.now() - known.learned < trustedMs) return known.deletedAt;
    // what is said before the following begins may be passed over by it
    const isFollowed = await this.#follow();
    const last = await this.#log.last(channels, subject);
    if (!isFollowed) return deletionOf(last);
    return this.#note(subject, last?.seq ?? 0, deletionOf(last));
  }

  /** Follows no more. */
  stop(): void {
    this.#stop.abort();
  }

  #note(subject: string, seq: number, deletedAt: Date | undefined): Date | undefined {
    const known = this.#known.get(subject);
    // the following may have come further than the answer
    if (known && known.seq > seq) return known.deletedAt;
    this.#known.set(subject, { seq, deletedAt, learned: clock.now() });
    return deletedAt;
  }

  /** Begins to follow the channels at their end. Answers whether they are followed from here on. */
  async #follow(): Promise<boolean> {
    this.#following ??= this.#log.head(channels).then(
      (head) => {
        void this.#read(head);
        return true;
      },
      (error: unknown) => {
        this.#following = undefined;
        if (isExpected(error)) return false;
        throw error;
      },
    );
    return await this.#following;
  }

  async #read(after: number): Promise<void> {
    const { signal } = this.#stop;
    for await (const entries of this.#log.follow(channels, { after, batch, signal })) {
      for (const entry of entries) {
        try {
          const fact = decodeFact(channels, entry.data, entry);
          this.#note(entry.subject, entry.seq, deletionOf(fact));
        } catch (error) {
          this.#logger.error({ seq: entry.seq, err: error }, 'channel fact cannot be read: passed over');
          this.#known.delete(entry.subject);
        }
      }
    }
  }
}

function deletionOf(last: Recorded<ChannelFact> | undefined): Date | undefined {
  return last?.type === 'channel.deleted' ? last.at : undefined;
}
