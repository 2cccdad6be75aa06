export { type EntryCommand, type EntryOwner, entryDecider, publishLimit } from './entry.js';
export {
  type DirectoryFact,
  directory,
  type EntryWords,
  entrySubject,
  type PublishedEntry,
} from './facts.js';
export {
  entryLimits,
  isAbility,
  isCardAddress,
  isReservedAbility,
  languageOf,
  languageRanges,
  textOfEntry,
} from './words.js';
