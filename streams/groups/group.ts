import { cutToBytes } from '../irc-grammar.js';

/** Everybody in a channel who says in the directory that they can do something, from a level of identity on. */
export interface Group {
  ability: string;
  /** 0: anybody. */
  level: number;
}

/** Groups of one line that count; further ones are words like others. */
const mostGroups = 3;
/** Groups are looked for in so many characters of a line. */
const mostRead = 400;
/** Nicks that one line of the bot has at most, and bytes of that line. */
export const mostNamed = 20;
const mostBytes = 380;

/** Not in the middle of a word: `a@b` is an address. */
const mark = /(?<![^\s(,;:"'])@([a-z0-9][a-z0-9+._-]*)(\??)/gi;
const word = /^[a-z0-9][a-z0-9+._-]{0,31}$/;

/**
 * The groups that a line addresses: `@translate`, and `@translate+2` from level 2 on. `asks`: one of them has a question
 * mark after it, so its speaker wants to know if nobody is meant.
 */
export function groupsIn(text: string): { groups: Group[]; asks: boolean } {
  const read = text.slice(0, mostRead);
  const groups: Group[] = [];
  let asks = false;
  for (const { 0: whole, 1: said = '', 2: question, index } of read.matchAll(mark)) {
    if (groups.length === mostGroups) break;
    // a longer word in another script, a nick, or an address such as @a@b
    if (/[\p{L}\p{N}@[\]{}|^`\\]/u.test(read[index + whole.length] ?? '')) continue;
    const [, ability = '', level = '0'] = /^(.*?)(?:\+([0-3]))?$/.exec(
      said.toLowerCase().replace(/\.+$/, ''),
    )!;
    if (!word.test(ability)) continue;
    asks ||= question === '?';
    const group = { ability, level: Number(level) };
    if (!groups.some((one) => nameOf(one) === nameOf(group))) groups.push(group);
  }
  return { groups, asks };
}

/** How a group is written. */
export function nameOf({ ability, level }: Group): string {
  return level === 0 ? `@${ability}` : `@${ability}+${level}`;
}

/** The line of a bot that names those who are meant; as many of them as fit. */
export function addressLine(groups: readonly Group[], nicks: readonly string[]): string {
  const head = `${groups.map(nameOf).join(' ')}: `;
  const named: string[] = [];
  let bytes = Buffer.byteLength(head) + moreBytes;
  for (const nick of nicks.slice(0, mostNamed)) {
    bytes += Buffer.byteLength(nick) + 2;
    if (bytes > mostBytes) break;
    named.push(nick);
  }
  const more = nicks.length - named.length;
  return cutToBytes(`${head}${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`, mostBytes);
}

const moreBytes = ', and 10000 more'.length;

/** What a line of `addressLine` says; `undefined` for any other. */
export function readAddressLine(text: string): { groups: string; nicks: string[] } | undefined {
  const [, groups, nicks = ''] = /^(@\S+(?: @\S+){0,2}): (\S.*?)(?:, and \d+ more)?$/.exec(text) ?? [];
  return groups === undefined ? undefined : { groups, nicks: nicks.split(', ') };
}
