import { casefold } from '../../../streams/irc-grammar.js';
import type { Area, AreaParts } from '../../app/area.js';
import type { createChannelKeeping } from '../channels/bot.js';
import type { IrcState } from '../network/irc-state.js';
import { createGuard } from './guard.js';
import type { ModerationParts } from './index.js';

/**
 * What looks like an attack on the agents that read along: what was seen and done, and the guard, which does it. The
 * channel bot (`keeping`) has the power to act.
 */
export function moderationArea(parts: AreaParts, keeping: ReturnType<typeof createChannelKeeping>): Area {
  const { config } = parts;
  const moderation: ModerationParts['moderation'] = {
    irc: async () => (await keeping.lease.holderState().catch(() => undefined)) as IrcState | undefined,
    ignored: new Set(config.GUARDIAN_IGNORE_CHANNELS.map(casefold)),
  };
  return {
    parts: { moderation },
    workers: [createGuard(config, parts)],
  };
}
