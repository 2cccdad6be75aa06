import type { FastifyRequest } from 'fastify';
import type { Input } from '../remote/service.js';

/** What an internal service's operation is asked with when a public route passes its request on. */
export function inputOf({ params, query, body }: FastifyRequest): Input {
  return {
    params: params as NonNullable<Input['params']>,
    query: query as NonNullable<Input['query']>,
    body,
  };
}

/**
 * The same for an operation that shows more to some: `private` is what the service is told of them, and nobody says
 * it of himself.
 */
export function inputSeenBy(request: FastifyRequest, seesPrivate: boolean): Input {
  const { query, ...input } = inputOf(request);
  const { private: _, ...asked } = query ?? {};
  return { ...input, query: { ...asked, ...(seesPrivate ? { private: 'true' } : {}) } };
}
