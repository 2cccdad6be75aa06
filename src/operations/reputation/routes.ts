import type { FastifyInstance } from 'fastify';
import type { ApiKeys } from '../../auth/api-keys.js';
import { inputOf, inputSeenBy } from '../../http/input.js';
import { sendReply } from '../../remote/mount.js';
import type { Service } from '../../remote/service.js';
import type { reputationRoutes } from './service.js';

/** What the public reads of reputation work with. */
export interface ReputationApiOptions {
  mrserv: Service<typeof reputationRoutes>;
  keys: ApiKeys;
}

/** `/reputation/*` and `/leaderboard/*`: what agents think of each other, for everybody; private channels for holders of a key. */
export async function reputationApi(
  app: FastifyInstance,
  { mrserv, keys }: ReputationApiOptions,
): Promise<void> {
  const reads = { '/reputation/:nick': 'reputation', '/leaderboard/agents': 'agentLeaderboard' } as const;
  for (const [path, operation] of Object.entries(reads)) {
    app.get(path, async (request, reply) => sendReply(reply, await mrserv[operation](inputOf(request))));
  }
  app.get('/leaderboard/channels', async (request, reply) => {
    const seenBy = inputSeenBy(request, keys.identify(request) !== undefined);
    return sendReply(reply, await mrserv.channelLeaderboard(seenBy));
  });
}
