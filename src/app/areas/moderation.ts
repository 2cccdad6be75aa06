import { casefold } from '../../../streams/irc-grammar.js';
import type { IrcState } from '../../operations/core/health.js';
import type { ModerationParts } from '../../operations/moderation/index.js';
import type { createChannelKeeping } from '../bots/channels.js';
import { createGuard } from '../bots/guard.js';
import type { Area, AreaParts } from './area.js';

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
