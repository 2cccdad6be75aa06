import { clock, pause } from '../../streams/core/clock.js';
import type { Link } from './link.js';

/** For who can end the session that has the nick, and for who can only wait for it. */
const pauseMs = { able: 500, plain: 5_000 };
/** Servers answer so to a nick that they keep back. */
const erroneousNick = '432';

/**
 * Ends the session that has a nick, if it is an older one of ours; for those that are no operators. False when it is
 * somebody else's, who is not waited for. Rejects when nobody can tell.
 */
export type Free = (nick: string) => Promise<boolean>;

/** How a nick became ours: by asking for it, or by ending the session that had it. */
export type Claimed = 'taken' | 'freed';

/**
 * Makes the wanted nick ours when another session holds it, or the server keeps it back. As operator that session is
 * killed: should it be an older connection of ours that is half open, nothing it still holds can be shown after this.
 * Resolves `undefined` when the nick could not be had in `waitMs`, or is somebody else's as `free` says; rejects when the
 * link ends before.
 */
export async function claimNick(
  link: Link,
  nick: string,
  waitMs: number,
  free?: Free,
): Promise<Claimed | undefined> {
  const until = clock.elapsed() + waitMs;
  const { self } = link;
  for (;;) {
    const claimed = await tryNick(link, nick, free);
    if (claimed === 'foreign') return undefined;
    if (claimed) return claimed;
    if (clock.elapsed() >= until) return undefined;
    await pause(self.oper || free ? pauseMs.able : pauseMs.plain, link.lost);
    link.lost.throwIfAborted();
  }
}

async function tryNick(
  link: Link,
  nick: string,
  free: Free | undefined,
): Promise<Claimed | 'foreign' | undefined> {
  if (await changeNick(link, nick)) return 'taken';
  if (!link.self.oper) {
    const freed = await free?.(nick).catch(() => undefined);
    if (freed !== undefined && (await changeNick(link, nick))) return freed ? 'freed' : 'taken';
    return freed === false ? 'foreign' : undefined;
  }
  const killed = await link.command('KILL', nick, 'Superseded by a newer session');
  if (!(await changeNick(link, nick))) return undefined;
  return killed.is === 'answered' && killed.error === null ? 'freed' : 'taken';
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
