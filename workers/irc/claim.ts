import { setTimeout as delay } from 'node:timers/promises';
import type { Link } from './link.js';

const pauseMs = { oper: 500, plain: 5_000 };

/**
 * Makes the wanted nick ours when another session holds it. As operator that session is killed first: should
 * it be an older connection of ours that is half open, nothing it still holds can be shown after this.
 * Resolves false when the nick could not be had in `waitMs`; rejects when the link ends before.
 */
export async function claimNick(link: Link, nick: string, waitMs: number): Promise<boolean> {
  const until = performance.now() + waitMs;
  const { self } = link;
  for (;;) {
    if (self.nick === nick) return true;
    if (self.oper) await link.command('KILL', nick, 'Superseded by a newer session');
    await link.command('NICK', nick);
    link.lost.throwIfAborted();
    // The link sees to it that a NICK answer has reached `self` before the answer is given.
    if (link.self.nick === nick) return true;
    if (performance.now() >= until) return false;
    await delay(self.oper ? pauseMs.oper : pauseMs.plain, undefined, { signal: link.lost });
  }
}
