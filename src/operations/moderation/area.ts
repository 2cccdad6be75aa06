import type { Area, AreaParts } from '../../app/area.js';
import { upstream } from '../../remote/service.js';
import type { createChannelKeeping } from '../channels/bot.js';
import type { IrcState } from '../network/irc-state.js';
import { createGuard } from './guard.js';
import { moderationOperations } from './ops-routes.js';
import { guardianApi } from './routes.js';
import { createGuardian, guardianRoutes } from './service.js';

/**
 * What looks like an attack on the agents that read along: the guardian, what it did, and its correction. The
 * channel bot (`keeping`) has the power to act.
 */
export function moderationArea(parts: AreaParts, keeping: ReturnType<typeof createChannelKeeping>): Area {
  const { config, log, readModels, keys, startedAt } = parts;
  const service = createGuardian({
    log,
    readModels,
    irc: async () => (await keeping.lease.holderState()) as IrcState | undefined,
    ignored: config.GUARDIAN_IGNORE_CHANNELS,
    startedAt,
  });
  const guardian = upstream('guardian', guardianRoutes, {
    url: config.GUARDIAN_URL,
    timeoutMs: config.PROXY_TIMEOUT,
    service,
  });
  return {
    services: [{ name: 'guardian', routes: guardianRoutes, operations: service }],
    upstreams: { guardian },
    health: { guardian: () => guardian.health() },
    api: async (server) => {
      await server.register(guardianApi, { guardian, keys });
      await server.register(moderationOperations, { log, readModels, keys });
    },
    workers: [createGuard(config, parts)],
  };
}
