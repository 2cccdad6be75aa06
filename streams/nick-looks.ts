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

/** Signs between and around letters, that readers look past. */
const between = ['-', '_', '|', '`', '^'];
/** Words next to the name of a bot or service that say no more than the name. */
const wordsAfter = ['bot', 'serv', 'service', 'services', 'help', 'support', 'admin', 'official', 'system'];
const wordsBefore = ['the', 'real', 'official'];

/** What a nick looks like at a glance: equal for nicks that readers confuse. */
function nickLook(nick: string): string {
  return casefold(nick)
    .replace(/[0-9i|]/g, (sign) => signs[sign]!)
    .replace(/rn|vv/g, (pair) => pairs[pair]!)
    .replace(/[^a-z]/g, '');
}

/** Whether a nick is one of these, or could be taken for one of them, also with a number or a word next to it. */
export function looksLikeAny(nick: string, of: readonly string[]): boolean {
  const looks = looksOf(nick);
  return of.some((one) => looks.has(nickLook(one)));
}

/** What a nick looks like as it is, and without what is next to the name in it. */
function looksOf(nick: string): Set<string> {
  const bare = nick.replace(/\|/g, '');
  const looks = [nick, bare].flatMap((one) => [one, one.replace(/\d{1,2}$/, '')]).map(nickLook);
  const found = new Set(looks);
  for (const look of looks) {
    for (const word of wordsAfter.map(nickLook))
      if (look.endsWith(word)) found.add(look.slice(0, -word.length));
    for (const word of wordsBefore.map(nickLook))
      if (look.startsWith(word)) found.add(look.slice(word.length));
  }
  found.delete('');
  return found;
}

/**
 * Nicks that could be taken for a nick, and the nick itself. For servers that look for single nicks; in some, `?` means
 * any sign. The spare nicks of our bots (`relay_x7k`) are none of them.
 */
export function lookalikesOf(nick: string): string[] {
  let found = [''];
  for (const letter of casefold(nick)) {
    const shown = shownAs(letter);
    found = found.flatMap((start) => shown.map((sign) => start + sign)).slice(0, mostLookalikes);
  }
  const spelled = new Set([casefold(nick), casefold(nick).replace(/[^a-z0-9]/g, '')]);
  return [...new Set([nick, ...found, ...[...spelled].flatMap(dressed)])].filter((one) =>
    isNick(one.replaceAll('?', '0')),
  );
}

/** A nick with signs between its letters or around it, or with a number or a word next to it. */
function dressed(nick: string): string[] {
  const digits = [...'0123456789'];
  const apart = [...nick].flatMap((_, at) =>
    at === 0 ? [] : between.map((sign) => nick.slice(0, at) + sign + nick.slice(at)),
  );
  const after = [...between, '__', '--'].map((sign) => nick + sign);
  const before = ['_', '__', '`', '^', '|'].map((sign) => sign + nick);
  const around = ['_', '__', '`', '^', '|'].flatMap((sign) => after.map((one) => sign + one));
  const apartAndAround = apart.flatMap((one) => [`${one}_`, `${one}-`, `_${one}`, `_${one}_`]);
  const numbered = ['', '-', '_'].flatMap((sign) =>
    digits.flatMap((digit) => [nick + sign + digit, `${nick}${sign}${digit}?`]),
  );
  const worded = ['', '-', '_', '|'].flatMap((sign) => [
    ...wordsAfter.map((word) => nick + sign + word),
    ...wordsBefore.map((word) => word + sign + nick),
  ]);
  return [
    ...apart,
    ...apartAndAround,
    ...after,
    ...before,
    ...around,
    `[${nick}]`,
    `{${nick}}`,
    ...numbered,
    ...worded,
  ];
}

/** What a letter of a nick can be written as. */
function shownAs(letter: string): string[] {
  if (/[^a-z0-9|]/.test(letter)) return [letter, ...['-', '_', ''].filter((other) => other !== letter)];
  const look = signs[letter] ?? letter;
  const same = [...Object.entries(signs), ...Object.entries(pairs)].filter(([, like]) => like === look);
  return [...new Set([letter, look, ...same.map(([sign]) => sign)])];
}
