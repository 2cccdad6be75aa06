import type { FastifyInstance } from 'fastify';
import type { Reply } from '../../remote/service.js';

/** What health and readiness are made of. */
export interface HealthOptions {
  /** The health operation of each internal service. */
  services: Record<string, () => Promise<Reply>>;
  /** Why this process should get no requests now; `undefined` when it may. */
  notReady: () => string | undefined;
  startedAt: Date;
}

/** How long a service's own health may take, in milliseconds. */
const checkTimeoutMs = 3_000;
/** The services without which the network does not do its work. */
const essential = ['bridge', 'turnstile'];

/** `GET /health` tells people how things are and is always 200; `GET /ready` tells a load balancer. */
export async function healthRoutes(app: FastifyInstance, options: HealthOptions): Promise<void> {
  app.get('/health', { config: { rateLimit: false } }, async () => {
    const checks = Object.entries(options.services).map(
      async ([name, health]) => [name, await check(health)] as const,
    );
    const services = Object.fromEntries(await Promise.all(checks));
    const degraded = essential.some((name) => services[name] && services[name].status !== 'ok');
    return {
      status: degraded ? 'degraded' : 'ok',
      services,
      uptime: Math.round((Date.now() - options.startedAt.getTime()) / 1000),
    };
  });

  app.get('/ready', { config: { rateLimit: false } }, async (_request, reply) => {
    const reason = options.notReady();
    if (reason === undefined) return { ready: true };
    return reply
      .code(503)
      .header('retry-after', '1')
      .send({ ready: false, error: reason, code: 'not_ready' });
  });
}

async function check(health: () => Promise<Reply>): Promise<{ status: string; latencyMs: number }> {
  const started = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), checkTimeoutMs);
  });
  const answer = await Promise.race([health().catch(() => undefined), tooLate]);
  clearTimeout(timer);
  const latencyMs = Math.round((performance.now() - started) * 10) / 10;
  if (!answer || answer.status >= 500) return { status: 'unreachable', latencyMs };
  return { ...(answer.body as { status: string }), latencyMs };
}
