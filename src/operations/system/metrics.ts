import type { FastifyInstance } from 'fastify';
import type { ApiKeys } from '../../auth/api-keys.js';
import type { Gauged, Metrics } from '../../metrics/metrics.js';

/** What `GET /metrics` is made of. */
export interface MetricsOptions {
  metrics: Metrics;
  parts: readonly Gauged[];
  keys: ApiKeys;
}

/** `GET /metrics` for Prometheus, which asks from this machine or with an API key. */
export async function metricsRoutes(app: FastifyInstance, options: MetricsOptions): Promise<void> {
  const { metrics, parts, keys } = options;
  app.get('/metrics', { config: { rateLimit: false } }, async (request, reply) => {
    keys.requireUnlessLocal(request);
    return reply.type(metrics.contentType).send(await metrics.scrape(parts));
  });
}
