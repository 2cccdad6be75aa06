import type { Area, AreaParts } from '../../app/area.js';
import { readPaidChannels } from '../../app/paid-channels.js';
import { readChannelKeeping } from '../../metrics/rooms.js';
import { upstream } from '../../remote/service.js';
import type { IrcState } from '../network/irc-state.js';
import { createAutomation } from './automation.js';
import type { createChannelKeeping } from './bot.js';
import { channelRoutes } from './routes.js';
import { channelservRoutes, createChannelserv } from './service.js';

/** The managed channels: their service, the bot that keeps them, and what marketplace events do to them. */
export function channelsArea(parts: AreaParts, keeping: ReturnType<typeof createChannelKeeping>): Area {
  const { config, log, logger, readModels, channels, keys, startedAt, holder } = parts;
  const automation = createAutomation(config, { log, logger, holder, channels });
  const service = createChannelserv({
    log,
    readModels,
    channels,
    irc: async () => (await keeping.lease.holderState()) as IrcState | undefined,
    sold: readPaidChannels(config.PAID_CHANNELS).map(({ name }) => name),
    startedAt,
  });
  const channelserv = upstream('channelserv', channelservRoutes, {
    url: config.CHANNELSERV_URL,
    timeoutMs: config.PROXY_TIMEOUT,
    service,
  });
  return {
    services: [{ name: 'channelserv', routes: channelservRoutes, operations: service }],
    health: { channelserv: () => channelserv.health() },
    api: async (server) => {
      await server.register(channelRoutes, { channelserv, keys });
    },
    bots: [keeping],
    workers: [automation],
    gauged: [{ role: 'irc', part: 'channels', read: () => readChannelKeeping(keeping, readModels) }],
  };
}
