import { casefold } from '../../../streams/irc-grammar.js';
import { nobody } from '../../operations/core/call.js';
import type { RecorderState } from '../../operations/core/health.js';
import { ircFeed } from '../../operations/network/feed.js';
import type { ProfileParts } from '../../operations/network/profile.js';
import type { NetworkParts } from '../../operations/network/reads.js';
import { type IrcStreamParts, watchChannels } from '../../operations/network/stream.js';
import { Viewers } from '../../operations/network/viewers.js';
import type { WithholdingParts } from '../../operations/network/withheld.js';
import { getReputation } from '../../operations/reputation/index.js';
import type { ListenParts } from '../../operations/speech/listen.js';
import { type AnsweringParts, createRecording } from '../bots/recording.js';
import { readRecording } from '../gauges/rooms.js';
import type { Area, AreaParts } from './area.js';

/** The network as it is recorded and shown. `among`: which nicks are of a group. */
export function networkArea(parts: AreaParts, among: AnsweringParts['among']): Area {
  const { config, log, logger, metrics, call, readModels } = parts;
  const answers = { readModels, among };
  const recording = createRecording(config, { ...parts, observe: metrics.network, answers });
  const viewers = new Viewers(log.connection);
  const network: NetworkParts['network'] = {
    recorder: async () => (await recording.lease.holderState()) as RecorderState | undefined,
    viewers: () => viewers.count,
  };
  const ircStream: IrcStreamParts['ircStream'] = { feed: ircFeed(log, logger), viewers };
  const profile: ProfileParts['profile'] = {
    reputationOf: async (nick) => await call(getReputation, { nick }, nobody),
  };
  const withholding: WithholdingParts['withholding'] = {
    isOn: config.GUARDIAN_WITHHOLD,
    thresholds: config.GUARDIAN_THRESHOLDS,
    ignored: new Set(config.GUARDIAN_IGNORE_CHANNELS.map(casefold)),
  };
  const channelLines: ListenParts['channelLines'] = {
    watch: (channels, viewer) => watchChannels(channels, viewer, { call, withholding, ircStream }),
  };
  return {
    parts: { network, ircStream, profile, withholding, channelLines },
    bots: [recording],
    gauged: [{ role: 'irc', part: 'recording', read: () => readRecording(recording) }],
    stop: async () => viewers.stop(),
  };
}
