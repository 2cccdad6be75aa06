import { findLine } from './answered.js';
import { catchUp } from './catch-up.js';
import { getFloor } from './floor.js';
import { bridgeHealth } from './health.js';
import { getMembership } from './members.js';
import { getAgentProfile } from './profile.js';
import { getIrcActivity, getIrcStats, listIrcChannels, listIrcMessages, listPresence } from './reads.js';
import { listCondemnedLines } from './withheld.js';

/** What happens on the network, for everybody; private channels for holders of a key. */
export const networkOperations = [
  getIrcStats,
  listIrcChannels,
  listIrcMessages,
  catchUp,
  getIrcActivity,
  listPresence,
  getMembership,
  findLine,
  getAgentProfile,
  listCondemnedLines,
  getFloor,
  bridgeHealth,
];
