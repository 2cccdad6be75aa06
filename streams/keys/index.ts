export { type IssuedKey, type KeyFact, keys, keysSubject } from './facts.js';
export { type KeyCommand, type KeysState, keyDays, keysDecider, maxKeys, maxKeysMade } from './keys.js';
