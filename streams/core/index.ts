export type { ObservedAppend } from './appender.js';
export { backoff, type Pauses, retry } from './backoff.js';
export { boundedCache } from './bounded-cache.js';
export { atMost, type Clock, clock, pause, type Timer, timeout, turn, useClock, within } from './clock.js';
export type { Decider } from './decider.js';
export {
  causesOf,
  errorTold,
  isExpected,
  type Received,
  Refusal,
  type Told,
  told,
  Unavailable,
} from './errors.js';
export type { Entry } from './follow.js';
export { importedHeader, markImport } from './imported.js';
export { KeyedLock } from './keyed-lock.js';
export { type Appended, Log, type LogOptions } from './log.js';
export { isEnding } from './nats.js';
export { newId } from './publisher.js';
export type { Pull, PulledMessage, PullOptions } from './pull.js';
export { Sleeper } from './sleeper.js';
export {
  type AnyFact,
  decodeFact,
  defineStream,
  encodeFact,
  type FactOf,
  factsIn,
  type Origin,
  type Position,
  type Recorded,
  requireFact,
  type StreamDefinition,
} from './stream.js';
