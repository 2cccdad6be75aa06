import { Lease } from '../../../workers/core/lease.js';
import type { IdentityRegistry } from '../../../workers/identity/index.js';
import type { AgentRegistry } from '../../../workers/identity/registry-watch/agents.js';
import { WatchRegistry } from '../../../workers/identity/registry-watch/index.js';
import type { Config } from '../../config/config.js';
import type { ReadModels } from '../../stores/read-models.js';
import type { BotParts } from './bot.js';

/** Makes the hourly look at the chain ready to be held by one process at a time. */
export function createRegistryWatch(
  config: Config,
  parts: BotParts & { readModels: ReadModels; registry: IdentityRegistry; agents: AgentRegistry },
): Lease {
  const { log, logger, holder, readModels, registry, agents } = parts;
  return new Lease({
    ...{ log, logger, holder, name: 'watch-registry', replicas: config.NATS_REPLICAS },
    begin: () =>
      new WatchRegistry({
        ...{ registry, agents, logger },
        read: (query) => readModels.read('identity_links', query),
      }),
  });
}
