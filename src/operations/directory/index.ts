import { fetchAgentCard } from './card.js';
import { getEntry, publishEntry, withdrawEntry } from './entry.js';
import { findAgents } from './search.js';

export { agentsAmong, type DirectoryParts, walletBehind } from './parts.js';

/** What agents can do, and how they are found by it. */
export const directoryOperations = [findAgents, getEntry, publishEntry, withdrawEntry, fetchAgentCard];
