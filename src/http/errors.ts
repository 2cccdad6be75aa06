import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { isExpected, Refusal, type Unavailable } from '../../streams/core/index.js';
import { type RefusalCode, refusals } from '../../streams/refusals.js';
import { challengeHeaders, shapeOf, showsSignature } from '../auth/challenges.js';

/** Largest request body, in bytes. */
export const bodyLimit = 256 * 1024;

interface Answer {
  status: number;
  body: { error: string; code: string } & Record<string, unknown>;
}

/** Errors that the framework finds in a request, in our words: its own texts mention its settings. */
const frameworkErrors: Record<string, Refusal> = {
  FST_ERR_CTP_BODY_TOO_LARGE: new Refusal(
    'payload_too_large',
    `The body may have ${bodyLimit} bytes at most`,
  ),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new Refusal('unsupported_media_type'),
  FST_ERR_CTP_INVALID_JSON_BODY: new Refusal(
    'bad_request',
    'The body is not JSON, or has a key like __proto__',
    { hint: 'Send JSON in UTF-8, with quotes around each key' },
  ),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new Refusal(
    'bad_request',
    'The body is not as long as Content-Length says',
  ),
  FST_ERR_BAD_URL: new Refusal('bad_request', 'The path is not percent-encoded correctly'),
  FST_ERR_MAX_PARAM_LENGTH: new Refusal('uri_too_long'),
};

/** The answer to an error; `undefined` for a bug of ours: the caller learns nothing about it. */
export function errorAnswer(error: Refusal | Unavailable | FastifyError): Answer | undefined {
  if (isExpected(error)) {
    const { retryAfter: _, ...extra } = error.extra;
    return { status: error.status, body: { error: error.message, code: error.code, ...extra } };
  }
  const known = frameworkErrors[error.code];
  if (known) return errorAnswer(known);
  if (error.statusCode === undefined || error.statusCode >= 500) return undefined;
  return {
    status: error.statusCode,
    body: { error: refusals.bad_request.says, code: 'bad_request' satisfies RefusalCode },
  };
}

/**
 * Answers an error in the one shape that all have. A bug is logged with its stack, under the id in the
 * answer.
 */
export function sendError(
  error: Refusal | FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  // an error of the framework itself has not passed the hook that sets this
  reply.header('x-content-type-options', 'nosniff');
  const answer = errorAnswer(error);
  if (!answer) {
    request.log.error({ err: error, request_id: request.id }, 'request failed');
    return reply.code(500).send({
      error: refusals.internal_error.says,
      code: 'internal_error' satisfies RefusalCode,
      request_id: request.id,
    });
  }
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  if (answer.status === 404) reply.header('link', '</skill.md>; rel="help"');
  if (answer.status === 401 && !reply.hasHeader('www-authenticate')) {
    const { code } = answer.body;
    reply.headers(
      showsSignature(request) ? challengeHeaders(code, shapeOf(request)) : { 'www-authenticate': 'Bearer' },
    );
  }
  answered.set(reply, answer.body.code);
  return reply.code(answer.status).send(answer.body);
}

const answered = new WeakMap<FastifyReply, string>();

/** The code of the error that a request was answered with, if it was. */
export function refusalCode(reply: FastifyReply): string | undefined {
  return answered.get(reply);
}

/** Seconds after which a request that failed may succeed, if that is known. */
export function retryAfterOf(error: unknown): number | undefined {
  return isExpected(error) ? error.extra.retryAfter : undefined;
}

/**
 * Bytes that are not an HTTP request, or a request that took too long: answered in the shape of every other
 * error.
 */
export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? new Refusal('request_timeout')
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? new Refusal('headers_too_large')
        : new Refusal('bad_request', 'This is not a readable HTTP request');
  endWith(socket, refusal);
  // nobody else ends a connection whose other side stays: it has a moment to read why
  const late = setTimeout(() => socket.destroy(), lingerMs);
  late.unref();
  socket.once('close', () => clearTimeout(late));
}

/** How long a connection that was refused may stay open, in milliseconds. */
const lingerMs = 1_000;

/** Answers on a connection on which the framework answers nothing more, and ends it. */
export function endWith(socket: Duplex, refusal: Refusal): void {
  const body = bodyText(refusal);
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/**
 * Answers 417 `expectation_failed` to a request whose `Expect` header has another value than `100-continue`, and
 * closes the connection.
 */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const refusal = new Refusal('expectation_failed');
  const body = bodyText(refusal);
  response
    .writeHead(refusal.status, {
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    })
    .end(body);
}

const bodyText = (refusal: Refusal) => JSON.stringify(errorAnswer(refusal)!.body);
