import { reputationApi } from '../api/reputation.js';
import { readPaidChannels } from '../payments/paid-channels.js';
import { createReputation, reputationRoutes } from '../services/reputation.js';
import { upstream } from '../services/service.js';
import type { Area, AreaParts } from './area.js';

/** What agents think of each other. */
export function reputationArea({ config, log, readModels, keys }: AreaParts): Area {
  const paidChannels = readPaidChannels(config.PAID_CHANNELS).map(({ name }) => name);
  const service = createReputation({ log, readModels, paidChannels });
  const mrserv = upstream('mrserv', reputationRoutes, {
    url: config.MRSERV_URL,
    timeoutMs: config.PROXY_TIMEOUT,
    service,
  });
  return {
    services: [{ name: 'mrserv', routes: reputationRoutes, operations: service }],
    upstreams: { reputation: mrserv },
    api: async (server) => {
      await server.register(reputationApi, { mrserv, keys });
    },
  };
}
