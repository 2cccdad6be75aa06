import { setTimeout as delay } from 'node:timers/promises';
import type { Link } from './link.js';

const pauseMs = { oper: 500, plain: 5_000 };

/**
 * Makes the wanted nick ours when another session holds it. As operator that session is killed: should it be
 * an older connection of ours that is half open, nothing it still holds can be shown after this.
 * Resolves false when the nick could not be had in `waitMs`; rejects when the link ends before.
 */
export async function claimNick(link: Link, nick: string, waitMs: number): Promise<boolean> {
  const until = performance.now() + waitMs;
  const { self } = link;
  while (!(await tryNick(link, nick))) {
    if (performance.now() >= until) return false;
    await delay(self.oper ? pauseMs.oper : pauseMs.plain, undefined, { signal: link.lost });
  }
  return true;
}

async function tryNick(link: Link, nick: string): Promise<boolean> {
  if (await changeNick(link, nick)) return true;
  if (!link.self.oper) return false;
  await link.command('KILL', nick, 'Superseded by a newer session');
  return changeNick(link, nick);
}

async function changeNick(link: Link, nick: string): Promise<boolean> {
  if (link.self.nick === nick) return true;
  const answer = await link.command('NICK', nick);
  link.lost.throwIfAborted();
  if (answer.is !== 'answered' || answer.error) return false;
  // InspIRCd puts the new nick before a labelled NICK, so the line itself does not tell that it is about us.
  link.self.nick = nick;
  return true;
}
