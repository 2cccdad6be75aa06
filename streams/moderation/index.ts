export type { Enforced, Enforcement } from './enforcement.js';
export {
  type Action,
  type Answered,
  actions,
  hostOf,
  type Incident,
  isIncidentOf,
  isPrivateIncident,
  type Level,
  lateAfterMs,
  levels,
  type ModerationFact,
  moderation,
  newAccountMs,
  newAccountsOf,
  personOf,
  personSubject,
  singleSubject,
} from './facts.js';
export { judge, judgementTerms, levelOf, type Thresholds, usualThresholds } from './judgement.js';
export { type Loop, type LoopLine, LoopWatch, loopPattern, loopTerms } from './loops.js';
export { longestRead } from './normalise.js';
export {
  type Entry,
  type HeldPattern,
  heldPatterns,
  type PersonCommand,
  type PersonState,
  personDecider,
} from './person.js';
export { rules } from './rules.js';
export { type Score, scoreText } from './score.js';
export { Screening, type Withheld, withheldMark } from './screening.js';
