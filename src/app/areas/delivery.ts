import { isExpected } from '../../../streams/core/index.js';
import { deliveryDecider } from '../../../streams/delivery/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import { Screening } from '../../../streams/moderation/index.js';
import { webhookRoutes } from '../../http/webhook.js';
import { nobody } from '../../operations/core/call.js';
import type { IrcState } from '../../operations/core/health.js';
import type { DeliveryParts } from '../../operations/delivery/events.js';
import { ConflictingEvents } from '../../operations/events/conflicting-events.js';
import { DeletedRooms } from '../../operations/events/deleted-rooms.js';
import type { EventsParts } from '../../operations/events/index.js';
import { Openings } from '../../operations/events/openings.js';
import { Owners } from '../../operations/events/owners.js';
import { queueOf } from '../../operations/events/queue.js';
import { Reception } from '../../operations/events/reception.js';
import { getLinkOfNick } from '../../operations/identity/links.js';
import { taskMarketOf } from '../../operations/marketplace/from-irc.js';
import type { BridgeHealthParts } from '../../operations/network/health.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import { createDelivery } from '../bots/delivery.js';
import { readDelivery } from '../gauges/parts.js';
import type { Area, AreaParts } from './area.js';

/** From the marketplace into the channels: events and their deliveries. */
export function deliveryArea(parts: AreaParts): Area {
  const { config, log, logger, readModels, metrics, secrets, channels, call } = parts;
  const limits = {
    maxRetries: config.EVENT_MAX_RETRIES,
    ttlMs: config.EVENT_TTL_MS,
    retryMs: config.EVENT_RETRY_MS,
  };
  const tasks = {
    market: config.EM_URL ? taskMarketOf(call) : undefined,
    identityBot: config.MRSERV_NICK,
    screen: new Screening(config.GUARDIAN_THRESHOLDS).screen,
    linkOf: async (nick: string) => {
      try {
        const { wallet_address: wallet, level } = await call(getLinkOfNick, { nick: casefold(nick) }, nobody);
        return { wallet, level };
      } catch (error) {
        if (isExpected(error) && error.code === 'wallet_not_linked') return undefined;
        throw error;
      }
    },
  };
  const bot = createDelivery(config, { ...parts, limits, observe: metrics.delivery, channels, tasks });
  const rows = new OwnReadModel(readModels, 'delivery_queue');
  const names = new Set(config.EM_PRODUCERS.map(({ source }) => source));
  const owners = names.size > 0 ? new Owners({ log, logger, names }) : undefined;
  const producers = [...secrets.webhook.map((secret) => ({ secret })), ...config.EM_PRODUCERS];
  const deletedRooms = new DeletedRooms({ log, logger });
  const reception = new Reception({
    log,
    deletedRooms,
    readModels,
    rows,
    owners,
    source: config.EM_SOURCE,
    thresholds: config.GUARDIAN_THRESHOLDS,
    unknown: { events: config.UNKNOWN_EVENTS, fields: config.UNKNOWN_EVENT_FIELDS },
    conflicting: new ConflictingEvents(logger, metrics.conflicting),
    openings: new Openings({ log, replicas: config.NATS_REPLICAS }),
  });
  const events: EventsParts['events'] = {
    rows,
    reception,
    owners,
    webhookSecretConfigured: producers.length > 0,
  };
  const delivery: DeliveryParts['delivery'] = { decider: deliveryDecider(limits) };
  const bridge: BridgeHealthParts['bridge'] = {
    irc: async () => (await bot.lease.holderState()) as IrcState | undefined,
    queue: async () => await queueOf({ log, events }),
  };
  return {
    parts: { events, delivery, bridge },
    api: async (server) => {
      owners?.start();
      await server.register(webhookRoutes, {
        call,
        producers,
        schemes: config.EM_WEBHOOK_SCHEMES,
        observe: metrics.posted,
      });
    },
    bots: [bot],
    stop: async () => {
      deletedRooms.stop();
      await owners?.stop();
    },
    gauged: [{ role: 'irc', part: 'delivery', read: () => readDelivery(bot) }],
  };
}
