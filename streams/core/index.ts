export type { Decider } from './decider.js';
export { Refusal, Unavailable, isExpected } from './errors.js';
export { type Appended, type Entry, Log, type LogOptions } from './log.js';
export { newId } from './publisher.js';
export type { Pull, PullOptions, PulledMessage } from './pull.js';
export {
  type AnyFact,
  type FactOf,
  type Origin,
  type Position,
  type Recorded,
  type StreamDefinition,
  decodeFact,
  defineStream,
  encodeFact,
} from './stream.js';
