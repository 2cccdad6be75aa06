import type { FastifyInstance } from 'fastify';
import type { Input, Route, Service } from './service.js';

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
        const input: Input = { query: request.query as NonNullable<Input['query']>, body: request.body };
        const answer = await service[operation]!(input);
        return reply.code(answer.status).send(answer.body);
      },
    });
  }
}
