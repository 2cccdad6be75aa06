import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../streams/core/index.js';
import { endWith } from '../http/errors.js';

const version = '13';
/** Draft of the standard that the library understands too. It is not offered. */
const draft = '8';
/** 16 bytes in Base64. */
const keyForm = /^[+/0-9a-z]{22}==$/i;

/**
 * Looks at the opening handshake of RFC 6455, before anything is done for it. Throws 426 for no handshake and for another
 * version, with what the answer says of the right one, and 400 for a missing or malformed key.
 */
export function requireHandshake({ ws, headers }: FastifyRequest, reply: FastifyReply): void {
  const { 'sec-websocket-key': key = '', 'sec-websocket-version': asked = '' } = headers;
  const isKnown = asked === version || asked === draft;
  if (!ws || !isKnown) reply.header('upgrade', 'websocket').header('sec-websocket-version', version);
  if (!ws) throw new Refusal('upgrade_required');
  if (!isKnown)
    throw new Refusal('upgrade_required', `This address takes version ${version} of WebSockets only`, {
      hint: `Send Sec-WebSocket-Version: ${version}, or use a WebSocket client`,
    });
  if (!keyForm.test(key))
    throw new Refusal('bad_request', 'Sec-WebSocket-Key is missing, or is not 16 bytes in Base64', {
      hint: 'Make 16 random bytes for each connection, or use a WebSocket client',
    });
}

/** Answers a handshake in which the library found something else that is wrong, in its words. */
export function refuseHandshake({ message }: Error, socket: Duplex): void {
  // nothing else reads it any more, so it would wait for the end of its client
  socket.once('finish', () => socket.destroy());
  endWith(socket, new Refusal('bad_request', message, { hint: 'Use a WebSocket client' }));
}
