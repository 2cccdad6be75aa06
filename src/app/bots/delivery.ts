import { withEventBot } from '../../../streams/events/index.js';
import type { Channels } from '../../../workers/channels/index.js';
import { DeliverToIrc, type DeliverToIrcOptions } from '../../../workers/delivery/index.js';
import type { OpenChannel } from '../../../workers/delivery/rooms.js';
import type { Config } from '../../config/config.js';
import { type BotHold, type BotParts, createBot } from './bot.js';

/** What the marketplace bot works with. */
export interface DeliveryParts extends BotParts, Pick<DeliverToIrcOptions, 'limits' | 'observe'> {
  channels: Channels;
}

/** The marketplace bot and its deliveries. */
export type DeliveryHold = BotHold<DeliverToIrc>;

/** Makes the marketplace bot and its deliveries ready to be held. */
export function createDelivery(config: Config, parts: DeliveryParts): DeliveryHold {
  const { log, logger, limits, observe, channels } = parts;
  const openChannel: OpenChannel = (room, cause_id) =>
    channels.create(
      { ...(cause_id ? withEventBot(room, config.EM_NICK) : room), cause: 'automation' },
      { by: 'deliver-to-irc', ...(cause_id ? { cause_id } : {}) },
    );
  return createBot(config, parts, {
    name: 'deliver-to-irc',
    nick: config.EM_NICK,
    realname: 'task marketplace',
    work: (irc) =>
      new DeliverToIrc({ log, irc, limits, logger, openChannel, ...(observe ? { observe } : {}) }),
  });
}
