import { withEventBot } from '../../../streams/events/index.js';
import { type Channels, openForEvent } from '../../../workers/channels/index.js';
import { DeliverToIrc, type DeliverToIrcOptions } from '../../../workers/delivery/index.js';
import type { OpenChannel } from '../../../workers/delivery/rooms.js';
import { type TaskCommandsOptions, takeTaskCommands } from '../../../workers/marketplace/index.js';
import type { Config } from '../../config/config.js';
import { type BotHold, type BotParts, createBot } from './bot.js';

/** What the marketplace bot works with. */
export interface DeliveryParts extends BotParts, Pick<DeliverToIrcOptions, 'limits' | 'observe'> {
  channels: Channels;
  /** What agents ask the bot for. */
  tasks: Omit<TaskCommandsOptions, 'logger'>;
}

/** The marketplace bot and its deliveries. */
export type DeliveryHold = BotHold<DeliverToIrc>;

/** Makes the marketplace bot and its deliveries ready to be held. */
export function createDelivery(config: Config, parts: DeliveryParts): DeliveryHold {
  const { log, logger, limits, observe, channels, tasks } = parts;
  const by = 'deliver-to-irc';
  const openChannel: OpenChannel = ({ event_seq, ...room }, cause_id) => {
    const cause = 'automation';
    if (event_seq === undefined || cause_id === undefined) return channels.create({ ...room, cause }, { by });
    const wanted = { ...withEventBot(room, config.EM_NICK), cause, event_seq } as const;
    return openForEvent(channels, wanted, { by, cause_id });
  };
  return createBot(config, parts, {
    name: 'deliver-to-irc',
    nick: config.EM_NICK,
    realname: 'task marketplace',
    work: (irc) => {
      takeTaskCommands(irc, { ...tasks, logger });
      return new DeliverToIrc({ log, irc, limits, logger, openChannel, ...(observe ? { observe } : {}) });
    },
  });
}
