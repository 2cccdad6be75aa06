import { channelStatistics } from '../../../projections/channels/queries.js';
import type { KeepChannels } from '../../../workers/channels/index.js';
import type { RecordIrc } from '../../../workers/network/index.js';
import type { Reading } from '../../metrics/metrics.js';
import type { ReadModels } from '../../stores/read-models.js';
import type { BotHold } from '../bots/bot.js';

/**
 * Two gauges of the bridge: how many channels it should be in, and in how many it is. Empty while another process has
 * the bot.
 */
export function readRecording(recording: BotHold<RecordIrc>): Reading[] {
  const held = recording.held();
  if (!held) return [];
  const { nick } = held.irc.status();
  return [
    ['irc_rooms_expected', held.worker.wanted, { nick }],
    ['irc_rooms_held', held.worker.rooms, { nick }],
  ];
}

/**
 * Two gauges of the channel bot: how many channels it should be in, and in how many it is. Empty while another process
 * has the bot.
 */
export async function readChannelKeeping(
  keeping: BotHold<KeepChannels>,
  readModels: ReadModels,
): Promise<Reading[]> {
  const held = keeping.held();
  if (!held) return [];
  const { nick } = held.irc.status();
  const { total } = await readModels.read('channel_directory', (sql, schema) =>
    channelStatistics(sql, schema, { now: new Date(), withPrivate: true }),
  );
  return [
    ['irc_rooms_expected', total, { nick }],
    ['irc_rooms_held', held.irc.session()?.rooms ?? 0, { nick }],
  ];
}
