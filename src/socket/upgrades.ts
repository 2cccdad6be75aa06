import { EventEmitter } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { hostLines } from '../http/host-lines.js';

/**
 * Node takes each request that offers an upgrade out of HTTP, body and all, as soon as somebody listens for upgrades. But
 * clients offer HTTP/2 with usual requests, and expect an answer to them. So only WebSockets at `path` come out of the
 * emitter that this makes. Every other request goes on as if it had offered nothing.
 */
export function socketUpgrades(server: Server, path: string): EventEmitter {
  const sockets = new EventEmitter();
  const latest = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (request, response) => latest.set(request.socket, response));
  server.on('upgrade', (request, socket, head) => {
    const isSocket =
      request.method === 'GET' &&
      request.headers.upgrade?.toLowerCase() === 'websocket' &&
      request.url?.split('?')[0] === path &&
      // another is refused before anybody knows that its connection left HTTP, and has to be closed
      hostLines(request) === 1;
    // a request that came after others waits for their answers
    whenAnswered(latest.get(socket), socket, () => {
      if (isSocket && sockets.listenerCount('upgrade') > 0) sockets.emit('upgrade', request, socket, head);
      else goOn(server, request, socket, head);
    });
  });
  return sockets;
}

function goOn(
  server: Server,
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const name = rawHeaders[n]!;
    if (name.toLowerCase() !== 'upgrade') text += `${name}: ${rawHeaders[n + 1]}\r\n`;
  }
  socket.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

/** Calls back when an answer was given, and never in the turn that has parsed the request; not for a socket that is gone. */
function whenAnswered(answer: ServerResponse | undefined, socket: Duplex, then: () => void): void {
  const ignore = () => {};
  socket.on('error', ignore);
  const proceed = () =>
    setImmediate(() => {
      socket.off('error', ignore);
      if (!socket.destroyed) then();
    });
  if (answer && !answer.closed) answer.once('close', proceed);
  else proceed();
}
