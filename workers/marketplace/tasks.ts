import { inDollars } from '../../streams/events/index.js';
import { cleanText, cutToCharacters } from '../../streams/irc-grammar.js';

/** A task as the marketplace describes it; fields that it leaves out are `undefined`. */
export interface Task {
  /** Whole, as the marketplace has it. */
  id: string;
  title: string | undefined;
  status: string | undefined;
  /** US dollars. */
  bounty: number | undefined;
  category: string | undefined;
  place: string | undefined;
  deadline: string | undefined;
}

/** A claimant of a task: a nick whose owner is identified, and the wallet that is linked to it. */
export interface Claimant {
  nick: string;
  wallet: string;
}

/** The marketplace, as far as agents reach it from IRC. Every method throws `Refusal` or `Unavailable`. */
export interface TaskMarket {
  /** Tasks that can be taken now. */
  open(): Promise<Task[]>;
  /** One task; `undefined` if it does not exist. */
  task(id: string): Promise<Task | undefined>;
  /** Applies for a task. This is done at most once, and recorded. */
  claim(id: string, claimant: Claimant): Promise<void>;
}

/** Checks free text before it is shown. Answers what to show instead. */
type Screen = (text: string) => string;

const titleCharacters = 120;
const wordCharacters = 40;
/** Characters of an id in the lines of the channels. */
const shortIdCharacters = 8;

/** Reads a task from what the marketplace sent; `undefined` without an id. */
export function readTask(sent: unknown): Task | undefined {
  const { id, title, status, bounty_usd, bounty_usdc, category, location_hint, location, deadline } =
    typeof sent === 'object' && sent !== null ? (sent as Record<string, unknown>) : {};
  if (typeof id !== 'string' || id === '') return undefined;
  return {
    id,
    title: textIn(title),
    status: textIn(status),
    bounty: [bounty_usd, bounty_usdc].find((value) => typeof value === 'number' && Number.isFinite(value)) as
      | number
      | undefined,
    category: textIn(category),
    place: textIn(location_hint) ?? textIn(location),
    deadline: textIn(deadline),
  };
}

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined;

/** The id of a task as lines show it. */
export const shownId = (id: string): string => cleanText(cutToCharacters(id, shortIdCharacters));

/** A task in one line: `a1b2c3d4 | Title | published | $5 | Lisbon`. Unknown fields are left out. */
export function taskLine(task: Task, screen: Screen): string {
  const shown = (text: string | undefined, most: number) =>
    text === undefined ? undefined : screen(cutToCharacters(cleanText(text), most)) || undefined;
  const deadline = shown(task.deadline, wordCharacters);
  return [
    shownId(task.id),
    shown(task.title, titleCharacters),
    shown(task.status, wordCharacters),
    task.bounty === undefined ? undefined : inDollars(task.bounty),
    shown(task.category, wordCharacters),
    shown(task.place, wordCharacters),
    deadline && `until ${deadline}`,
  ]
    .filter((part) => part !== undefined)
    .join(' | ');
}
