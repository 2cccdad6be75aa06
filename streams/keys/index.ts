export { type IssuedKey, type KeyFact, keys, keysSubject } from './facts.js';
export { type KeyCommand, type KeysState, keyDays, keysDecider, maxKeys } from './keys.js';
