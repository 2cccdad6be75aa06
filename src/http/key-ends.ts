import type { FastifyRequest } from 'fastify';
import { clock } from '../../streams/core/clock.js';
import type { ApiKeys } from '../auth/api-keys.js';
import type { Caller } from '../operations/core/caller.js';

/** What the key of a reader is looked at with, while a stream is open. */
export interface KeyEnds {
  keys: Pick<ApiKeys, 'identify'>;
  /** Whether an actor is an agent key that opens nothing any more. */
  isEnded(actor: string): Promise<boolean>;
}

/** How old the last look at a key may be, in milliseconds. A stream that is quiet gives silence every 15 seconds. */
const lookMs = 7_500;

/** Makes what tells whether the key of a request opens nothing any more; `undefined` for a caller without a key. */
export function keyEndOf(
  { keys, isEnded }: KeyEnds,
  request: FastifyRequest,
  { is, actor }: Caller,
): (() => Promise<boolean>) | undefined {
  if (is === 'agent') return async () => await isEnded(actor);
  if (is !== 'key') return undefined;
  return async () => {
    try {
      keys.identify(request);
      return false;
    } catch {
      // it refuses keys that are not known, and does nothing else
      return true;
    }
  };
}

/**
 * The events, as long as the reader's key is good: a stream ends within half a minute after it. Where that cannot be told it
 * counts as good. `hasEnded` is as `keyEndOf` made it.
 */
export function untilKeyEnds<Event>(
  events: AsyncIterable<Event>,
  hasEnded: (() => Promise<boolean>) | undefined,
): AsyncIterable<Event> {
  return hasEnded ? whileGood(events, hasEnded) : events;
}

async function* whileGood<Event>(
  events: AsyncIterable<Event>,
  hasEnded: () => Promise<boolean>,
): AsyncGenerator<Event> {
  let looked = clock.elapsed();
  for await (const one of events) {
    if (clock.elapsed() - looked >= lookMs) {
      looked = clock.elapsed();
      if (await hasEnded().catch(() => false)) return;
    }
    yield one;
  }
}
