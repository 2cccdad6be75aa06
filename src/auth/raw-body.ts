import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse } from 'secure-json-parse';

const bodies = new WeakMap<FastifyRequest, Buffer>();

/**
 * Keeps the bytes of JSON bodies for the routes of a scope, which still read them as JSON. The bytes are what
 * is signed, and JSON can be written in many ways.
 */
export function keepRawBodies(scope: FastifyInstance): void {
  // also those of other types: a body whose bytes are not kept would look like no body
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    bodies.set(request, body as Buffer);
    if (body.length === 0) return done(invalid('FST_ERR_CTP_EMPTY_JSON_BODY'), undefined);
    try {
      done(null, parse(body.toString('utf8'), null, { protoAction: 'error', constructorAction: 'error' }));
    } catch {
      done(invalid('FST_ERR_CTP_INVALID_JSON_BODY'), undefined);
    }
  });
}

/** The bytes of a request's body; empty if it has none, or its scope does not keep them. */
export function rawBodyOf(request: FastifyRequest): Buffer {
  return bodies.get(request) ?? Buffer.alloc(0);
}

/** The framework's own error for such a body. */
function invalid(code: string): Error {
  return Object.assign(new Error('The body is not JSON'), { code, statusCode: 400 });
}
