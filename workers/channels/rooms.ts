import { type ChannelState, modeFlags, parseModes } from '../../streams/channels/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { Session } from '../irc/session.js';
import { makeSo, type Refused, voiceBots } from './furnish.js';
import { ask, membersOf } from './hands.js';

/** A managed channel as it is to be. */
export type Room = Pick<ChannelState, 'modes' | 'topic' | 'invited'> & { name: string };

/** Makes a channel on the network and brings in who was invited; who came, or why there can be no such channel. */
export async function openRoom(
  session: Session,
  room: Room,
  bots: readonly string[],
): Promise<{ invited: string[]; refused: Refused | undefined }> {
  const { name, invited } = room;
  const { refused } = await makeSo(session, room, bots);
  if (refused || invited.length === 0) return { invited: [], refused };
  await Promise.all(invited.map((nick) => ask(session, 'SAJOIN', nick, name)));
  const members = await membersOf(session, name);
  await voiceBots(session, room, members, bots);
  return { invited: invited.filter((nick) => members.has(casefold(nick))), refused };
}

/** Brings a channel to what it is to be, and our bots back that were invited; what was different. */
export async function mendRoom(session: Session, room: Room, bots: readonly string[]): Promise<string[]> {
  const { name, invited } = room;
  const { changed, members } = await makeSo(session, room, bots);
  const ours = new Set(bots.map(casefold));
  const gone = invited.filter((nick) => ours.has(casefold(nick)) && !members.has(casefold(nick)));
  if (gone.length === 0) return changed;
  await Promise.all(gone.map((nick) => ask(session, 'SAJOIN', nick, name)));
  await voiceBots(session, room, await membersOf(session, name), bots);
  return [...changed, ...gone.map((nick) => `${nick} brought back`)];
}

/** Sets modes as they were asked for, our bots keeping their voice; why that cannot be, if so. */
export async function changeModes(
  session: Session,
  { name, modes }: Pick<Room, 'name' | 'modes'>,
  change: string,
  bots: readonly string[],
): Promise<Refused | undefined> {
  if (modeFlags(change).has('m'))
    await voiceBots(session, { name, modes: change }, await membersOf(session, name), bots);
  const { error } = await ask(session, 'SAMODE', name, ...withKey(change, modes));
  return error ?? undefined;
}

/** The parameters of a mode change. Servers want the key of a channel when it is taken away, and before there is another. */
function withKey(change: string, modes: string): string[] {
  const key = modeFlags(modes).get('k');
  let flags = '';
  const parameters: string[] = [];
  for (const { sign, flag, parameter } of parseModes(change) ?? []) {
    if (flag === 'k' && key !== undefined) {
      flags += '-k';
      parameters.push(key);
      if (sign === '-') continue;
    }
    flags += `${sign}${flag}`;
    if (parameter !== undefined) parameters.push(parameter);
  }
  return [flags, ...parameters];
}
