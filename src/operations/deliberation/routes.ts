import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Unavailable } from '../../../streams/core/index.js';
import type { ApiKeys } from '../../auth/api-keys.js';
import { inputOf } from '../../http/input.js';
import { lastEventId } from '../../http/last-event-id.js';
import { sendReply } from '../../remote/mount.js';
import type { Input, Service } from '../../remote/service.js';
import { isQueryEventId, type QueryEvent, type QueryFeed } from './feed.js';
import type { multibrainRoutes } from './service.js';

/** What the deliberation routes work with. */
export interface MultibrainApiOptions {
  multibrain: Service<typeof multibrainRoutes>;
  keys: ApiKeys;
  feed: QueryFeed;
}

const keepAliveMs = 15_000;
/** One process holds so many open streams at most; each reads the log for itself. */
const maxStreams = 500;

/**
 * `/multibrain/*`: queries to several models, for the public. Writes need an API key; reads are open, but for private
 * queries, which only the key that created them can read.
 */
export async function multibrainApi(app: FastifyInstance, options: MultibrainApiOptions): Promise<void> {
  const { multibrain, keys, feed } = options;
  let open = 0;
  const asReader = (request: FastifyRequest): Input => {
    const actor = readerOf(keys, request);
    return { ...inputOf(request), ...(actor === undefined ? {} : { actor }) };
  };

  const reads = {
    models: '/models',
    show: '/query/:id',
    result: '/query/:id/result',
    responses: '/query/:id/responses',
    costs: '/query/:id/costs',
    list: '/queries',
    costSummary: '/costs/summary',
    health: '/health',
  } as const;
  for (const [operation, path] of Object.entries(reads)) {
    app.get(`/multibrain${path}`, async (request, reply) =>
      sendReply(reply, await multibrain[operation as keyof typeof reads](asReader(request))),
    );
  }
  const writes = [
    ['POST', '/query', 'create'],
    ['POST', '/query/:id/inject', 'inject'],
    ['PATCH', '/query/:id/visibility', 'changeVisibility'],
  ] as const;
  for (const [method, path, operation] of writes) {
    app.route({
      method,
      url: `/multibrain${path}`,
      // before the body is read: who may not write need not send one
      onRequest: async (request) => void keys.require(request),
      handler: async (request, reply) =>
        sendReply(reply, await multibrain[operation]({ ...inputOf(request), actor: keys.require(request) })),
    });
  }

  app.get('/multibrain/query/:id/stream', { exposeHeadRoute: false }, async (request, reply) => {
    if (open >= maxStreams) throw new Unavailable('too_many_viewers');
    const { params, actor: reader } = asReader(request);
    const after = lastEventId(request, isQueryEventId);
    const stopped = new AbortController();
    const texts = textsOf(
      feed.watch(params?.id ?? '', {
        after,
        reader,
        quietMs: keepAliveMs,
        signal: stopped.signal,
      }),
    );
    // also finds out whether there is such a query
    const first = await texts.next();
    // nothing comes behind the last event: the standard's word for "do not come back"
    if (first.done) return reply.code(204).send();
    open += 1;
    reply.raw.once('close', () => {
      open -= 1;
      stopped.abort();
    });
    return reply
      .headers({
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      .send(Readable.from(beginning(first.value, texts), { objectMode: false }));
  });
  // the server waits for open streams when it is closed
  app.addHook('preClose', async () => feed.close());
}

/** Events as they are written on the wire; silence as comments, so that nobody on the way takes it for the end. */
async function* textsOf(events: AsyncIterable<QueryEvent | undefined>): AsyncGenerator<string> {
  for await (const one of events) {
    yield one
      ? `id: ${one.id}\nevent: ${one.event}\ndata: ${JSON.stringify({ id: one.id, ...one.data })}\n\n`
      : ': still here\n\n';
  }
}

async function* beginning(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield `retry: 2000\n\n${first}`;
  yield* rest;
}

/** Name of the key that a reader shows, or of the local caller where there are no keys; `undefined` for everybody else. */
function readerOf(keys: ApiKeys, request: FastifyRequest): string | undefined {
  const name = keys.identify(request);
  if (name !== undefined) return name;
  try {
    return keys.require(request);
  } catch {
    return undefined;
  }
}
