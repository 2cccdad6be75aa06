import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * Answers 405 to every method at a path but those given, in a form of its own: `refuse` sends the body. OPTIONS goes
 * on as everywhere.
 */
export function refuseOtherMethods(
  app: FastifyInstance,
  { url, allowed }: { url: string; allowed: readonly string[] },
  refuse: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  app.route({
    method: app.supportedMethods.filter((method) => method !== 'OPTIONS' && !allowed.includes(method)),
    url,
    exposeHeadRoute: false,
    config: { refuses: true },
    // before the body is looked at: its type and size have no say in it; awaited until it is sent, as else the body
    // would be read
    preParsing: async (request, reply) => {
      await refuse(request, reply.code(405).header('allow', allowed.join(', ')));
    },
    handler: async () => undefined,
  });
}
