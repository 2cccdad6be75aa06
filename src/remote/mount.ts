import type { FastifyInstance, FastifyReply } from 'fastify';
import { actorHeader, type Input, namedHeaders, type Reply, type Route, type Service } from './service.js';

/**
 * Serves an internal service over HTTP under `/<name>`, for callers in other processes: their address for it
 * is `http://<host>:<port>/<name>`. There is no authentication, so these ports are for the inside only.
 */
export function mountService<Routes extends Record<string, Route>>(
  app: FastifyInstance,
  name: string,
  routes: Routes,
  service: Service<Routes>,
): void {
  for (const [operation, route] of Object.entries(routes)) {
    const { method, path } = route;
    app.route({
      method,
      url: `/${name}${path}`,
      handler: async (request, reply) => {
        const actor = request.headers[actorHeader];
        const input: Input = {
          params: request.params as NonNullable<Input['params']>,
          query: request.query as NonNullable<Input['query']>,
          headers: namedHeaders(route, (header) => request.headers[header]),
          body: request.body,
          ...(typeof actor === 'string' ? { actor: decodeURIComponent(actor) } : {}),
        };
        return sendReply(reply, await service[operation]!(input));
      },
    });
  }
}

/** Bodies as text: an answer that is given again need not be written again. */
const texts = new WeakMap<object, string>();

/** Sends the answer of an operation as it is. Its body is not to be changed any more. */
export function sendReply(reply: FastifyReply, { status, body, retryAfter, headers }: Reply): FastifyReply {
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  if (headers) reply.headers(headers);
  reply.code(status);
  if (typeof body !== 'object' || body === null) return reply.send(body);
  const text = texts.get(body) ?? JSON.stringify(body);
  texts.set(body, text);
  return reply.type('application/json; charset=utf-8').send(text);
}
