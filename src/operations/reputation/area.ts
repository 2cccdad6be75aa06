import type { Area, AreaParts } from '../../app/area.js';
import { upstream } from '../../remote/service.js';
import { readPaidChannels } from '../payments/paid-channels.js';
import { reputationApi } from './routes.js';
import { createReputation, reputationRoutes } from './service.js';

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
