import { type ChannelType, modeFlags } from '../../streams/channels/index.js';
import { roomTypeOf } from '../../streams/events/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { Session } from '../irc/session.js';
import { emptyLists } from './bans.js';
import { type Members, membersOf } from './lookups.js';
import type { Ours } from './options.js';

/** What somebody is told who has to leave such a room. */
export const reason =
  'This is the room of a task that is assigned now: only people that the task names may be in it';

/**
 * Whether a room belongs to an assigned task. Such a room holds only our bots and the nicks that the task
 * names. Nobody else is shown that it exists or who is in it.
 */
export function isAssigned({
  name,
  type,
  modes,
}: {
  name: string;
  type: ChannelType;
  modes: string;
}): boolean {
  return (type === 'task' || roomTypeOf(name) === 'task') && modeFlags(modes).has('i');
}

/** Nicks in a room that the room does not name, without our bots. */
export function strangersIn(
  session: Session,
  { invited }: { invited: readonly string[] },
  members: Members,
  bots: readonly string[],
): string[] {
  const named = new Set([session.nick, ...bots, ...invited].map(casefold));
  return [...members].flatMap(([key, { nick }]) => (named.has(key) ? [] : [nick]));
}

/**
 * Removes everybody from a newly closed room that the room does not name. Also takes back what would let them
 * in again. Answers who was removed.
 */
export async function showOut(
  session: Session,
  room: { name: string; invited: readonly string[] },
  ours: Ours,
): Promise<string[]> {
  const { name } = room;
  const strangers = strangersIn(session, room, await membersOf(session, name), ours.bots);
  if (strangers.length === 0) return [];
  await emptyLists(session, name, ours);
  await Promise.all(strangers.map((nick) => removeMember(session, name, nick, reason)));
  return strangers;
}

/** Removes somebody from a room, with a reason that they are shown. */
export async function removeMember(session: Session, name: string, nick: string, why: string): Promise<void> {
  const { error } = await session.ask('SAKICK', name, nick, why);
  if (error) await session.ask('SAPART', nick, name, why);
}
