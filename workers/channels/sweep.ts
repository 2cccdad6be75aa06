import { networkSize } from '../irc/index.js';
import type { Session } from '../irc/session.js';
import { hasForeignMasks } from './bans.js';

/** Channels that are looked at together. */
const atOnce = 20;

/**
 * Looks through the lists of channels for masks that came from another server. Servers that are joined give each other what is in
 * their lists, perhaps while no session was there to see it. One server alone has nobody to get them from.
 */
export async function sweepLists(
  session: Session,
  names: readonly string[],
  bots: readonly string[],
  found: (name: string) => void,
): Promise<void> {
  if ((await networkSize(session))?.servers === 1) return;
  for (let from = 0; from < names.length && !session.lost.aborted; from += atOnce)
    await Promise.all(
      names.slice(from, from + atOnce).map(async (name) => {
        if (session.isIn(name) && (await hasForeignMasks(session, name, bots))) found(name);
      }),
    );
}
