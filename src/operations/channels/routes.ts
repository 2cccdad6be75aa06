import type { FastifyInstance } from 'fastify';
import type { ApiKeys } from '../../auth/api-keys.js';
import { inputOf, inputSeenBy } from '../../http/input.js';
import { sendReply } from '../../remote/mount.js';
import type { Service } from '../../remote/service.js';
import type { channelservRoutes } from './service.js';

/** What the channel routes work with. */
export interface ChannelRoutesOptions {
  channelserv: Service<typeof channelservRoutes>;
  keys: ApiKeys;
}

/**
 * `/channels*`: the channel-management service for the public. Reads are open, but for the keys of channels (+k), which
 * are shown to those who may write; writes need an API key.
 */
export async function channelRoutes(app: FastifyInstance, options: ChannelRoutesOptions): Promise<void> {
  const { channelserv, keys } = options;
  const reads = { list: '', statistics: '/stats', show: '/:name', operations: '/:name/operations' } as const;
  for (const [operation, path] of Object.entries(reads)) {
    app.get(`/channels${path}`, async (request, reply) => {
      const input = inputSeenBy(request, keys.permits(request));
      return sendReply(reply, await channelserv[operation as keyof typeof reads](input));
    });
  }
  const writes = [
    ['POST', '', 'create'],
    ['PATCH', '/:name', 'update'],
    ['DELETE', '/:name', 'remove'],
    ['POST', '/:name/members', 'members'],
  ] as const;
  for (const [method, path, operation] of writes) {
    app.route({
      method,
      url: `/channels${path}`,
      // before the body is read: who may not write need not send one
      onRequest: async (request) => void keys.require(request),
      handler: async (request, reply) =>
        sendReply(reply, await channelserv[operation]({ ...inputOf(request), actor: keys.require(request) })),
    });
  }
}
