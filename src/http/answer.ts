import type { FastifyReply } from 'fastify';
import type { AnyOperation, HttpFace } from '../operations/core/operation.js';

/** Bodies as text: an answer that is given again need not be written again. */
const texts = new WeakMap<object, string>();

/** Sends the output of an operation as JSON, with the status and headers that its face says. It is not to be changed any more. */
export function sendOutput(
  reply: FastifyReply,
  operation: AnyOperation,
  output: unknown,
  face: Pick<Partial<HttpFace>, 'status' | 'headersOf' | 'view'>,
): FastifyReply {
  reply.code(face.status?.(output) ?? Number(Object.keys(operation.answers)[0] ?? 200));
  if (face.headersOf) reply.headers(face.headersOf(output));
  return sendJson(reply, face.view ? face.view(output) : output);
}

/** Sends JSON whose text is kept for as long as the value is there. */
export function sendJson(reply: FastifyReply, body: unknown): FastifyReply {
  if (typeof body !== 'object' || body === null) return reply.send(body);
  const text = texts.get(body) ?? JSON.stringify(body);
  texts.set(body, text);
  return reply.type('application/json; charset=utf-8').send(text);
}
