import type { Area, AreaParts } from '../../app/area.js';
import { readRecording } from '../../metrics/rooms.js';
import { createRecording } from './bot.js';
import { LiveFeed } from './feed.js';
import type { RecorderState } from './irc-state.js';
import type { NetworkParts } from './reads.js';
import type { IrcStreamParts } from './stream.js';
import { Viewers } from './viewers.js';

/** The network as it is recorded and shown. */
export function networkArea(parts: AreaParts): Area {
  const { config, log, logger, metrics } = parts;
  const recording = createRecording(config, { ...parts, observe: metrics.network });
  const viewers = new Viewers(log.connection);
  const network: NetworkParts['network'] = {
    recorder: async () => (await recording.lease.holderState()) as RecorderState | undefined,
    viewers: () => viewers.count,
  };
  const ircStream: IrcStreamParts['ircStream'] = { feed: new LiveFeed(log, logger), viewers };
  return {
    parts: { network, ircStream },
    bots: [recording],
    gauged: [{ role: 'irc', part: 'recording', read: () => readRecording(recording) }],
    stop: async () => viewers.stop(),
  };
}
