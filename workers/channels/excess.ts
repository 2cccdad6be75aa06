import { activeChannels, newestChannels } from '../../projections/channels/queries.js';
import { type ChannelType, channels } from '../../streams/channels/index.js';
import type { Commands } from './commands.js';
import type { KeepChannelsOptions } from './options.js';
import { mostOfType } from './tally.js';

/** An older channel is not taken back, in milliseconds: whoever made it had an answer long ago. */
const youngMs = 3_600_000;
const by = 'keep-channels';

/**
 * Takes back the newest channels of a type that has too many. A process was killed between the creation of one too
 * many and its removal, and never opened it.
 */
export async function takeBackExcess(
  options: Pick<KeepChannelsOptions, 'log' | 'read' | 'logger'> & { commands: Commands },
): Promise<void> {
  const { log, read, logger, commands } = options;
  const after = { stream: channels.name, seq: await log.head(channels) };
  const active = await read(activeChannels, after);
  for (const [type, most] of Object.entries(mostOfType) as [ChannelType, number][]) {
    const over = active.filter((channel) => channel.type === type).length - most;
    if (over <= 0) continue;
    const since = new Date(log.now().getTime() - youngMs);
    const newest = await read((sql, schema) => newestChannels(sql, schema, { type, since, limit: over }));
    // somebody may have been brought in by a version that did not take back
    for (const name of await commands.emptyAmong(newest)) {
      await commands.alone(name, {}, () => commands.takeBack(name, undefined, { by }));
      logger.warn({ type, channel: name }, 'channel beyond the limit is taken back');
    }
  }
}
