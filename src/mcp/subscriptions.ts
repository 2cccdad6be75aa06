import { setTimeout as pause } from 'node:timers/promises';
import type { ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import { Refusal } from '../../streams/core/index.js';
import { placeOf } from '../operations/network/reads.js';
import { asked, channelOf, lastLineOf } from './resources.js';

/** The lines of a channel after one of them; throws when it cannot be read, or not any more. */
export type WatchLines = (
  channel: string,
  options: { after: string; signal: AbortSignal },
) => AsyncIterable<{ id: string }>;

/** What subscriptions work with. */
export interface SubscriptionOptions {
  watch: WatchLines;
  /** Reads a resource. Throws when it is not there, or not for this session. */
  read(uri: string): Promise<ReadResourceResult>;
  /** Says to the client that a resource has changed. */
  tell(uri: string): Promise<void>;
  /** Told of a subscription that ended by itself. */
  ended(error: Error): void;
  /** A resource that changes more often is told of once in so many milliseconds. */
  leastMs?: number;
}

/** The most subscriptions of a session. */
export const mostSubscriptions = 20;

/** The channels that the client of one session is told about. */
export class Subscriptions {
  readonly #options: SubscriptionOptions;
  readonly #watched = new Map<string, AbortController>();

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  /** Begins to tell of a channel. Throws an error of JSON-RPC. */
  async add(uri: string): Promise<Record<string, never>> {
    const channel = channelOf(uri);
    const read = await this.#options.read(uri);
    // what is no channel changes with the version of the service only
    if (channel === undefined || this.#watched.has(uri)) return {};
    const stop = new AbortController();
    await asked(async () => {
      if (this.#watched.size >= mostSubscriptions)
        throw new Refusal(
          'too_many_subscriptions',
          `A session has ${mostSubscriptions} subscriptions at most`,
        );
      // at once: others that are added meanwhile count it
      this.#watched.set(uri, stop);
    });
    void this.#follow(uri, { channel, after: lastLineOf(read), stop });
    return {};
  }

  /** Tells no more of it. */
  remove(uri: string): Record<string, never> {
    this.#watched.get(uri)?.abort();
    this.#watched.delete(uri);
    return {};
  }

  close(): void {
    for (const uri of [...this.#watched.keys()]) this.remove(uri);
  }

  async #follow(
    uri: string,
    { channel, after, stop }: { channel: string; after: string; stop: AbortController },
  ): Promise<void> {
    const { signal } = stop;
    const { watch, tell, ended, leastMs = 1_000 } = this.#options;
    let newest = after;
    let told = Number.NEGATIVE_INFINITY;
    let isDue = false;
    const say = async () => {
      let line: string;
      do {
        await pause(Math.max(0, told + leastMs - performance.now()), undefined, { ref: false, signal });
        line = newest;
        await this.#isReadable(uri, line, signal);
        told = performance.now();
        await tell(uri);
        // what was heard meanwhile the client may not have read yet
      } while (newest !== line);
      isDue = false;
    };
    try {
      for await (const { id } of watch(channel, { after, signal })) {
        newest = id;
        if (isDue) continue;
        isDue = true;
        say().catch((error: unknown) => {
          isDue = false;
          if (!signal.aborted) ended(error as Error);
        });
      }
    } catch (error) {
      if (!signal.aborted) ended(error as Error);
    } finally {
      if (this.#watched.get(uri) === stop) this.#watched.delete(uri);
    }
  }

  /** Lines are heard before they can be read: waits until what a client would read now has this line. */
  async #isReadable(uri: string, line: string, signal: AbortSignal): Promise<void> {
    for (let tries = 1; ; tries++) {
      if (!isBefore(lastLineOf(await this.#options.read(uri)), line) || tries === mostTries) return;
      await pause(100 * tries, undefined, { ref: false, signal });
    }
  }
}

/** The client is told after so many looks, whatever it would read: 2.8 seconds. */
const mostTries = 8;

function isBefore(one: string, other: string): boolean {
  const [a, b] = [placeOf(one), placeOf(other)];
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}
