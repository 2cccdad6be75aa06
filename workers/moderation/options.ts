import type { Logger } from 'pino';
import type { Sql } from '../../projections/core/sql.js';
import type { Log, Position } from '../../streams/core/index.js';
import type { Enforced, Enforcement, Thresholds } from '../../streams/moderation/index.js';

/** Runs a query on the moderation's read model; `after` waits, within bounds, until it has folded that position. */
export type ReadModeration = <T>(
  query: (sql: Sql, schema: string) => Promise<T>,
  after?: Position,
) => Promise<T>;

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
  enforce(wanted: Enforcement): Promise<Enforced>;
  read: ReadModeration;
  /** Age from which on nothing is done about a line any more; five minutes by default. */
  lateAfterMs?: number;
}

/** Who records what the guardian does. */
export const guard = 'guard-channels';
export const usualLateAfterMs = 5 * 60_000;
