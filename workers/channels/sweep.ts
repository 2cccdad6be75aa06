import type { Logger } from 'pino';
import type { KeyedLock } from '../../streams/core/keyed-lock.js';
import type { Session } from '../irc/session.js';
import { removeForeignMasks } from './bans.js';
import type { Ours } from './options.js';

/** Channels that are looked at together. */
const atOnce = 20;

/** What lists are looked through with. */
export interface SweepOptions extends Ours {
  locks: KeyedLock;
  logger: Logger;
}

/**
 * Looks through the lists of channels for masks that came from another server, and removes these. Servers that are joined give
 * each other what is in their lists, perhaps while no session was there to see it. A server that gave some may have left since.
 */
export async function sweepLists(
  session: Session,
  names: readonly string[],
  { locks, logger, ...ours }: SweepOptions,
): Promise<void> {
  const sweep = async (name: string) => {
    const removed = session.isIn(name) ? await removeForeignMasks(session, name, ours) : 0;
    if (removed > 0) logger.info({ channel: name, removed }, 'masks of another server removed');
  };
  for (let from = 0; from < names.length && !session.lost.aborted; from += atOnce)
    await Promise.all(
      names.slice(from, from + atOnce).map((name) => locks.run(name, async () => await sweep(name))),
    );
}
