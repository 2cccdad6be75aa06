import { type MemberAction, shortLine } from '../../streams/channels/index.js';
import { pause } from '../../streams/core/index.js';
import { casefold, isNick } from '../../streams/irc-grammar.js';
import { textOf } from '../irc/line.js';
import type { Session } from '../irc/session.js';
import { type Member, type Members, membersOf, online } from './lookups.js';

/** The nicks that are in the wanted state, and for each other nick the reason why not. */
export interface MembersOutcome {
  successful: string[];
  failed: Record<string, string>;
}

/** The contract's words for a nick that could not be changed without the network. */
export const operationFailed = 'IRC operation failed (not connected or not oper)';

/** The same of each nick. */
export function allFailed(nicks: readonly string[]): Record<string, string> {
  return Object.fromEntries(nicks.map((nick) => [nick, operationFailed]));
}

/** Why nothing was done to a nick, because of where it is. */
export const noSuchNick = 'No such nick';
export const notInChannel = 'Not in the channel';
export const notIdentified = 'Not identified with the nick service';
export const ofAnother = 'Somebody else has the nick';
export const muted = 'Muted in the channel';
export const banned = 'Banned from the channel';
/** A forced join of somebody on another server of the network shows a moment later. */
const lateness = { looks: 5, ms: 200 };

/** Actions that would leave a bot without a channel, or without its voice there. */
const harmful: readonly MemberAction[] = ['sapart', 'devoice', 'deop'];
export const ownBot =
  'A bot of this service, without which nothing is shown or recorded there: it stays as it is';

/** Whether a nick is in the state that an action wants. */
export const isDone: Record<MemberAction, (member: Member | undefined) => boolean> = {
  sajoin: (member) => member !== undefined,
  sapart: (member) => member === undefined,
  voice: (member) => member?.voice === true,
  devoice: (member) => member !== undefined && !member.voice,
  op: (member) => member?.op === true,
  deop: (member) => member !== undefined && !member.op,
};

const modeOf = { voice: '+v', devoice: '-v', op: '+o', deop: '-o' } as const;

/**
 * Does something to nicks in a channel, and checks the result. A nick in the wanted state is left alone.
 * `room` is how many more may be brought in. `bots` are our own, which must not be harmed.
 */
export async function changeMembers(
  session: Session,
  channel: string,
  change: { action: MemberAction; nicks: readonly string[]; reason: string },
  { room = Number.POSITIVE_INFINITY, bots }: { room?: number | undefined; bots: readonly string[] },
): Promise<MembersOutcome> {
  const { action, reason } = change;
  const nicks = [...new Set(change.nicks)];
  // nicks can be any word, including the names of inherited members of an object
  const failed = new Map<string, string>();
  const ours = new Set([session.nick, ...bots].map(casefold));
  const there = await online(session, nicks.filter(isNick));
  const before = await membersOf(session, channel);
  const wanted = nicks.filter((nick) => {
    if (harmful.includes(action) && ours.has(casefold(nick))) failed.set(nick, ownBot);
    else if (!there.has(casefold(nick))) failed.set(nick, noSuchNick);
    else if (action in modeOf && !before.has(casefold(nick))) failed.set(nick, notInChannel);
    return !failed.has(nick);
  });
  const missing = wanted.filter((nick) => !isDone[action](before.get(casefold(nick))));
  const toDo = action === 'sajoin' ? missing.slice(0, Math.max(0, room)) : missing;
  for (const nick of missing.slice(toDo.length)) failed.set(nick, 'Channel is full');
  const words = new Map(
    await Promise.all(
      toDo.map(async (nick) => [nick, await command(session, channel, action, nick, reason)] as const),
    ),
  );
  const after = await lookUntil(session, channel, toDo, isDone[action], before);
  const successful = wanted.filter((nick) => {
    if (failed.has(nick)) return false;
    const isSo = isDone[action](after.get(casefold(nick)));
    if (!isSo) failed.set(nick, words.get(nick) || 'The network did not carry it out');
    return isSo;
  });
  return { successful, failed: Object.fromEntries(failed) };
}

/** One nick's command. Answers the server's error text, if any. */
async function command(
  session: Session,
  channel: string,
  action: MemberAction,
  nick: string,
  reason: string,
): Promise<string> {
  const parts =
    action === 'sajoin'
      ? ['SAJOIN', nick, channel]
      : action === 'sapart'
        ? ['SAPART', nick, channel, shortLine(reason)]
        : ['SAMODE', channel, modeOf[action], nick];
  const { lines, error } = await session.ask(...parts);
  if (error) return error.text;
  const notice = lines.find((line) => line.command === 'NOTICE');
  return notice ? textOf(notice).replace(/^\*+ */, '') : '';
}

async function lookUntil(
  session: Session,
  channel: string,
  nicks: readonly string[],
  isDone: (member: Member | undefined) => boolean,
  before: Members,
): Promise<Members> {
  let members = before;
  for (let look = 0; nicks.length > 0 && look < lateness.looks; look++) {
    if (look > 0) await pause(lateness.ms, session.lost);
    members = await membersOf(session, channel);
    if (nicks.every((nick) => isDone(members.get(casefold(nick))))) break;
  }
  return members;
}
