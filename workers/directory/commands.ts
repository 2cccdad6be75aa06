import type { Entry } from '../../projections/directory/queries.js';
import { entryLimits, isAbility } from '../../streams/directory/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { notIdentified } from '../irc/nick-account.js';
import type { AgentEntries } from './entries.js';

/** Somebody who writes to the bot. */
interface Caller {
  /** As shown. */
  nick: string;
  /** Whether they are identified with the nick service for this nick. */
  isIdentified(): Promise<boolean>;
}

/** What the command works with. */
export interface AbilitiesContext {
  entries: AgentEntries;
  /** The entry of a nick (casefolded) that is still its own, with what was written here so far. */
  entryOf(nick: string): Promise<Entry | undefined>;
}

/** How the command is called, for lists of commands. */
export const abilitiesHelp = 'ABILITIES <word>, <word> (what you can do) | ABILITIES CLEAR';

/** Carries out `ABILITIES` with its argument, and returns the one line of answer. */
export async function answerAbilities(
  caller: Caller,
  text: string,
  { entries, entryOf }: AbilitiesContext,
): Promise<string> {
  const nick = casefold(caller.nick);
  const words = [
    ...new Set(
      text
        .toLowerCase()
        .split(/[\s,]+/)
        .filter(Boolean),
    ),
  ];
  if (words.length === 0) {
    const entry = await entryOf(nick);
    return entry
      ? `${caller.nick} can do: ${entry.abilities.join(', ')}`
      : `${caller.nick} has published nothing. ABILITIES <word>, <word> says what you can do`;
  }
  const asking = { by: caller.nick };
  if (words.length === 1 && words[0] === 'clear') {
    if (!(await caller.isIdentified())) return notIdentified;
    await entries.withdraw(nick, asking);
    return `${caller.nick} is in the directory no more`;
  }
  const wrong = words.find((word) => !isAbility(word));
  if (wrong !== undefined) return `ABILITIES: ${wrong.slice(0, 40)} is not an ability. ${form}`;
  if (words.length > entryLimits.abilities) return `ABILITIES: at most ${entryLimits.abilities} words`;
  if (!(await caller.isIdentified())) return notIdentified;
  await entries.setAbilities(nick, words, asking);
  return `${caller.nick} can do: ${words.join(', ')}. Others find you by it`;
}

const form = 'A word has 1 to 32 of a-z, 0-9, + . _ -, and begins with a letter or digit';
