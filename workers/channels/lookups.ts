import { parseModes } from '../../streams/channels/index.js';
import { Refusal } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { memberOf } from '../irc/join-answers.js';
import { grouped, type IrcLine, textOf } from '../irc/line.js';
import type { Session } from '../irc/session.js';

/** Somebody in a channel, and what they may do there. */
export interface Member {
  nick: string;
  op: boolean;
  /** Whether they have more than a voice, however little: the prefix of half an operator counts. */
  rules: boolean;
  voice: boolean;
}

/** Who is in a channel, by the casefolded nick. */
export type Members = Map<string, Member>;

/** Settings of a channel: flags with their parameters. */
export type Modes = Map<string, string | undefined>;

const maxListBytes = 400;
/** The one prefix that gives nothing but the right to speak. */
export const voiceMode = 'v';

/** Reads the members of each channel from lines of answers (353). */
export function membersIn(session: Session, lines: readonly IrcLine[]): Map<string, Members> {
  const rooms = new Map<string, Members>();
  for (const line of lines) {
    if (line.command !== '353') continue;
    const key = casefold(line.params[2] ?? '');
    const members: Members = rooms.get(key) ?? new Map();
    rooms.set(key, members);
    for (const entry of textOf(line).split(' ')) {
      const { nick, modes } = memberOf(entry, session.modeNames);
      const op = modes.some((mode) => 'qao'.includes(mode));
      const rules = modes.some((mode) => mode !== voiceMode);
      const member = { nick, op, rules, voice: modes.includes(voiceMode) };
      if (nick !== '') members.set(casefold(nick), member);
    }
  }
  return rooms;
}

/** The members of a channel now; empty if the channel does not exist. */
export async function membersOf(session: Session, channel: string): Promise<Members> {
  const { lines } = await session.ask('NAMES', channel);
  return membersIn(session, lines).get(casefold(channel)) ?? new Map();
}

/** The settings of a channel now. */
export async function modesOf(session: Session, channel: string): Promise<Modes> {
  const { lines } = await session.ask('MODE', channel);
  const shown = lines.find(({ command }) => command === '324');
  return shown ? readModes(session, shown.params.slice(2)) : new Map();
}

/** The topic of a channel now; empty when it has none. */
export async function topicOf(session: Session, channel: string): Promise<string> {
  const { lines } = await session.ask('TOPIC', channel);
  const shown = lines.find(({ command }) => command === '332');
  return shown ? textOf(shown) : '';
}

/** Settings as the server lists them: the flags in one word, then their parameters in the same order. */
export function readModes(session: Session, [flags = '', ...parameters]: readonly string[]): Modes {
  const [, always = '', whenSet = ''] = session.modeNames.channelModes;
  const modes: Modes = new Map();
  for (const flag of flags.replace('+', '')) {
    modes.set(flag, always.includes(flag) || whenSet.includes(flag) ? parameters.shift() : undefined);
  }
  return modes;
}

/** Throws a 400 if a mode string has flags that the server does not know. */
export function requireKnown(session: Session, modes: string): void {
  const flags = new Set((parseModes(modes) ?? []).map(({ flag }) => flag));
  const unknown = [...flags].filter((flag) => !hasSetting(session, flag));
  if (unknown.length === 0) return;
  const message = `modes has ${unknown.join(', ')}, which the network does not know`;
  throw new Refusal('validation_failed', message, { details: [{ path: 'modes', message }] });
}

/** Whether the server has a setting. */
export function hasSetting(session: Session, flag: string): boolean {
  return session.modeNames.channelModes.slice(1).some((flags) => flags.includes(flag));
}

/** Sets or removes what takes a parameter, in as few lines as the server allows. What it refuses stays as it is. */
export async function changeEach(
  session: Session,
  channel: string,
  sign: '+' | '-',
  changes: readonly { flag: string; parameter: string }[],
): Promise<void> {
  const lines = grouped(
    changes,
    ({ flag, parameter }) => `${flag}${parameter}`,
    maxListBytes,
    session.mostModes,
  );
  for (const line of lines) {
    const flags = line.map(({ flag }) => flag).join('');
    await session.ask('SAMODE', channel, `${sign}${flags}`, ...line.map(({ parameter }) => parameter));
  }
}

/** The nicks that are on the network now, casefolded. */
export async function online(session: Session, nicks: readonly string[]): Promise<Set<string>> {
  const answers = await Promise.all(
    inLines(nicks, ' ').map((list) => session.ask('ISON', ...list.split(' '))),
  );
  const found = answers.flatMap(({ lines }) =>
    lines.filter(({ command }) => command === '303').flatMap((line) => textOf(line).split(' ')),
  );
  return new Set(found.filter((nick) => nick !== '').map(casefold));
}

/**
 * Joins names by a separator into as few texts as possible. Each fits on a line and has at most `most` names.
 */
export function inLines(names: readonly string[], separator: string, most?: number): string[] {
  return grouped(names, (name) => name, maxListBytes, most).map((list) => list.join(separator));
}
