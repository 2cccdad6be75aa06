import type { Logger } from 'pino';
import { clock } from '../../../streams/core/clock.js';
import { decodeFact, type Log } from '../../../streams/core/index.js';
import { closedAt, irc, lineId, type Sighting } from '../../../streams/network/index.js';
import { LiveFeed } from '../core/live-feed.js';

/** Something that was seen in a channel, with the id of its place in the log. */
export interface LiveSighting {
  id: string;
  channel: string;
  sighting: Sighting;
  /** Whether the channel was closed to the public then; false if an older record does not tell. */
  isPrivate: boolean;
  /** Whether it happened after the viewer came. Otherwise it was missed since the given id. */
  live: boolean;
  /** When this process read it, on the clock that only goes forward. */
  readAt: number;
}

/** What happens in channels, as it reaches the log. The subjects are those of channels. */
export function ircFeed(log: Log, logger: Logger): LiveFeed<LiveSighting> {
  return new LiveFeed({
    log,
    logger,
    stream: irc,
    itemsOf: (entry, live) => {
      const fact = decodeFact(irc, entry.data, entry);
      const { channel, seen } = fact.data;
      const closed = closedAt(fact, false);
      const readAt = clock.elapsed();
      return seen.map((sighting, index) => {
        const isPrivate = closed[index]!;
        return { id: lineId(entry.seq, index), channel, sighting, live, isPrivate, readAt };
      });
    },
  });
}
