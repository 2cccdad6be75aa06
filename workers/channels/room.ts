import {
  type ChannelState,
  changedModes,
  modeFlags,
  parseModes,
  shortLine,
} from '../../streams/channels/index.js';
import { Refusal } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { historyMode, permanentMode } from '../irc/join.js';
import { textOf } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import { isAssigned, showOut, strangersIn } from './closed-rooms.js';
import type { Door } from './door.js';
import { hasSetting, type Members, type Modes, membersIn, membersOf, modesOf, topicOf } from './lookups.js';
import type { Ours } from './options.js';
import {
  type FoundRoom,
  lockingModes,
  type Refused,
  type RoomSettings,
  wantedModes,
} from './room-settings.js';
import { takeOver } from './takeover.js';
import { noteSilence, voiceBots, voiceless } from './voices.js';

/** The error of a command that the network does not carry out. */
export function refusedByNetwork({ text }: Refused, what: string): Refusal {
  return new Refusal('refused_by_network', `${what}: ${text}`);
}

/** Enters a channel, even if it is closed. Answers who is in it, or why that is impossible. */
export async function enter(session: Session, name: string): Promise<Members | Refused> {
  if (session.isIn(name)) return await membersOf(session, name);
  const { lines, error } = await session.ask('SAJOIN', session.nick, name);
  const members = membersIn(session, lines).get(casefold(name));
  if (session.isIn(name)) return members ?? (await membersOf(session, name));
  return error ?? { code: 'NOTICE', text: lines[0] ? textOf(lines[0]) : 'The server did not answer' };
}

/** Whether entering failed. */
export const isRefused = (entered: Members | Refused): entered is Refused => !(entered instanceof Map);

/** What was different in a channel that is as it should be now, unless the network refused it. */
export interface AppliedSettings {
  changed: string[];
  /** Nicks that the channel names, and that had to leave it: they must be brought back. */
  out: string[];
  members: Members;
  refused: Refused | undefined;
}

/**
 * Brings settings and topic of a channel to the wanted state, with at most one line for each. First ends what others
 * have made of it. Answers what was different.
 *
 * Our bots get voice before the channel becomes +m. Channels outlive their last member and keep their last
 * lines, if the server supports it. When the open room of a task must be closed, everybody is removed that it
 * does not name. What was said while they were there is not shown to those who come.
 */
export async function applySettings(
  session: Session,
  wanted: RoomSettings,
  before: FoundRoom,
  ours: Ours,
): Promise<AppliedSettings> {
  const { found, changed, out, refused: isLost } = await takeOver(session, wanted, before, ours);
  const { members } = found;
  if (isLost) return { changed, out, members, refused: isLost };
  const line = modeLine(session, wanted, found, ours.bots);
  let refused: Refused | undefined;
  if (line.length > 0) {
    const { error } = await session.ask('SAMODE', wanted.name, ...line);
    if (error) refused = error;
    else changed.push(`modes ${line.join(' ')}`);
  }
  if (!refused && isToClose(wanted, found)) {
    const gone = await showOut(session, wanted, ours);
    if (gone.length > 0) changed.push(`removed ${gone.join(' ')}`);
  }
  if (wanted.topic !== found.topic) {
    await session.ask('SATOPIC', wanted.name, wanted.topic);
    changed.push('topic');
  }
  return { changed, out, members, refused };
}

/**
 * Whether more people can come in or know of a channel than before: what was said until then is not for them.
 */
const isOpened = (before: Modes, after: Modes): boolean =>
  [...'spik'].some((flag) => before.has(flag) && !after.has(flag));

/** Whether the room of an assigned task is, or was until now, open to others. */
const isToClose = (wanted: RoomSettings, { modes }: Pick<FoundRoom, 'modes'>): boolean =>
  isAssigned(wanted) && (wanted.isTaken === true || !modes.has('i'));

/** The parameters of the SAMODE that brings a channel to its wanted state; empty if it is in that state. */
function modeLine(
  session: Session,
  wanted: RoomSettings,
  found: FoundRoom,
  bots: readonly string[],
): string[] {
  const modes = wantedModes(session, wanted);
  const [, parameterAlways = ''] = session.modeNames.channelModes;
  const parameters: string[] = [];
  let off = '';
  const left: Modes = new Map(found.modes);
  // What was said is lost with the setting that keeps it. So this needs a reason: after a crash, lines in
  // doubt are looked up there.
  const isToForget =
    found.isStrange === true ||
    (isToClose(wanted, found) && strangersIn(session, wanted, found.members, bots).length > 0);
  for (const [flag, value] of found.modes) {
    // a key must be removed before another can be set
    const isToGo = flag === 'k' ? modes.get('k') !== value : !modes.has(flag) && lockingModes.includes(flag);
    if (!isToGo && !(flag === historyMode.flag && isToForget)) continue;
    left.delete(flag);
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
    if (left.has(flag) && left.get(flag) === value) continue;
    on += flag;
    if (value !== undefined) parameters.push(value);
  }
  const flags = `${off === '' ? '' : `-${off}`}${on === '' ? '' : `+${on}`}`;
  return flags === '' ? [] : [flags, ...parameters];
}

/**
 * Enters a channel, checks it and brings it to the wanted state. Answers what was different, or why that is
 * impossible.
 */
export async function prepareRoom(
  session: Session,
  wanted: RoomSettings,
  ours: Ours,
): Promise<AppliedSettings> {
  noteSilence(session, wanted.name, modeFlags(wanted.modes).has('m'));
  const wasIn = session.isIn(wanted.name);
  const members = await enter(session, wanted.name);
  if (isRefused(members)) return { changed: [], out: [], members: new Map(), refused: members };
  const [modes, topic] = await Promise.all([modesOf(session, wanted.name), topicOf(session, wanted.name)]);
  const isFresh = !wasIn && members.size === 1 && !modes.has(permanentMode);
  return await applySettings(session, wanted, { modes, topic, members, isFresh }, ours);
}

/** Empties a channel and gives it up: everybody is parted, we last, and nothing keeps it open. */
export async function closeRoom(session: Session, name: string, why: string): Promise<void> {
  const reason = shortLine(why);
  noteSilence(session, name, false);
  if (isRefused(await enter(session, name))) return;
  // closed first: those who are parted must not come back before it is gone
  await session.ask('SAMODE', name, '+i');
  const members = await membersOf(session, name);
  const others = [...members.values()].filter(({ nick }) => casefold(nick) !== casefold(session.nick));
  await Promise.all(others.map(({ nick }) => session.ask('SAPART', nick, name, reason)));
  // given up last: what a crash leaves is known by it as ours, and removed later
  if (hasSetting(session, permanentMode)) await session.ask('SAMODE', name, `-${permanentMode}`);
  await session.ask('PART', name, reason);
}

/** The wanted state of a managed channel. */
export type Room = Pick<ChannelState, 'type' | 'modes' | 'topic' | 'invited' | 'operators'> & {
  name: string;
};

/**
 * Makes a channel on the network and brings in the invited nicks that may come in. Answers who came, or why
 * there can be no such channel.
 */
export async function openRoom(
  session: Session,
  room: Room,
  ours: Ours,
  door: Door,
): Promise<{ invited: string[]; refused: Refused | undefined }> {
  const { name, modes } = room;
  const invited = await door.admitted(session, name, modes, room.invited);
  const { refused } = await prepareRoom(session, { ...room, invited, isTaken: true, isNew: true }, ours);
  if (refused || invited.length === 0) return { invited: [], refused };
  await Promise.all(invited.map((nick) => session.ask('SAJOIN', nick, name)));
  const members = await membersOf(session, name);
  await voiceBots(session, room, members, ours.bots);
  return { invited: invited.filter((nick) => members.has(casefold(nick))), refused };
}

/**
 * Brings a channel to its wanted state, and our invited bots back into it. Answers what was different, and who must
 * be brought back.
 */
export async function repairRoom(
  session: Session,
  room: Room & Pick<RoomSettings, 'isRuled'>,
  ours: Ours,
): Promise<{ changed: string[]; out: string[] }> {
  const { name, invited } = room;
  const { changed, members, out } = await prepareRoom(session, room, ours);
  const bots = new Set(ours.bots.map(casefold));
  const gone = invited.filter((nick) => bots.has(casefold(nick)) && !members.has(casefold(nick)));
  if (gone.length === 0) return { changed, out };
  await Promise.all(gone.map((nick) => session.ask('SAJOIN', nick, name)));
  await voiceBots(session, room, await membersOf(session, name), ours.bots);
  return { changed: [...changed, ...gone.map((nick) => `${nick} brought back`)], out };
}

/**
 * Sets the requested modes; our bots keep their voice. Answers why that is impossible, if so. What was said
 * while a channel was closed is not shown to those who come when it is open.
 */
export async function changeModes(
  session: Session,
  { name, modes }: Pick<Room, 'name' | 'modes'>,
  change: string,
  bots: readonly string[],
): Promise<Refused | undefined> {
  if (modeFlags(change).has('m')) {
    noteSilence(session, name, true);
    await voiceBots(session, { name, modes: change }, await membersOf(session, name), bots);
  }
  const line = withKey(change, modes);
  if (line[0] === '') return undefined;
  const { flag, value } = historyMode;
  if (hasSetting(session, flag) && isOpened(modeFlags(modes), modeFlags(changedModes(modes, change)))) {
    const isTheirs = parseModes(change)?.some((one) => one.flag === flag);
    line[0] = `-${flag}${line[0]}${isTheirs ? '' : `+${flag}`}`;
    if (!isTheirs) line.push(value);
  }
  const { error } = await session.ask('SAMODE', name, ...line);
  return error ?? undefined;
}

/**
 * The parameters of a mode change. To remove a key, servers want the key itself. It must be removed before
 * another is set.
 */
function withKey(change: string, modes: string): string[] {
  const key = modeFlags(modes).get('k');
  let flags = '';
  const parameters: string[] = [];
  for (const { sign, flag, parameter } of parseModes(change) ?? []) {
    if (flag === 'k' && key !== undefined) {
      flags += '-k';
      parameters.push(key);
    }
    if (flag === 'k' && sign === '-') continue;
    flags += `${sign}${flag}`;
    if (parameter !== undefined) parameters.push(parameter);
  }
  return [flags, ...parameters];
}
