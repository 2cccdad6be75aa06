import type { Logger } from 'pino';
import type { Sql } from '../../projections/core/sql.js';
import type { Log, Position } from '../../streams/core/index.js';
import type { Thresholds } from '../../streams/moderation/index.js';

/** Runs a query on the moderation's read model; `after` waits, within bounds, until it has folded that position. */
export type ReadModeration = <T>(
  query: (sql: Sql, schema: string) => Promise<T>,
  after?: Position,
) => Promise<T>;

/** What is to be done about somebody in a channel, or taken back. */
export interface Act {
  act: 'notice' | 'quiet' | 'unquiet' | 'kick' | 'ban' | 'unban';
  channel: string;
  nick: string;
  /** `user@host` they were seen under. */
  host?: string | undefined;
  /** Account they were identified with. */
  account?: string | undefined;
  /** What they are told, or the reason that a kick gives. */
  text: string;
  /** For what is taken back: the mask that was set; absent where a voice was taken. */
  mask?: string | undefined;
}

/** What came of it, by the word of the network; operators are spared. `mask` is what was set. */
export type Came = { is: 'done'; mask?: string } | { is: 'spared' } | { is: 'failed'; error: string };

/** What the guardian works with; times in milliseconds. */
export interface GuardOptions {
  log: Log;
  logger: Logger;
  thresholds: Thresholds;
  /** Channels whose lines are not scored. */
  ignored: readonly string[];
  /** Nicks of our own bots: what they say is recorded and nothing is done about it. */
  bots: readonly string[];
  /** Acts on the network. Throws `Unavailable` while nobody can. */
  enforce(wanted: Act): Promise<Came>;
  read: ReadModeration;
  /** Age from which on nothing is done about a line any more; five minutes by default. */
  lateAfterMs?: number;
}

/** Who records what the guardian does. */
export const guard = 'guard-channels';
export const usualLateAfterMs = 5 * 60_000;
