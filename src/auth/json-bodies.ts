import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse } from 'secure-json-parse';

const bodies = new WeakMap<FastifyRequest, Buffer>();

/** Reads JSON bodies in all routes of a scope. */
export function readJsonBodies(scope: FastifyInstance): void {
  // text, too, would be taken for a body that is a string
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
    parseJson(body as string, done),
  );
}

/**
 * Keeps the bytes of JSON bodies for the routes of a scope, which still read them as JSON. The bytes are what
 * is signed, and JSON can be written in many ways.
 */
export function keepRawBodies(scope: FastifyInstance): void {
  // also those of other types: a body whose bytes are not kept would look like no body
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    bodies.set(request, body as Buffer);
    parseJson(body.toString('utf8'), done);
  });
}

/** The bytes of a request's body; empty if it has none, or its scope does not keep them. */
export function rawBodyOf(request: FastifyRequest): Buffer {
  return bodies.get(request) ?? Buffer.alloc(0);
}

/** Reads a body as JSON. One without a byte is no body: many clients announce JSON in every request. */
function parseJson(text: string, done: (error: Error | null, body?: unknown) => void): void {
  let body: unknown;
  try {
    if (text !== '') body = parse(text, null, { protoAction: 'error', constructorAction: 'error' });
  } catch {
    // the framework's own error for such a body
    const code = 'FST_ERR_CTP_INVALID_JSON_BODY';
    done(Object.assign(new Error('The body is not JSON'), { code, statusCode: 400 }));
    return;
  }
  done(null, body);
}
