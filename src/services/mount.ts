import type { FastifyInstance, FastifyReply } from 'fastify';
import { actorHeader, type Input, type Reply, type Route, type Service } from './service.js';

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
  for (const [operation, { method, path }] of Object.entries(routes)) {
    app.route({
      method,
      url: `/${name}${path}`,
      handler: async (request, reply) => {
        const actor = request.headers[actorHeader];
        const input: Input = {
          params: request.params as NonNullable<Input['params']>,
          query: request.query as NonNullable<Input['query']>,
          body: request.body,
          ...(typeof actor === 'string' ? { actor: decodeURIComponent(actor) } : {}),
        };
        return sendReply(reply, await service[operation]!(input));
      },
    });
  }
}

/** Sends the answer of an operation as it is. */
export function sendReply(reply: FastifyReply, { status, body, retryAfter }: Reply): FastifyReply {
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  return reply.code(status).send(body);
}
