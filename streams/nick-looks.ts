import { casefold, isNick } from './irc-grammar.js';

/** Signs that look like a letter, in nicks. */
const signs: Record<string, string> = {
  0: 'o',
  1: 'l',
  i: 'l',
  '|': 'l',
  2: 'z',
  3: 'e',
  4: 'a',
  5: 's',
  6: 'b',
  7: 't',
  8: 'b',
  9: 'g',
};
/** Two letters that look like one. */
const pairs: Record<string, string> = { rn: 'm', vv: 'w' };
/** No more lookalikes of a nick than this are listed; those of our bots have a few dozen. */
const mostLookalikes = 1_000;

/** What a nick looks like at a glance: equal for nicks that readers confuse. */
export function nickLook(nick: string): string {
  return casefold(nick)
    .replace(/[0-9i|]/g, (sign) => signs[sign]!)
    .replace(/rn|vv/g, (pair) => pairs[pair]!)
    .replace(/[^a-z]/g, '');
}

/** Whether a nick is one of these, or could be taken for one of them. */
export function looksLikeAny(nick: string, of: readonly string[]): boolean {
  const look = nickLook(nick);
  return look !== '' && of.some((one) => nickLook(one) === look);
}

/** Nicks that could be taken for a nick, and the nick itself. For servers that accept only single nicks. */
export function lookalikesOf(nick: string): string[] {
  let found = [''];
  for (const letter of casefold(nick)) {
    const shown = shownAs(letter);
    found = found.flatMap((start) => shown.map((sign) => start + sign)).slice(0, mostLookalikes);
  }
  return [...new Set([nick, ...found, `${nick}_`])].filter(isNick);
}

/** What a letter of a nick can be written as. */
function shownAs(letter: string): string[] {
  if (/[^a-z0-9|]/.test(letter)) return [letter, ...['-', '_', ''].filter((other) => other !== letter)];
  const look = signs[letter] ?? letter;
  const same = [...Object.entries(signs), ...Object.entries(pairs)].filter(([, like]) => like === look);
  return [...new Set([letter, look, ...same.map(([sign]) => sign)])];
}
