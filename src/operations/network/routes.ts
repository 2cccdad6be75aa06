import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { IrcMessage } from '../../../projections/network/queries.js';
import { Unavailable } from '../../../streams/core/index.js';
import { isLine, isPrivate, parseLineId } from '../../../streams/network/index.js';
import type { ApiKeys } from '../../auth/api-keys.js';
import { lastEventId } from '../../http/last-event-id.js';
import { livePage } from '../../pages/live.js';
import { sendReply } from '../../remote/mount.js';
import type { Input, Service } from '../../remote/service.js';
import { parseInput } from '../core/validation.js';
import type { bridgeRoutes } from '../events/service.js';
import type { LiveFeed, LiveSighting } from './feed.js';
import { channelKey } from './service.js';
import type { Viewers } from './viewers.js';

/** What the public reads of the network work with. */
export interface IrcRoutesOptions {
  bridge: Service<typeof bridgeRoutes>;
  keys: ApiKeys;
  feed: LiveFeed;
  viewers: Viewers;
}

const ChannelParams = z.object({ channel: z.string().min(1) });
const MessagesQuery = z.object({ limit: z.string().optional() });
const StreamQuery = z.object({ channel: z.string().min(1) });

const keepAliveMs = 15_000;
/** One process holds so many open streams at most. */
const maxViewers = 5_000;

/** `/irc/*`: what happens on the network, for everybody; private channels for holders of a key. */
export async function ircRoutes(app: FastifyInstance, options: IrcRoutesOptions): Promise<void> {
  const { bridge, keys, feed, viewers } = options;
  let open = 0;

  app.get('/irc/stats', async (_request, reply) => sendReply(reply, await bridge.stats()));

  app.get('/irc/channels', async (request, reply) =>
    sendReply(reply, await bridge.channels({ query: visibility(keys, request) })),
  );

  app.get('/irc/channels/:channel/messages', async (request, reply) => {
    const params = parseInput(ChannelParams, request.params);
    const { limit } = parseInput(MessagesQuery, request.query);
    return sendReply(
      reply,
      await bridge.messages({ params, query: { limit, ...visibility(keys, request) } }),
    );
  });

  app.get('/irc/stream', { exposeHeadRoute: false }, async (request, reply) => {
    const { channel } = parseInput(StreamQuery, request.query);
    const after = lastEventId(request, (text) => parseLineId(text) !== undefined);
    const seen = visibility(keys, request);
    if (open >= maxViewers) throw new Unavailable('too_many_viewers');
    let stream: Readable | undefined;
    const stopped = new AbortController();
    const { since, sightings } = await feed.watch(channelKey(channel), {
      after,
      quietMs: keepAliveMs,
      signal: stopped.signal,
      ended: () => {
        stopped.abort();
        stream?.destroy();
      },
    });
    // a channel that becomes private later is seen to become so: who may not see it now is turned away
    const query = { limit: 1, since, ...seen };
    const known = await bridge.messages({ params: { channel }, query }).catch((error: unknown) => {
      stopped.abort();
      throw error;
    });
    if (known.status !== 200) {
      stopped.abort();
      return sendReply(reply, known);
    }
    stream = Readable.from(events(sightings, seen.private !== undefined), { objectMode: false });
    open += 1;
    viewers.change(1);
    // not the stream's own end, which waits for what is asked of the feed
    reply.raw.once('close', () => {
      open -= 1;
      viewers.change(-1);
      stopped.abort();
    });
    return reply
      .headers({
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      .send(stream);
  });
  // the server waits for open streams when it is closed
  app.addHook('preClose', async () => feed.close());

  app.get('/irc/live', async (_request, reply) => reply.headers(livePage.headers).send(livePage.html));
}

/** The lines among what is seen, as server-sent events; ends when the channel becomes private to the viewer. */
async function* events(
  sightings: AsyncIterable<LiveSighting | undefined>,
  keyed: boolean,
): AsyncGenerator<string> {
  yield 'retry: 2000\n\n';
  for await (const one of sightings) {
    if (!one) yield ': still here\n\n';
    else if (isLine(one.sighting)) yield `id: ${one.id}\ndata: ${JSON.stringify(messageOf(one))}\n\n`;
    else if (one.live && !keyed && 'modes' in one.sighting && isPrivate(one.sighting.modes)) return;
  }
}

function messageOf({ id, channel, sighting }: LiveSighting): IrcMessage | undefined {
  if (!isLine(sighting)) return undefined;
  const { nick, text, at, is } = sighting;
  return { id, channel, nick, text, time: new Date(at).toISOString(), action: is === 'action' };
}

/** What a caller may see: a wrong key is an error, and none is none. */
function visibility(keys: ApiKeys, request: FastifyRequest): NonNullable<Input['query']> {
  return keys.identify(request) === undefined ? {} : { private: 'true' };
}
