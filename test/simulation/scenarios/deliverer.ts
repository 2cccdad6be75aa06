import { createAutomation } from '../../../src/app/bots/automation.js';
import { createChannelKeeping } from '../../../src/app/bots/channels.js';
import { createDelivery } from '../../../src/app/bots/delivery.js';
import type { Config } from '../../../src/config/config.js';
import { ConflictingEvents } from '../../../src/operations/events/conflicting-events.js';
import { DeletedRooms } from '../../../src/operations/events/deleted-rooms.js';
import { Reception } from '../../../src/operations/events/reception.js';
import type { ReadModels } from '../../../src/stores/read-models.js';
import { channels as channelFacts } from '../../../streams/channels/index.js';
import { delivery as deliveryFacts } from '../../../streams/delivery/index.js';
import { market } from '../../../streams/events/index.js';
import { operations } from '../../../streams/operations/facts.js';
import { createChannels } from '../../../workers/channels/index.js';
import { type Process, type Running, runLeases } from '../process.js';
import type { Receiver } from './producers.js';

/** What such a process has open on the log. */
export const streams = [channelFacts, market, deliveryFacts, operations];

/** A process that takes events and brings them into channels, as producers and the judge see it. */
export interface Deliverer extends Running, Receiver {
  inHand(): number;
  /** Those of its bots on the network that are in the wanted state. */
  bots(): string[];
}

/** The queue's limits, as the settings have them. */
export function limitsOf(config: Config) {
  const { EVENT_MAX_RETRIES: maxRetries, EVENT_TTL_MS: ttlMs, EVENT_RETRY_MS: retryMs } = config;
  return { maxRetries, ttlMs, retryMs };
}

/** Brings up the parts of the product that events go through. */
export async function beginDeliverer(
  process: Process,
  config: Config,
  readModels: ReadModels,
): Promise<Deliverer> {
  const { logger } = process;
  const log = await process.openLog(streams);
  const parts = {
    ...process.botParts(log),
    channels: createChannels(log),
    limits: limitsOf(config),
    readModels,
    // nobody asks the bot for anything here
    tasks: {
      market: undefined,
      identityBot: config.MRSERV_NICK,
      screen: String,
      linkOf: async () => undefined,
    },
  };
  const delivery = createDelivery(config, parts);
  const keeping = createChannelKeeping(config, parts);
  const running = runLeases([delivery.lease, keeping.lease, createAutomation(config, parts)], { log });
  const deletedRooms = new DeletedRooms({ log, logger });
  const reception = new Reception({
    log,
    deletedRooms,
    readModels,
    rows: { wrote: () => {} },
    source: config.EM_SOURCE,
    thresholds: config.GUARDIAN_THRESHOLDS,
    conflicting: new ConflictingEvents(logger, () => {}),
  });
  return {
    receive: (event) => reception.receive(event),
    isDead: () => process.isDead,
    inHand: () => delivery.held()?.worker.inHand ?? 0,
    bots: () =>
      [delivery, keeping].flatMap((bot) => {
        const { connected, oper, nick } = bot.held()?.irc.status() ?? {};
        return connected && (oper || bot === delivery) && nick ? [nick] : [];
      }),
    stop: async () => {
      deletedRooms.stop();
      await running.stop();
    },
  };
}
