import { changeChannelMembers, createChannel, removeChannel, updateChannel } from './commands.js';
import {
  getChannel,
  getChannelHealth,
  getChannelStatistics,
  listChannelOperations,
  listChannels,
} from './reads.js';

export type { ChannelParts } from './channel.js';

/** Managed channels, what was done in them, and the commands that do it. */
export const channelOperations = [
  listChannels,
  createChannel,
  getChannelStatistics,
  getChannel,
  updateChannel,
  removeChannel,
  changeChannelMembers,
  listChannelOperations,
  getChannelHealth,
];
