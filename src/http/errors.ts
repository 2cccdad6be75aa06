import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { isExpected } from '../../streams/core/index.js';
import { challengeHeaders, shapeOf, showsSignature } from '../auth/challenges.js';

/** Largest request body, in bytes. */
export const bodyLimit = 256 * 1024;

interface Answer {
  status: number;
  body: { error: string; code: string } & Record<string, unknown>;
}

/** What the framework finds wrong with a request, in our words: its own speak of its settings. */
const frameworkErrors: Record<string, [status: number, code: string, message: string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: [413, 'payload_too_large', `The body may have ${bodyLimit} bytes at most`],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [415, 'unsupported_media_type', 'Send the body as application/json'],
  FST_ERR_CTP_EMPTY_JSON_BODY: [400, 'bad_request', 'The body is empty where JSON was announced'],
  FST_ERR_CTP_INVALID_JSON_BODY: [400, 'bad_request', 'The body is not JSON, or has a key like __proto__'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, 'bad_request', 'The body is not as long as Content-Length says'],
  FST_ERR_BAD_URL: [400, 'bad_request', 'The path is not percent-encoded correctly'],
  FST_ERR_MAX_PARAM_LENGTH: [414, 'uri_too_long', 'A part of the path is too long'],
};

/** How an error is answered; `undefined` when it is a bug of ours, of which the caller learns nothing. */
export function errorAnswer(error: FastifyError): Answer | undefined {
  if (isExpected(error)) {
    const { retryAfter: _, ...extra } = error.kind === 'refusal' ? error.extra : {};
    return { status: error.status, body: { error: error.message, code: error.code, ...extra } };
  }
  const known = frameworkErrors[error.code];
  if (known) return { status: known[0], body: { error: known[2], code: known[1] } };
  if (error.statusCode === undefined || error.statusCode >= 500) return undefined;
  return {
    status: error.statusCode,
    body: { error: 'The request cannot be understood', code: 'bad_request' },
  };
}

/** Answers an error in the one shape that all have; a bug is logged with its stack, under the id that is answered. */
export function sendError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = errorAnswer(error);
  if (!answer) {
    request.log.error({ err: error, request_id: request.id }, 'request failed');
    return reply.code(500).send({
      error: 'Something went wrong on our side',
      code: 'internal_error',
      request_id: request.id,
    });
  }
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  if (answer.status === 401 && !reply.hasHeader('www-authenticate')) {
    const { code } = answer.body;
    reply.headers(
      showsSignature(request) ? challengeHeaders(code, shapeOf(request)) : { 'www-authenticate': 'Bearer' },
    );
  }
  refusals.set(reply, answer.body.code);
  return reply.code(answer.status).send(answer.body);
}

const refusals = new WeakMap<FastifyReply, string>();

/** The code of the error that a request was answered with, if it was. */
export function refusalCode(reply: FastifyReply): string | undefined {
  return refusals.get(reply);
}

/** Seconds after which a request that failed may succeed, if that is known. */
export function retryAfterOf(error: unknown): number | undefined {
  if (!isExpected(error)) return undefined;
  return error.kind === 'unavailable' ? error.retryAfter : error.extra.retryAfter;
}

/** Bytes that are no HTTP request, or one that took too long: answered in the shape of every other error. */
export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const large = error.code === 'HPE_HEADER_OVERFLOW';
  const status = late
    ? '408 Request Timeout'
    : large
      ? '431 Request Header Fields Too Large'
      : '400 Bad Request';
  const body = JSON.stringify({
    error: late ? 'The request took too long to arrive' : 'This is not a readable HTTP request',
    code: late ? 'request_timeout' : large ? 'headers_too_large' : 'bad_request',
  });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** An `Expect` header with another wish than `100-continue`. */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify({ error: 'What Expect asks for is not possible', code: 'expectation_failed' });
  response
    .writeHead(417, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    })
    .end(body);
}
