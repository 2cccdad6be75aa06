import { ConfigError } from '../../config/config.js';
import { QueryFeed } from '../../operations/deliberation/feed.js';
import { missingModelKeys } from '../../operations/deliberation/models-file.js';
import type { DeliberationParts } from '../../operations/deliberation/parts.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import { createDeliberation } from '../bots/deliberation.js';
import type { Area, AreaParts } from './area.js';

/** Queries to several models, and the worker that runs them. Throws `ConfigError` where they are run and a model has no key. */
export function deliberationArea(parts: AreaParts): Area {
  const { config, log, logger, readModels } = parts;
  // who asks no model needs no key
  const missing = config.ROLES.includes('workers') ? missingModelKeys(config.MODELS) : [];
  if (missing.length > 0)
    throw new ConfigError(`The configuration cannot be used:\n  MODELS: ${missing.join('\n  MODELS: ')}`);
  const deliberation: DeliberationParts['deliberation'] = {
    rows: new OwnReadModel(readModels, 'deliberations'),
    feed: new QueryFeed(log, logger),
    models: config.MODELS,
    maxCostUsd: config.DELIBERATION_MAX_COST_USD,
  };
  return {
    parts: { deliberation },
    workers: config.MODELS.length > 0 ? [createDeliberation(config, parts)] : [],
  };
}
