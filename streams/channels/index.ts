export {
  archivedLook,
  type ChannelCommand,
  type ChannelState,
  channelDecider,
  isActedUpon,
  mayInvite,
  shortLine,
  withNicks,
  withoutNicks,
} from './channel.js';
export {
  type ChannelCause,
  type ChannelFact,
  type ChannelType,
  channelSubject,
  channels,
  channelTypes,
  type MemberAction,
  memberActions,
} from './facts.js';
export { changedModes, modeFlags, modeString, modesFault, parseModes } from './modes.js';
