import { clock, pause } from '../../streams/core/clock.js';
import type { Claimed, Hands } from './hands.js';
import type { IrcLine } from './line.js';
import type { Link } from './link.js';

/** Where somebody can end the session that has the nick, and where we can only wait for it. */
const pauseMs = { able: 500, plain: 5_000 };
/** What a try came to: the nick, or how long to wait for the next one, or that it is somebody else's. */
type Try = Claimed | 'foreign' | keyof typeof pauseMs;
/** InspIRCd's id of a user, and the mask of nicks as long. */
const id = /^\d[0-9A-Z]{8}$/;
const idMask = '?????????';
const superseded = 'Superseded by a newer session';
/** Servers answer so to a nick that they keep back. */
const erroneousNick = '432';

/**
 * Ends the session that has a nick, if it is an older one of ours; for those that are no operators. False when it is
 * somebody else's, who is not waited for. Rejects when nobody can tell.
 */
export type Free = (nick: string) => Promise<boolean>;

/** Who gets a nick for a connection that is no operator: one of them, or neither. */
export interface NickHelp {
  free?: Free | undefined;
  hands?: Hands | undefined;
}

/**
 * Makes the wanted nick ours when another session holds it, or the server keeps it back. As operator that session is
 * killed: should it be an older connection of ours that is half open, nothing it still holds can be shown after this.
 * Resolves `undefined` when the nick could not be had in `waitMs`, or is somebody else's as `free` says; rejects when the
 * link ends before. A bot that is no operator is helped, or waits.
 */
export async function claimNick(
  link: Link,
  nick: string,
  waitMs: number,
  help: NickHelp = {},
): Promise<Claimed | undefined> {
  const until = clock.elapsed() + waitMs;
  for (;;) {
    const tried = await tryNick(link, nick, help);
    if (tried === 'taken' || tried === 'freed') return tried;
    if (tried === 'foreign' || clock.elapsed() >= until) return undefined;
    await pause(pauseMs[tried], link.lost);
    link.lost.throwIfAborted();
  }
}

/**
 * Ends older sessions of ours that have an id for a nick: a server gave it when two parts of the network were joined that
 * both had the nick. One may be half open, and show what it still holds after our own first lines. Such a session is
 * an operator with our ident and real name. Resolves with how many were ended.
 */
export async function endRenamed(link: Link, realname: string): Promise<number> {
  if (!link.self.oper) return 0;
  const answer = await link.command('WHO', idMask, 'no');
  const older = answer.is === 'answered' ? answer.lines.flatMap((line) => olderIn(line, link, realname)) : [];
  for (const nick of older) await link.command('KILL', nick, superseded);
  return older.length;
}

function olderIn({ command, params }: IrcLine, { self, ident }: Link, realname: string): string[] {
  const [, , theirs, , , nick = ''] = params;
  const [, real] = /^\d+ (.*)$/.exec(params.at(-1) ?? '') ?? [];
  const isOlder = command === '352' && theirs === ident && real === realname && id.test(nick);
  return isOlder && !self.isMe(nick) ? [nick] : [];
}

async function tryNick(link: Link, nick: string, { free, hands }: NickHelp): Promise<Try> {
  if (await changeNick(link, nick)) return 'taken';
  if (link.self.oper) {
    const killed = await link.command('KILL', nick, superseded);
    if (!(await changeNick(link, nick))) return 'able';
    return killed.is === 'answered' && killed.error === null ? 'freed' : 'taken';
  }
  if (hands) return await beGiven(link, nick, hands);
  if (!free) return 'plain';
  const freed = await free(nick).catch(() => undefined);
  if (freed !== undefined && (await changeNick(link, nick))) return freed ? 'freed' : 'taken';
  return freed === false ? 'foreign' : 'able';
}

/** Asks the operator for a nick. */
async function beGiven(link: Link, nick: string, hands: Hands): Promise<Try> {
  const given = await hands.giveNick({ session: link.self.nick, nick }).catch(() => undefined);
  // what the server has done comes before this answer
  await link.command('PING', 'nick');
  link.lost.throwIfAborted();
  if (await changeNick(link, nick)) return given || 'taken';
  return given === false ? 'plain' : 'able';
}

async function changeNick(link: Link, nick: string): Promise<boolean> {
  if (link.self.nick === nick) return true;
  const answer = await link.command('NICK', nick);
  link.lost.throwIfAborted();
  if (answer.is !== 'answered') return false;
  if (answer.error) return answer.error.code === erroneousNick && (await forceNick(link, nick));
  // InspIRCd puts the new nick before a labelled NICK, so the line itself does not tell that it is about us.
  link.self.nick = nick;
  return true;
}

/** Takes a nick that the server keeps back, as operators may. */
async function forceNick(link: Link, nick: string): Promise<boolean> {
  if (!link.self.oper) return false;
  const answer = await link.command('SANICK', link.self.nick, nick);
  link.lost.throwIfAborted();
  const isOurs =
    answer.is === 'answered' &&
    answer.lines.some(({ command, params }) => command === 'NICK' && params[0] === nick);
  if (isOurs) link.self.nick = nick;
  return isOurs;
}
