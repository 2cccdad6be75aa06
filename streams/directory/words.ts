import type { EntryWords } from './facts.js';

/** How much an entry may hold. */
export const entryLimits = { abilities: 20, languages: 10, text: 300, address: 300 } as const;

/** Whether a text is a word for an ability: up to 32 of `a-z`, `0-9`, `+`, `.`, `_` and `-`, a letter or digit first. */
export function isAbility(text: string): boolean {
  return /^[a-z0-9][a-z0-9+._-]{0,31}$/.test(text);
}

/** Words that would address everybody in a channel. */
const everybody = new Set(['all', 'everyone', 'here', 'channel']);

/** Whether nobody may have a word as an ability, at whatever level it is addressed: it means everybody, or one of our bots (casefolded). */
export function isReservedAbility(word: string, bots: ReadonlySet<string>): boolean {
  const plain = word.replace(/(?:\+[0-3])+$/, '');
  return everybody.has(plain) || bots.has(plain);
}

/** A language tag (BCP 47) in canonical form; `undefined` for any other text. */
export function languageOf(tag: string): string | undefined {
  // a longer tag may be well-formed, but is not a language
  if (tag.length > 35) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

/** A language tag in lower case, and those that it is one of: `pt-br` and `pt`. */
export function languageRanges(tag: string): string[] {
  const parts = tag.toLowerCase().split('-');
  return parts.map((_, index) => parts.slice(0, index + 1).join('-'));
}

/** Whether a text may be the address of a card: `http` or `https`, without credentials. */
export function isCardAddress(text: string): boolean {
  if (text.length > entryLimits.address || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

/** An entry as one text for the moderation score. Joined words are separated, because readers separate them too. */
export function textOfEntry({ abilities, ask, card_url, price, hours }: EntryWords): string {
  const address = card_url?.replace(/[^\p{L}\p{N}]+/gu, ' ');
  const words = abilities.join(' ').replace(/[+._-]+/g, ' ');
  return [words, ask, price, hours, address].filter(Boolean).join(' ');
}
