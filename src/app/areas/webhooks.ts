import type { Term } from '../../../workers/core/lease.js';
import {
  DeliverWebhooks,
  publicReach,
  reachWithLoopback,
  WebhookSecrets,
} from '../../../workers/webhooks/index.js';
import { endedKeys } from '../../auth/ended-keys.js';
import { ownPorts } from '../../config/own-ports.js';
import { webhooksMayReachLoopback } from '../../config/warnings.js';
import type { WebhookParts } from '../../operations/speech/webhook-parts.js';
import { WebhookPlaces } from '../../operations/speech/webhook-places.js';
import { leased } from '../bots/leased.js';
import type { Area, AreaParts } from './area.js';
import { heardText } from './heard.js';

/** Webhooks of agents: their operations, and the worker that posts. */
export function webhooksArea(parts: AreaParts): Area {
  const { config, log, logger, readModels, metrics } = parts;
  const reach = webhooksMayReachLoopback(config) ? reachWithLoopback(ownPorts(config)) : publicReach;
  const secrets = new WebhookSecrets(log, config.NATS_REPLICAS);
  const webhooks: WebhookParts['webhooks'] = { secrets, places: new WebhookPlaces(log), reach };
  const begin = ({ isSure }: Term) =>
    new DeliverWebhooks({
      log,
      logger,
      secrets,
      fetch: reach.fetch,
      ended: (actors) => endedKeys(readModels, actors, log.now()),
      source: config.EM_SOURCE,
      heard: heardText(config),
      observe: metrics.webhooks,
      mayBegin: isSure,
    });
  return { parts: { webhooks }, workers: [leased(config, parts, 'deliver-webhooks', begin)] };
}
