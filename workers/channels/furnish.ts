import { modeFlags } from '../../streams/channels/index.js';
import { Refusal } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { historyMode, permanentMode } from '../irc/join.js';
import { textOf } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import {
  ask,
  hasSetting,
  type Members,
  type Modes,
  membersIn,
  membersOf,
  modesOf,
  topicOf,
} from './hands.js';

/** How a channel is to be. */
export interface Wanted {
  name: string;
  /** Mode string of all that was asked for. */
  modes: string;
  topic: string;
}

/** How a channel was found. */
export interface Found {
  modes: Modes;
  topic: string;
  members: Members;
}

/** A command that the server does not carry out, in its words. */
export interface Refused {
  code: string;
  text: string;
}

/** The error of a command that the network does not carry out. */
export function cannot({ text }: Refused, what: string): Refusal {
  return new Refusal('refused_by_network', `${what}: ${text}`);
}

/** Settings that lock or hide a channel: nobody but the service gives them to a managed one. */
const ours = 'imspkl';

/** Enters a channel, whatever keeps others out, and tells who is in it; or why that cannot be. */
export async function enter(session: Session, name: string): Promise<Members | Refused> {
  if (session.isIn(name)) return await membersOf(session, name);
  const { lines, error } = await ask(session, 'SAJOIN', session.nick, name);
  const members = membersIn(session, lines).get(casefold(name));
  if (session.isIn(name)) return members ?? (await membersOf(session, name));
  return error ?? { code: 'NOTICE', text: lines[0] ? textOf(lines[0]) : 'The server did not answer' };
}

/** Whether entering failed. */
export const isRefused = (entered: Members | Refused): entered is Refused => !(entered instanceof Map);

/**
 * Brings settings and topic of a channel to what is wanted, with at most one line for each, and tells what was
 * different. Our bots get a voice before nobody else has one. Channels outlive their last member and keep their
 * last lines, where the server can do that.
 */
export async function furnish(
  session: Session,
  wanted: Wanted,
  found: Found,
  bots: readonly string[],
): Promise<{ changed: string[]; refused: Refused | undefined }> {
  const changed: string[] = [];
  const line = modeLine(session, wanted, found, bots);
  let refused: Refused | undefined;
  if (line.length > 0) {
    const { error } = await ask(session, 'SAMODE', wanted.name, ...line);
    if (error) refused = error;
    else changed.push(`modes ${line.join(' ')}`);
  }
  if (wanted.topic !== found.topic) {
    await ask(session, 'SATOPIC', wanted.name, wanted.topic);
    changed.push('topic');
  }
  return { changed, refused };
}

/** The parameters of the SAMODE that makes a channel what it is to be; none when it is. */
function modeLine(session: Session, wanted: Wanted, found: Found, bots: readonly string[]): string[] {
  const modes = modeFlags(wanted.modes);
  if (hasSetting(session, permanentMode)) modes.set(permanentMode, undefined);
  if (hasSetting(session, historyMode.flag)) modes.set(historyMode.flag, historyMode.value);
  const [, parameterAlways = ''] = session.modeNames.channelModes;
  const parameters: string[] = [];
  let off = '';
  for (const [flag, value] of found.modes) {
    // a key has to go before there can be another
    const isToGo = flag === 'k' ? modes.get('k') !== value : !modes.has(flag) && ours.includes(flag);
    if (!isToGo) continue;
    off += flag;
    if (parameterAlways.includes(flag)) parameters.push(value ?? '*');
  }
  let on = '';
  if (modes.has('m')) {
    for (const bot of voiceless(found.members, bots)) {
      on += 'v';
      parameters.push(bot);
    }
  }
  for (const [flag, value] of modes) {
    if (found.modes.has(flag) && found.modes.get(flag) === value) continue;
    on += flag;
    if (value !== undefined) parameters.push(value);
  }
  const flags = `${off === '' ? '' : `-${off}`}${on === '' ? '' : `+${on}`}`;
  return flags === '' ? [] : [flags, ...parameters];
}

/** Those of our bots in a channel whom +m would silence. */
function voiceless(members: Members, bots: readonly string[]): string[] {
  return bots.flatMap((bot) => {
    const member = members.get(casefold(bot));
    return member && !member.op && !member.voice ? [member.nick] : [];
  });
}

/** Gives our bots a voice in a channel where nobody else has one. */
export async function voiceBots(
  session: Session,
  { name, modes }: Pick<Wanted, 'name' | 'modes'>,
  members: Members,
  bots: readonly string[],
): Promise<void> {
  if (!modeFlags(modes).has('m')) return;
  await Promise.all(voiceless(members, bots).map((bot) => ask(session, 'SAMODE', name, '+v', bot)));
}

/** Enters a channel, looks at it and furnishes it; what was different, or why that cannot be. */
export async function makeSo(
  session: Session,
  wanted: Wanted,
  bots: readonly string[],
): Promise<{ changed: string[]; members: Members; refused: Refused | undefined }> {
  const members = await enter(session, wanted.name);
  if (isRefused(members)) return { changed: [], members: new Map(), refused: members };
  const [modes, topic] = await Promise.all([modesOf(session, wanted.name), topicOf(session, wanted.name)]);
  return { members, ...(await furnish(session, wanted, { modes, topic, members }, bots)) };
}

/** Empties a channel and lets it go: everybody is parted, we last, and nothing keeps it open. */
export async function dissolve(session: Session, name: string, reason: string): Promise<void> {
  if (isRefused(await enter(session, name))) return;
  // closed first: whoever is parted is not to come back before it is gone
  const permanent = hasSetting(session, permanentMode) ? permanentMode : '';
  await ask(session, 'SAMODE', name, `+i${permanent && `-${permanent}`}`);
  const members = await membersOf(session, name);
  const others = [...members.values()].filter(({ nick }) => casefold(nick) !== casefold(session.nick));
  await Promise.all(others.map(({ nick }) => ask(session, 'SAPART', nick, name, reason)));
  await ask(session, 'PART', name, reason);
}
