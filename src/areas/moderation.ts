import { guardianApi } from '../api/guardian.js';
import { moderationOperations } from '../api/moderation-operations.js';
import type { createChannelKeeping } from '../bots/channels.js';
import { createGuard } from '../bots/guard.js';
import { createGuardian, guardianRoutes } from '../services/guardian.js';
import type { IrcState } from '../services/irc-state.js';
import { upstream } from '../services/service.js';
import type { Area, AreaParts } from './area.js';

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
