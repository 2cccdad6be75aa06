import type { Log, StreamDefinition } from '../../streams/core/index.js';
import { namesOf } from './in-order.js';

/** What an in-order consumer has before it, and in its hands. */
export interface Backlog {
  /** Messages that were not handed out yet. */
  pending: number;
  /** Messages that were handed out and are not acknowledged. */
  unacknowledged: number;
}

/** How far a consumer is behind its stream, whichever process reads it; `undefined` before it is first taken up. */
export async function consumerBacklog(
  log: Log,
  stream: StreamDefinition,
  durable: string,
): Promise<Backlog | undefined> {
  const names = namesOf(durable);
  const found = await log.ask(() => log.manager.consumers.list(stream.name).next());
  // while one is made in place of the other there are two, and the new one is not behind the old one
  return found
    .filter(({ name }) => names.includes(name))
    .map(({ num_pending, num_ack_pending }) => ({ pending: num_pending, unacknowledged: num_ack_pending }))
    .sort((a, b) => a.pending + a.unacknowledged - (b.pending + b.unacknowledged))[0];
}
