/** A line of somebody, as far as its pace tells whether a person typed it. */
export interface PacedLine {
  /** Milliseconds since 1970. */
  at: number;
  text: string;
  /** The network says that the speaker is marked as a program. */
  bot?: true | undefined;
}

/**
 * How long a person takes to read a line and type an answer. Speakers marked as programs are compared with
 * people in a hurry. Others are compared with what no person can do. So a doubtful case counts as a person.
 */
const marked = { firstMs: 1_000, perCharacterMs: 60, longestMs: 15_000 };
const unmarked = { firstMs: 300, perCharacterMs: 33, longestMs: 3_000 };
/** A shorter line is typed in no time: it says nothing about an unmarked speaker. */
const fewestCharacters = 12;
/** A person takes at least this long to send their last line again. */
const recallMs = 300;
/** Channel histories have whole seconds: a reader may take the end of a second for its beginning. */
const coarseMs = 1_000;

/** `bob: ` before what is said. */
const address = /^\s*[^\s:,]{1,30}[:,]\s+/;

/**
 * Whether a line came sooner after the one before it than a person could have read that one and typed this
 * one.
 */
export function isQuick(line: PacedLine, before: PacedLine, own: PacedLine | undefined): boolean {
  const afterMs = Math.max(0, line.at - before.at) + (line.at % coarseMs === 0 ? coarseMs : 0);
  const characters = line.text.replace(address, '').length;
  const { firstMs, perCharacterMs, longestMs } = line.bot ? marked : unmarked;
  if (afterMs > Math.min(longestMs, firstMs + characters * perCharacterMs)) return false;
  if (line.bot) return true;
  return characters >= fewestCharacters && (line.text !== own?.text || afterMs <= recallMs);
}

/**
 * Whether lines follow one another in steady, short intervals, as those of programs that answer each other
 * do.
 */
export function isSteady(lines: readonly PacedLine[]): boolean {
  const gaps = lines.slice(1).map(({ at }, index) => at - lines[index]!.at);
  const longest = Math.max(...gaps);
  return longest <= steadyMs && longest <= 3 * Math.min(...gaps) + slackMs;
}

const steadyMs = 3_000;
const slackMs = 300;
