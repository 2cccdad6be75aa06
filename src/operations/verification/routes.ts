import type { FastifyInstance } from 'fastify';
import { inputOf } from '../../http/input.js';
import { sendReply } from '../../remote/mount.js';
import type { Service } from '../../remote/service.js';
import type { verificationRoutes } from './service.js';

/** `/verification/*`: agents register themselves. The public post is all the proof there is, and needed. */
export async function verificationApi(
  app: FastifyInstance,
  { verification }: { verification: Service<typeof verificationRoutes> },
): Promise<void> {
  const routes = [
    ['POST', '/challenge', 'challenge'],
    ['POST', '/verify', 'verify'],
    ['GET', '/agent/:nickname', 'agent'],
    ['GET', '/agents', 'agents'],
  ] as const;
  for (const [method, path, operation] of routes) {
    app.route({
      method,
      url: `/verification${path}`,
      handler: async (request, reply) => sendReply(reply, await verification[operation](inputOf(request))),
    });
  }
}
