import { pause } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { permanentMode } from '../irc/join.js';
import { modeChanges } from '../irc/join-answers.js';
import type { IrcLine } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import { emptyLists } from './bans.js';
import { reason as assignedReason, isAssigned, removeMember } from './closed-rooms.js';
import { isClosed } from './door.js';
import {
  changeEach,
  hasSetting,
  type Member,
  type Members,
  membersIn,
  membersOf,
  modesOf,
  voiceMode,
} from './lookups.js';
import type { Ours } from './options.js';
import {
  type FoundRoom,
  lockingModes,
  type Refused,
  type RoomSettings,
  wantedModes,
} from './room-settings.js';

const takenReason = 'The service has taken this room over. Whoever is expected in it is brought back';
/** How often a room is emptied: whoever was let in by those who had it comes back once for each time. */
const mostRounds = 20;
/** From this round on nobody comes in at all, on a server that can close a name. */
const closedFrom = 3;
const closedFor = '10s';
/** How long our bots may take to mark a room that they have made: so many looks, so many milliseconds apart. */
const lateness = { looks: 20, ms: 100 };
/** The server sets this one itself, and nobody takes it away. */
const registeredMode = 'r';

/** What became of a room that somebody else had. */
export interface TakenOver {
  found: FoundRoom;
  changed: string[];
  /** Nicks that the room names, and that had to leave it: they must be brought back. */
  out: string[];
  refused?: Refused;
}

/**
 * Ends what others have made of a channel. Operators of a managed channel are our bots, and who was made one by the
 * service. Somebody else may be one: whoever makes a channel is its operator, and the name may be managed
 * later. Operators may have closed the channel to our bots and opened it to their friends.
 *
 * - In any channel that somebody ruled, they lose their rights, all lists are emptied but for what moderation set, and
 *   settings that are not recorded are removed.
 * - Somebody who was invited by an operator comes in whatever the settings say, and nobody is shown who that is. So a closed room
 *   that was not ours is emptied until it is gone, and made again.
 */
export async function takeOver(
  session: Session,
  wanted: RoomSettings,
  found: FoundRoom,
  ours: Ours,
): Promise<TakenOver> {
  const { bots } = ours;
  const isStrange = !found.isFresh && !isMarked(session, wanted, found);
  if (isStrange && isOursAlone(session, found.members, bots)) {
    const marked = await onceMarked(session, wanted, found);
    if (marked) return await takeOver(session, wanted, marked, ours);
  }
  const rulers = rulersIn(session, found.members, [...bots, ...(isStrange ? [] : (wanted.operators ?? []))]);
  if (!isStrange && rulers.length === 0 && !wanted.isRuled) return { found, changed: [], out: [] };
  if (isStrange && isClosed(wanted.modes)) return await makeAgain(session, wanted, found, bots);
  const { name } = wanted;
  const own = new Set([session.nick, ...bots].map(casefold));
  const voiced = isStrange
    ? [...found.members.values()].filter(({ nick, voice }) => voice && !own.has(casefold(nick)))
    : [];
  await disarm(session, name, rulers, voiced);
  const removed = await emptyLists(session, name, ours, !isStrange);
  const settings = await removeSettings(session, wanted, found);
  const changed = [
    ...rulers.map(({ nick }) => `${nick} is no operator`),
    ...(removed > 0 ? [`${removed} masks removed`] : []),
    ...(settings === '' ? [] : [`modes -${settings}`]),
  ];
  const modes = new Map([...found.modes].filter(([flag]) => !settings.includes(flag)));
  return { found: { ...found, modes, isStrange }, changed, out: [] };
}

/** Whether a line gives somebody rights in a channel that only the service gives, or a list from elsewhere. */
export function givesRights(
  session: Session,
  { command, nick, params }: IrcLine,
  bots: readonly string[],
): boolean {
  if (command !== 'MODE') return false;
  const ours = new Set([session.nick, ...bots].map(casefold));
  if (ours.has(casefold(nick))) return false;
  const { channelModes, prefixes } = session.modeNames;
  return modeChanges(session.modeNames, params.slice(1)).some(({ isSet, flag, parameter = '' }) => {
    if (!isSet) return false;
    // servers that are joined give each other what is in their lists
    if (nick === '' && channelModes[0]?.includes(flag)) return true;
    return flag !== voiceMode && prefixes.some(({ mode }) => mode === flag) && !ours.has(casefold(parameter));
  });
}

/** Rooms that the service has made outlive their last member, which only operators of the network can give to a room. */
const isMarked = (session: Session, { isNew }: RoomSettings, { modes }: FoundRoom): boolean =>
  hasSetting(session, permanentMode) ? modes.has(permanentMode) : isNew !== true;

/** Whether nobody but our bots is in a room. */
function isOursAlone(session: Session, members: Members, bots: readonly string[]): boolean {
  const ours = new Set([session.nick, ...bots].map(casefold));
  return [...members.keys()].every((key) => ours.has(key));
}

/**
 * A room with the mark of ours, if it gets it now: one of our bots may be about to set it in a room that it has
 * made. Nobody can tell such a room from one that a stranger has made and left.
 */
async function onceMarked(
  session: Session,
  wanted: RoomSettings,
  found: FoundRoom,
): Promise<FoundRoom | undefined> {
  for (let look = 0; hasSetting(session, permanentMode) && look < lateness.looks; look++) {
    const modes = await modesOf(session, wanted.name);
    if (isMarked(session, wanted, { ...found, modes })) return { ...found, modes };
    await pause(lateness.ms, session.lost);
  }
  return undefined;
}

/** Who has an operator's rights in a channel, without our bots and those who may have them. */
function rulersIn(session: Session, members: Members, may: readonly string[]): Member[] {
  const allowed = new Set([session.nick, ...may].map(casefold));
  return [...members].flatMap(([key, member]) => (member.rules && !allowed.has(key) ? [member] : []));
}

/** Takes every prefix of operators from some, since a server may show the highest one alone; and the voice from others. */
async function disarm(
  session: Session,
  name: string,
  rulers: readonly Member[],
  voiced: readonly Member[] = [],
): Promise<void> {
  const flags = session.modeNames.prefixes.map(({ mode }) => mode).filter((flag) => flag !== voiceMode);
  await changeEach(session, name, '-', [
    ...rulers.flatMap(({ nick }) => flags.map((flag) => ({ flag, parameter: nick }))),
    ...voiced.map(({ nick }) => ({ flag: voiceMode, parameter: nick })),
  ]);
}

/** Removes settings that are not recorded, but for those that are removed in any case. Answers their flags. */
async function removeSettings(session: Session, wanted: RoomSettings, { modes }: FoundRoom): Promise<string> {
  const kept = new Set([...wantedModes(session, wanted).keys(), ...lockingModes, registeredMode]);
  const flags = [...modes.keys()].filter((flag) => !kept.has(flag));
  if (flags.length === 0) return '';
  const [, always = ''] = session.modeNames.channelModes;
  const parameters = flags.filter((flag) => always.includes(flag)).map((flag) => modes.get(flag) ?? '*');
  await session.ask('SAMODE', wanted.name, `-${flags.join('')}`, ...parameters);
  return flags.join('');
}

/** Empties a room until it is gone, and makes it again, closed from its first moment, with our bots in it. */
async function makeAgain(
  session: Session,
  wanted: RoomSettings,
  found: FoundRoom,
  bots: readonly string[],
): Promise<TakenOver> {
  const { name, invited } = wanted;
  const reason = isAssigned(wanted) ? assignedReason : takenReason;
  const ours = new Set(bots.map(casefold));
  const named = new Set(invited.map(casefold));
  const removed = new Map<string, string>();
  const permanent = hasSetting(session, permanentMode) ? `-${permanentMode}` : '';
  for (let round = 0; round < mostRounds; round++) {
    // who has to leave does not come back by themselves, and the room does not outlive them
    await session.ask('SAMODE', name, `+i${permanent}`);
    const isNameClosed = round >= closedFrom;
    if (isNameClosed) await session.ask('CBAN', name, closedFor, reason);
    const others = [...(await membersOf(session, name))].filter(([key]) => key !== casefold(session.nick));
    for (const [key, { nick }] of others) removed.set(key, nick);
    await Promise.all(
      others.map(([key, { nick }]) =>
        ours.has(key) ? session.ask('SAPART', nick, name, reason) : removeMember(session, name, nick, reason),
      ),
    );
    // in one go: nobody comes in between
    const left = session.ask('PART', name, reason);
    const opened = isNameClosed ? session.ask('CBAN', name) : undefined;
    const entered = session.ask('SAJOIN', session.nick, name);
    const closed = session.ask('SAMODE', name, '+i');
    const [{ lines }] = await Promise.all([entered, left, opened, closed]);
    const present = membersIn(session, lines).get(casefold(name)) ?? (await membersOf(session, name));
    const modes = await modesOf(session, name);
    // where somebody is, or what is marked, was not gone
    if (present.size !== 1 || modes.has(permanentMode)) continue;
    const back = [...removed].filter(([key]) => ours.has(key)).map(([, nick]) => nick);
    await Promise.all(back.map((nick) => session.ask('SAJOIN', nick, name)));
    const members = await membersOf(session, name);
    const gone = [...removed].filter(([key]) => !ours.has(key));
    const out = gone.filter(([key]) => named.has(key)).map(([, nick]) => nick);
    const changed = [`made again without ${gone.map(([, nick]) => nick).join(' ')}`];
    return { found: { modes, topic: '', members, isFresh: true }, changed, out };
  }
  const refused = { code: 'NOTICE', text: 'Somebody else has the room, and it cannot be emptied' };
  return { found, changed: [], out: [], refused };
}
