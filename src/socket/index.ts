import websocket from '@fastify/websocket';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { refusals } from '../../streams/refusals.js';
import type { ApiKeys } from '../auth/api-keys.js';
import { type KeyEnds, untilKeyEnds } from '../http/key-ends.js';
import { type Reader, readerOf } from '../http/reader.js';
import { StreamPlaces } from '../http/stream-places.js';
import { type AnyEventStream, moreEvent, type ServerEvent } from '../operations/core/event-stream.js';
import { socketPath } from './description.js';
import { refuseHandshake, requireHandshake } from './handshake.js';
import { type Ask, Requests } from './requests.js';
import { socketUpgrades } from './upgrades.js';

/** What the socket works with. */
export interface SocketOptions extends KeyEnds {
  /** What is told through it. */
  stream: AnyEventStream;
  /** What is asked through it. */
  ask: Ask;
  keys: ApiKeys;
  parts: unknown;
}

/** A client that does not answer a ping until the next one is gone, in milliseconds. */
const pingMs = 30_000;
/** How often the key of a quiet reader is looked at, in milliseconds. */
const quietMs = 15_000;
const mostBytes = 16_384;
/** Bytes that wait to be read by a client, at most. */
const mostUnread = 1_000_000;
const closing = { ended: 1008, again: 1013 };
/** How long a client that is let go may take to read why, in milliseconds. */
const goodbyeMs = 1_000;

/** A reader that was let in, and the events for it. */
interface Admitted extends Reader {
  events: AsyncIterable<ServerEvent | undefined>;
  stopped: AbortController;
}

/**
 * `GET /irc/socket`: a stream of events and requests of its reader on one WebSocket, as JSON-RPC 2.0. A caller who may not read the
 * stream is refused before the upgrade, in HTTP, and so is a bad handshake.
 */
export async function socketRoutes(app: FastifyInstance, options: SocketOptions): Promise<void> {
  const { stream, ask, keys, parts } = options;
  const places = new StreamPlaces(stream.most, stream.ofOneReader);
  const find = readerOf(stream, options);
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  const upgrades = socketUpgrades(app.server, socketPath);

  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const reader = await find(request, reply);
    requireHandshake(request, reply);
    const { socket } = request.raw;
    const stopped = new AbortController();
    const free = places.take(reader.countedAs);
    const leave = () => {
      free();
      stopped.abort();
    };
    if (socket.destroyed) leave();
    else socket.once('close', leave);
    const { caller, after, input, countedAs, keyHasEnded } = reader;
    const { signal } = stopped;
    const viewer = { caller, after, reader: countedAs, signal, quietMs, end: () => stopped.abort() };
    const events = await stream.open(input, viewer, parts);
    admitted.set(request, { ...reader, events: untilKeyEnds(events!, keyHasEnded), stopped });
  }

  await app.register(async (scope) => {
    await scope.register(websocket, {
      options: { maxPayload: mostBytes, server: upgrades as never },
      // those that do not answer would hold the end up
      preClose(done) {
        for (const client of this.websocketServer.clients) client.terminate();
        this.websocketServer.close(() => done());
      },
      errorHandler: (_error, socket) => socket.terminate(),
    });
    scope.websocketServer.on('wsClientError', refuseHandshake);
    scope.route({
      method: 'GET',
      url: socketPath,
      exposeHeadRoute: false,
      preValidation: admit,
      handler: async () => undefined,
      wsHandler: (socket, request) => {
        const reader = admitted.get(request)!;
        const send = sender(socket);
        // a key may have ended since, and each request counts
        const callerOf = async () => ({ ...(await keys.requireCaller(request)), cause: request.id });
        const giveUp = (reason: string) => letGo(socket, reason);
        const requests = new Requests({ ask, callerOf, send, giveUp });
        socket.on('message', (data, isBinary) => requests.take(isBinary ? undefined : String(data)));
        keepAlive(socket);
        tell(socket, reader, send).catch((error: unknown) => {
          request.log.error({ err: error, request_id: request.id }, 'socket failed');
          socket.close(1011, refusals.internal_error.says);
        });
      },
    });
  });
}

/** Sends frames, each as JSON. A client that asks and does not read is cut off. */
function sender(socket: WebSocket): (frame: object) => Promise<void> {
  return async (frame) => {
    if (socket.bufferedAmount > mostUnread) return socket.terminate();
    await new Promise<void>((sent) => socket.send(JSON.stringify(frame), () => sent()));
  };
}

/** Reads no more of a client, and says why. */
function letGo(socket: WebSocket, reason: string): void {
  socket.pause();
  socket.close(closing.ended, reason);
  setTimeout(() => socket.terminate(), goodbyeMs).unref();
}

/** Sends what comes, one after the other, until there is nothing more for the reader. */
async function tell(
  socket: WebSocket,
  { events, stopped: { signal } }: Admitted,
  send: (frame: object) => Promise<void>,
): Promise<void> {
  let hasMore = false;
  for await (const one of events) {
    if (one) await send({ jsonrpc: '2.0', method: one.event, params: { id: one.id, data: one.data } });
    hasMore = one?.event === moreEvent;
  }
  if (signal.aborted || hasMore) socket.close(closing.again, 'Come back with after');
  else socket.close(closing.ended, 'The key opens nothing any more');
}

function keepAlive(socket: WebSocket): void {
  let isAlive = true;
  socket.on('pong', () => {
    isAlive = true;
  });
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, pingMs);
  socket.once('close', () => clearInterval(timer));
}
