import type { Area, AreaParts } from '../../app/area.js';
import { ConfigError } from '../../app/config.js';
import { upstream } from '../../remote/service.js';
import { createDeliberation } from './bot.js';
import { QueryFeed } from './feed.js';
import { missingModelKeys } from './models-file.js';
import { multibrainApi } from './routes.js';
import { createMultibrain, multibrainRoutes } from './service.js';

/**
 * Queries to several models: their service, the worker that runs them, and the stream of what is answered. Throws
 * `ConfigError` where they are run and a model has no key.
 */
export function deliberationArea(parts: AreaParts): Area {
  const { config, log, logger, readModels, keys } = parts;
  // who asks no model needs no key
  const missing = config.ROLES.includes('workers') ? missingModelKeys(config.MODELS) : [];
  if (missing.length > 0)
    throw new ConfigError(`The configuration cannot be used:\n  MODELS: ${missing.join('\n  MODELS: ')}`);
  const service = createMultibrain({
    log,
    readModels,
    models: config.MODELS,
    maxCostUsd: config.DELIBERATION_MAX_COST_USD,
    startedAt: parts.startedAt,
  });
  const multibrain = upstream('multibrain', multibrainRoutes, {
    url: config.MULTIBRAIN_URL,
    timeoutMs: config.PROXY_TIMEOUT,
    service,
  });
  return {
    services: [{ name: 'multibrain', routes: multibrainRoutes, operations: service }],
    health: { multibrain: () => multibrain.health() },
    api: async (server) => {
      await server.register(multibrainApi, { multibrain, keys, feed: new QueryFeed(log, logger) });
    },
    workers: config.MODELS.length > 0 ? [createDeliberation(config, parts)] : [],
  };
}
