import { casefold } from '../irc-grammar.js';

/** Somebody who has the floor, or waits for it. */
export interface Speaker {
  /** As it is written. */
  nick: string;
  /** Who is held responsible, whatever nick they take. */
  person: string;
}

/** Who has the floor of a channel; times in milliseconds since 1970. */
export interface Holder extends Speaker {
  since: number;
  /** When they said something last, at first when they got it. */
  heard: number;
}

/** The floor of one channel, as far as lines tell. */
export interface FloorState {
  holder: Holder | null;
  queue: Speaker[];
  /** Who has opened it, and may close it and pass it on; and when they last asked something of it. */
  opener: { nick: string; used: number } | null;
  /** Operators of the channel (casefolded): they may close it and pass it on too. */
  operators: string[];
  /** It was asked for while the channel was closed to the public. */
  private: boolean;
}

/** What was seen in a channel, as far as a floor depends on it. */
export type FloorSighting =
  | {
      is: 'message' | 'action' | 'notice';
      at: number;
      nick: string;
      text: string;
      private?: true | undefined;
    }
  | { is: 'join' | 'part' | 'quit'; at: number; nick: string }
  | { is: 'kick'; at: number; kicked: string }
  | { is: 'nick'; at: number; nick: string; to: string }
  | { is: 'mode'; at: number; change: string }
  | { is: 'snapshot'; at: number; members: readonly string[] }
  | { is: 'topic' | 'left' | 'gap' | 'away'; at: number };

/** What came of a line that asks something of the floor. */
export interface FloorAnswer {
  to: string;
  is:
    | 'got it'
    | 'has it'
    | 'waits'
    | 'full'
    | 'passed on'
    | 'left the queue'
    | 'no place'
    | 'opened'
    | 'closed'
    | 'not theirs'
    | 'status'
    | 'unknown';
}

/** Who waits at most: of all, and of one person with who has it. */
export const mostWaiting = { ofAll: 20, ofPerson: 3 } as const;
/** A floor lapses when its holder is silent for so long, and after so long in any case, in milliseconds. */
export const turnMs = { silence: 2 * 60_000, most: 10 * 60_000 } as const;
/** Who opened it has no rights any more when they asked nothing of it for so long, in milliseconds. */
const openMs = 30 * 60_000;

/** The floor of a channel where nobody has asked for it. */
export const freeFloor = (): FloorState => ({
  holder: null,
  queue: [],
  opener: null,
  operators: [],
  private: false,
});

/** When the floor of its holder lapses, if they say nothing more. */
export const lapsesAt = ({ since, heard }: Holder): number =>
  Math.min(heard + turnMs.silence, since + turnMs.most);

/** A floor as it was read. */
type KnownFloor = Omit<FloorState, 'queue' | 'operators'> & {
  readonly queue: readonly Speaker[];
  readonly operators: readonly string[];
};

/** The floor at a time, if nothing more was seen. */
export function floorAt(state: KnownFloor, at: number): FloorState {
  const copy = { ...state, queue: [...state.queue], operators: [...state.operators] };
  advance(copy, at);
  return copy;
}

/** The command in a line for the floor, in lower case: `''` asks for it. `undefined` without one. After `open` a question may follow. */
export function floorCommandIn(text: string): string | undefined {
  return /^[/!]floor(?:$|\s+(open(?=\s)|.{0,40}))/i
    .exec(text.trim())
    ?.slice(1)
    .map((word = '') => word.trim().toLowerCase())[0];
}

/**
 * Changes the floor of a channel by what was seen there, in the order of the channel. Uses nothing else, so the same record
 * gives the same floor. `person` is who is held responsible for a line.
 */
export function seeFloor(state: FloorState, seen: FloorSighting, person = ''): FloorAnswer | undefined {
  advance(state, seen.at);
  switch (seen.is) {
    case 'message':
    case 'action':
    case 'notice':
      return said(state, seen, person);
    case 'part':
    case 'quit':
      gone(state, seen.nick, seen.at);
      return undefined;
    case 'kick':
      gone(state, seen.kicked, seen.at);
      return undefined;
    case 'nick':
      renamed(state, seen.nick, seen.to);
      return undefined;
    case 'mode':
      state.operators = operatorsAfter(state.operators, seen.change);
      return undefined;
    case 'snapshot':
      counted(state, seen.members, seen.at);
      return undefined;
    default:
      return undefined;
  }
}

function said(
  state: FloorState,
  { is, at, nick, text, private: isPrivate }: FloorSighting & { is: 'message' | 'action' | 'notice' },
  person: string,
): FloorAnswer | undefined {
  const { holder } = state;
  if (holder && isSame(holder, nick)) holder.heard = Math.max(holder.heard, at);
  const command = is === 'message' ? floorCommandIn(text) : undefined;
  if (command === undefined) return undefined;
  if (state.opener && isSame(state.opener, nick)) state.opener.used = at;
  state.private = isPrivate === true || (state.private && (holder !== null || state.opener !== null));
  return { to: nick, is: asked(state, command, { nick, person }, at) };
}

function asked(state: FloorState, command: string, who: Speaker, at: number): FloorAnswer['is'] {
  const { holder, queue, opener, operators } = state;
  const leads = (opener !== null && isSame(opener, who.nick)) || operators.includes(casefold(who.nick));
  switch (command) {
    case '': {
      if (holder && isSame(holder, who.nick)) return 'has it';
      if (queue.some((one) => isSame(one, who.nick))) return 'waits';
      const own = [...(holder ? [holder] : []), ...queue].filter(({ person }) => person === who.person);
      if (queue.length >= mostWaiting.ofAll || own.length >= mostWaiting.ofPerson) return 'full';
      queue.push(who);
      if (holder) return 'waits';
      next(state, at);
      return 'got it';
    }
    case 'done':
      if (holder && isSame(holder, who.nick)) {
        next(state, at);
        return 'passed on';
      }
      if (!queue.some((one) => isSame(one, who.nick))) return 'no place';
      leaveQueue(state, who.nick);
      return 'left the queue';
    case 'next':
      if (!leads) return 'not theirs';
      next(state, at);
      return 'passed on';
    case 'open':
      if (opener && !leads) return 'not theirs';
      state.opener = { nick: who.nick, used: at };
      return 'opened';
    case 'close':
      if (!leads) return 'not theirs';
      Object.assign(state, { holder: null, queue: [], opener: null });
      return 'closed';
    case 'status':
      return 'status';
    default:
      return 'unknown';
  }
}

/** Lets the floor lapse as often as it has by then: each that waits has it for the time in which they might speak. */
function advance(state: FloorState, at: number): void {
  while (state.holder && lapsesAt(state.holder) <= at) next(state, lapsesAt(state.holder));
  if (state.opener && at - state.opener.used >= openMs) state.opener = null;
}

function next(state: FloorState, at: number): void {
  const [first, ...rest] = state.queue;
  state.holder = first ? { ...first, since: at, heard: at } : null;
  state.queue = rest;
}

function leaveQueue(state: FloorState, nick: string): void {
  state.queue = state.queue.filter((one) => !isSame(one, nick));
}

function gone(state: FloorState, nick: string, at: number): void {
  leaveQueue(state, nick);
  state.operators = state.operators.filter((one) => one !== casefold(nick));
  if (state.opener && isSame(state.opener, nick)) state.opener = null;
  if (state.holder && isSame(state.holder, nick)) next(state, at);
}

function renamed(state: FloorState, from: string, to: string): void {
  for (const one of [state.holder, state.opener, ...state.queue]) if (one && isSame(one, from)) one.nick = to;
  state.operators = state.operators.map((one) => (one === casefold(from) ? casefold(to) : one));
}

/** Who is there, and with which rights: those who left while nobody looked have no place any more. */
function counted(state: FloorState, members: readonly string[], at: number): void {
  const here = new Set(members.map((member) => casefold(member.replace(prefixes, ''))));
  state.operators = members
    .filter((member) => /^[+%!]*[~&@]/.test(member))
    .map((member) => casefold(member.replace(prefixes, '')))
    .slice(0, mostOperators);
  state.queue = state.queue.filter(({ nick }) => here.has(casefold(nick)));
  if (state.opener && !here.has(casefold(state.opener.nick))) state.opener = null;
  if (state.holder && !here.has(casefold(state.holder.nick))) next(state, at);
}

/** `!` is that of operators of the network. */
const prefixes = /^[~&@%+!]+/;
const mostOperators = 100;

/** Modes with a parameter: of members and lists always, others where they are set. */
const always = /[qaohvyYbeIgwXk]/;
const whenSet = /[lLjfFHJBdE]/;

/** The operators after a change of modes such as `+ov alice bob`. */
function operatorsAfter(operators: readonly string[], change: string): string[] {
  const [letters = '', ...values] = change.split(' ');
  const after = new Set(operators);
  let adding = true;
  for (const letter of letters) {
    if (letter === '+' || letter === '-') adding = letter === '+';
    else if (always.test(letter) || (adding && whenSet.test(letter))) {
      const nick = casefold((values.shift() ?? '').replace(/^:/, ''));
      if (!/[qao]/.test(letter) || nick === '') continue;
      if (adding && after.size < mostOperators) after.add(nick);
      else if (!adding) after.delete(nick);
    }
  }
  return [...after];
}

const isSame = (one: { nick: string }, nick: string): boolean => casefold(one.nick) === casefold(nick);
