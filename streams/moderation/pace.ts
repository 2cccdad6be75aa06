/** What somebody says, as far as its pace tells whether a person typed it. */
export interface PacedLine {
  /** Milliseconds since 1970. */
  at: number;
  text: string;
  /** The network says that who spoke is marked as a program. */
  bot?: true | undefined;
}

/**
 * How long a person takes to read a line and type an answer. Who is marked as a program is measured by people who are
 * in a hurry; who is not, by what no person can do: so whoever is in doubt is a person.
 */
const marked = { firstMs: 1_000, perCharacterMs: 60, longestMs: 15_000 };
const unmarked = { firstMs: 300, perCharacterMs: 33, longestMs: 3_000 };
/** What is shorter is typed in no time: it says nothing of somebody who is not marked. */
const fewestCharacters = 12;
/** So long takes a person at least to send their last line again. */
const recallMs = 300;
/** Channels' histories tell whole seconds; who reads them may take the end of one for its beginning. */
const coarseMs = 1_000;

/** `bob: ` before what is said. */
const address = /^\s*[^\s:,]{1,30}[:,]\s+/;

/** Whether a line came sooner after the one before it than a person could have read that and typed this. */
export function isQuick(line: PacedLine, before: PacedLine, own: PacedLine | undefined): boolean {
  const afterMs = Math.max(0, line.at - before.at) + (line.at % coarseMs === 0 ? coarseMs : 0);
  const characters = line.text.replace(address, '').length;
  const { firstMs, perCharacterMs, longestMs } = line.bot ? marked : unmarked;
  if (afterMs > Math.min(longestMs, firstMs + characters * perCharacterMs)) return false;
  if (line.bot) return true;
  return characters >= fewestCharacters && (line.text !== own?.text || afterMs <= recallMs);
}

/** Whether lines follow one another in steady, short intervals, as those of programs that answer each other do. */
export function isSteady(lines: readonly PacedLine[]): boolean {
  const gaps = lines.slice(1).map(({ at }, index) => at - lines[index]!.at);
  const longest = Math.max(...gaps);
  return longest <= steadyMs && longest <= 3 * Math.min(...gaps) + slackMs;
}

const steadyMs = 3_000;
const slackMs = 300;
