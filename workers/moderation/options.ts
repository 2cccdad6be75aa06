import type { Logger } from 'pino';
import type { Read } from '../../projections/core/projection.js';
import type { Log } from '../../streams/core/index.js';
import type { Enforced, Enforcement, Thresholds } from '../../streams/moderation/index.js';

/** Somebody who was seen on the network. */
export interface Seen {
  nick: string;
  host?: string | undefined;
  account?: string | undefined;
}

/** What moderation works with; times in milliseconds. */
export interface GuardOptions {
  log: Log;
  logger: Logger;
  thresholds: Thresholds;
  /** Channels whose lines are not scored. */
  ignored: readonly string[];
  /** Nicks of our own bots: what they say is recorded and nothing is done about it. */
  bots: readonly string[];
  /** How long programs that answer each other are muted for the first time, in minutes; 0: they are left alone. */
  loopMinutes: number;
  /** Nick of the bot that takes appeals, and by which notices come. */
  appealTo: string;
  /** Acts on the network. Throws `Unavailable` while nobody can. */
  enforce(wanted: Enforcement): Promise<Enforced>;
  /** When an account was registered, in milliseconds; null where the nick service does not say. Throws while nobody can ask it. */
  registeredAt(account: string): Promise<number | null>;
  /** The hosts under which the gateway introduces the owner of an account (casefolded); none if the owner is not known. */
  gatewayHosts(account: string): Promise<readonly string[]>;
  read: Read;
}

/** Who records what moderation does. */
export const guard = 'guard-channels';
