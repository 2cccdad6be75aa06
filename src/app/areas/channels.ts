import { casefold } from '../../../streams/irc-grammar.js';
import type { ChannelParts } from '../../operations/channels/channel.js';
import type { IrcState } from '../../operations/core/health.js';
import { OwnReadModel } from '../../stores/own-read-model.js';
import { createAutomation } from '../bots/automation.js';
import type { createChannelKeeping } from '../bots/channels.js';
import { readChannelKeeping } from '../gauges/rooms.js';
import type { Area, AreaParts } from './area.js';

/** The managed channels: what is asked of them, the bot that keeps them, and what marketplace events do to them. */
export function channelsArea(parts: AreaParts, keeping: ReturnType<typeof createChannelKeeping>): Area {
  const { config, log, logger, readModels, channels: commands, holder } = parts;
  const channels: ChannelParts['channels'] = {
    rows: new OwnReadModel(readModels, 'channel_directory'),
    commands,
    irc: async () => (await keeping.lease.holderState().catch(() => undefined)) as IrcState | undefined,
    sold: new Set(config.PAID_CHANNELS.map(({ name }) => casefold(name))),
  };
  return {
    parts: { channels },
    bots: [keeping],
    workers: [createAutomation(config, { log, logger, holder, channels: commands })],
    gauged: [{ role: 'irc', part: 'channels', read: () => readChannelKeeping(keeping, readModels) }],
  };
}
