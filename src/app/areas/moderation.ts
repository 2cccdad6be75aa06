import { casefold } from '../../../streams/irc-grammar.js';
import { createEnforcement, createRegistrations } from '../../../workers/channels/index.js';
import { GuardChannels, guard } from '../../../workers/moderation/index.js';
import { botNicks } from '../../config/bot-nicks.js';
import type { IrcState } from '../../operations/core/health.js';
import type { ModerationParts } from '../../operations/moderation/index.js';
import type { createChannelKeeping } from '../bots/channels.js';
import { gatewayHostsOf } from '../bots/gateway-hosts.js';
import { leased } from '../bots/leased.js';
import type { Area, AreaParts } from './area.js';

/**
 * What looks like an attack on the agents that read along: what was seen and done, and the guard, which does it. The
 * channel bot (`keeping`) has the power to act.
 */
export function moderationArea(
  parts: Pick<AreaParts, 'config' | 'log' | 'logger' | 'readModels' | 'holder'>,
  keeping: ReturnType<typeof createChannelKeeping>,
): Area {
  const { config, log, logger, readModels } = parts;
  const moderation: ModerationParts['moderation'] = {
    irc: async () => (await keeping.lease.holderState().catch(() => undefined)) as IrcState | undefined,
    ignored: new Set(config.GUARDIAN_IGNORE_CHANNELS.map(casefold)),
  };
  const work = () =>
    new GuardChannels({
      log,
      logger,
      bots: botNicks(config),
      enforce: createEnforcement(log),
      registeredAt: createRegistrations(log),
      gatewayHosts: gatewayHostsOf(readModels),
      thresholds: config.GUARDIAN_THRESHOLDS,
      appealTo: config.CHANNELSERV_NICK,
      ignored: config.GUARDIAN_IGNORE_CHANNELS,
      loopMinutes: config.GUARDIAN_LOOP_MINUTES,
      read: (query, after) => readModels.readAt('moderation', query, after),
    });
  return {
    parts: { moderation },
    workers: [leased(config, parts, guard, work)],
  };
}
