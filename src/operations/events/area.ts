import { deliveryDecider } from '../../../streams/delivery/index.js';
import type { Area, AreaParts } from '../../app/area.js';
import { readDelivery } from '../../metrics/parts.js';
import { readRecording } from '../../metrics/rooms.js';
import { upstream } from '../../remote/service.js';
import { createDelivery } from '../delivery/bot.js';
import { deadLetterRoutes } from '../delivery/dead-letters.js';
import { redeliveryRoutes } from '../delivery/redelivery.js';
import { createRecording } from '../network/bot.js';
import { LiveFeed } from '../network/feed.js';
import type { IrcState, RecorderState } from '../network/irc-state.js';
import { ircRoutes } from '../network/routes.js';
import { Viewers } from '../network/viewers.js';
import { ConflictingEvents } from './conflicting-events.js';
import { webhookRoutes } from './routes.js';
import { bridgeRoutes, createBridge } from './service.js';

/** From the marketplace into the channels, and from the channels to whoever reads: events, deliveries, the record. */
export function bridgeArea(parts: AreaParts): Area {
  const { config, log, logger, readModels, keys, metrics, secrets, channels, startedAt } = parts;
  const limits = {
    maxRetries: config.EVENT_MAX_RETRIES,
    ttlMs: config.EVENT_TTL_MS,
    retryMs: config.EVENT_RETRY_MS,
  };
  const delivery = createDelivery(config, { ...parts, limits, observe: metrics.delivery, channels });
  const recording = createRecording(config, { ...parts, observe: metrics.network });
  const viewers = new Viewers(log.connection);
  const service = createBridge({
    log,
    readModels,
    source: config.EM_SOURCE,
    thresholds: config.GUARDIAN_THRESHOLDS,
    conflicting: new ConflictingEvents(logger, metrics.conflicting),
    webhookSecretConfigured: secrets.webhook.length > 0,
    irc: async () => (await delivery.lease.holderState()) as IrcState | undefined,
    recorder: async () => (await recording.lease.holderState()) as RecorderState | undefined,
    viewers: () => viewers.count,
    startedAt,
  });
  const bridge = upstream('bridge', bridgeRoutes, {
    url: config.BRIDGE_URL,
    timeoutMs: config.PROXY_TIMEOUT,
    service,
  });
  return {
    services: [{ name: 'bridge', routes: bridgeRoutes, operations: service }],
    upstreams: { bridge },
    health: { bridge: () => bridge.health() },
    api: async (server) => {
      await server.register(webhookRoutes, {
        bridge,
        secrets: secrets.webhook,
        schemes: config.EM_WEBHOOK_SCHEMES,
        observe: metrics.posted,
      });
      const decider = deliveryDecider(limits);
      await server.register(deadLetterRoutes, { log, readModels, keys, decider });
      await server.register(redeliveryRoutes, { log, readModels, keys, decider });
      await server.register(ircRoutes, { bridge, keys, feed: new LiveFeed(log, logger), viewers });
    },
    bots: [delivery, recording],
    gauged: [
      { role: 'irc', part: 'delivery', read: () => readDelivery(delivery) },
      { role: 'irc', part: 'recording', read: () => readRecording(recording) },
    ],
    stop: async () => viewers.stop(),
  };
}
