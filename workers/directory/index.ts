export { AgentCards, type FetchedCard } from './cards.js';
export { type AbilitiesContext, abilitiesHelp, answerAbilities } from './commands.js';
export { AgentEntries, type AgentEntriesOptions, type Asking } from './entries.js';
