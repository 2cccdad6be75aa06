import { casefold, cleanText, cutToBytes, isChannel } from '../../streams/irc-grammar.js';

/** Of the rules of a channel, or of all others, so many lines are shown, and so many bytes of each. */
const mostLines = 6;
const lineBytes = 380;

/** What who joins is told: in every channel, and in those that have a text of their own (by casefolded name). */
export interface Rules {
  general: string[];
  own: ReadonlyMap<string, string[]>;
}

/** Reads rules: a line of text each; after `[#channel]` those of that channel alone, which may be none. */
export function parseRules(text: string): Rules {
  const general: string[] = [];
  const own = new Map<string, string[]>();
  let lines = general;
  for (const raw of text.split('\n')) {
    const line = cutToBytes(cleanText(raw), lineBytes);
    const channel = /^\[(#.*)\]$/.exec(line)?.[1];
    if (channel !== undefined && isChannel(channel)) {
      lines = own.get(casefold(channel)) ?? [];
      own.set(casefold(channel), lines);
    } else if (line !== '' && lines.length < mostLines) lines.push(line);
  }
  return { general, own };
}
