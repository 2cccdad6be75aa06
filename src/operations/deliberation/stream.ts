import { z } from 'zod';
import { defineEventStream } from '../core/event-stream.js';
import { isQueryEventId } from './feed.js';
import { type DeliberationParts, readerOf } from './parts.js';
import { ofQuery } from './schemas.js';

/** What happens to a query, until it is done. */
export const streamQuery = defineEventStream({
  id: 'streamQuery',
  path: '/multibrain/query/{id}/stream',
  tag: 'Deliberation',
  summary: 'Answers as they arrive',
  description:
    'Server-sent events `status`, `response`, `injected`, `synthesis`, `error` and `done`; goes on after Last-Event-ID, or `after`.',
  input: ofQuery.input.extend({
    after: z.string().optional().describe('Id of the last event that is known'),
  }),
  says: 'Events until the query is done',
  example: 'event: status\ndata: {"id":"1","status":"running"}\n\n',
  nothingMore: 'There is nothing after the last event',
  refusals: ofQuery.refusals,
  isEventId: isQueryEventId,
  // each reads the log for itself
  most: 500,
  ofOneReader: 50,
  open: async ({ id }, { caller, after, quietMs, signal }, { deliberation: { feed } }: DeliberationParts) => {
    const events = feed.watch(id, { after, reader: readerOf(caller), quietMs, signal });
    // also finds out whether there is such a query
    const first = await events.next();
    return first.done ? undefined : beginning(first.value, events);
  },
  close: ({ deliberation: { feed } }) => feed.close(),
});

async function* beginning<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}
