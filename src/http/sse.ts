import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { ApiKeys } from '../auth/api-keys.js';
import type { AnyEventStream, ServerEvent } from '../operations/core/event-stream.js';
import { type KeyEnds, untilKeyEnds } from './key-ends.js';
import { readerOf } from './reader.js';
import { StreamPlaces, whenGone } from './stream-places.js';

const keepAliveMs = 15_000;
const retry = 'retry: 2000\n\n';

/** What the routes of event streams work with. */
export interface EventStreamOptions extends KeyEnds {
  streams: readonly AnyEventStream[];
  keys: ApiKeys;
  parts: unknown;
}

/**
 * The routes of event streams. They limit readers, are kept alive by comments, resume where a reader was, and end with its key.
 */
export async function eventStreamRoutes(app: FastifyInstance, options: EventStreamOptions): Promise<void> {
  for (const stream of options.streams) serve(app, stream, options);
}

function serve(app: FastifyInstance, stream: AnyEventStream, options: EventStreamOptions): void {
  const { path } = stream;
  const { parts } = options;
  const find = readerOf(stream, options);
  const places = new StreamPlaces(stream.most, stream.ofOneReader);

  app.get(path.replace(/\{(\w+)\}/g, ':$1'), { exposeHeadRoute: false }, async (request, reply) => {
    const { caller, input, after, countedAs, keyHasEnded } = await find(request, reply);
    const stopped = new AbortController();
    let body: Readable | undefined;
    // from the first moment: a reader may go while the stream is opened, or have gone before
    const free = places.take(countedAs);
    whenGone(request, reply, () => {
      free();
      if (body) stream.viewers?.(-1, parts);
      stopped.abort();
      // a pipelined answer that waited for an earlier one does not end with the connection
      body?.destroy();
    });
    if (stopped.signal.aborted) return reply.code(204).send();
    const end = () => {
      stopped.abort();
      body?.destroy();
    };
    const viewer = { caller, after, reader: countedAs, signal: stopped.signal, quietMs: keepAliveMs, end };
    const events = await stream.open(input, viewer, parts);
    // the standard's word for "do not come back"
    if (!events || stopped.signal.aborted) return reply.code(204).send();
    body = Readable.from(textsOf(untilKeyEnds(events, keyHasEnded)), { objectMode: false });
    stream.viewers?.(1, parts);
    return reply
      .headers({
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      .send(body);
  });
  // the server waits for open streams when it is closed
  app.addHook('preClose', async () => stream.close(parts));
}

/**
 * Events as they are written on the wire. Silence becomes comments, so that no proxy takes it for the end.
 */
async function* textsOf(events: AsyncIterable<ServerEvent | undefined>): AsyncGenerator<string> {
  yield retry;
  for await (const one of events) {
    if (!one) yield ': still here\n\n';
    else
      yield `id: ${one.id}\n${one.event ? `event: ${one.event}\n` : ''}data: ${JSON.stringify(one.data)}\n\n`;
  }
}
