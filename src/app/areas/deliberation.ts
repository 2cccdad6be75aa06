import { Deliberate } from '../../../workers/deliberation/index.js';
import { QueryFeed } from '../../operations/deliberation/feed.js';
import type { DeliberationParts } from '../../operations/deliberation/parts.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import { leased } from '../bots/leased.js';
import type { Area, AreaParts } from './area.js';

/** Queries to several models, and the worker that runs them. */
export function deliberationArea(
  parts: Pick<AreaParts, 'config' | 'log' | 'logger' | 'readModels' | 'holder'>,
): Area {
  const { config, log, logger, readModels } = parts;
  const { MODELS: models } = config;
  const deliberation: DeliberationParts['deliberation'] = {
    rows: new OwnReadModel(readModels, 'deliberations'),
    feed: new QueryFeed(log, logger),
    models,
    maxCostUsd: config.DELIBERATION_MAX_COST_USD,
  };
  const callTimeoutMs = config.DELIBERATION_CALL_TIMEOUT_MS;
  const work = () => new Deliberate({ log, logger, models, callTimeoutMs });
  return {
    parts: { deliberation },
    workers: models.length > 0 ? [leased(config, parts, 'deliberate', work)] : [],
  };
}
