import type { Logger } from 'pino';
import type { Read } from '../../projections/core/projection.js';
import type { Log } from '../../streams/core/index.js';
import type { IrcConnection } from '../irc/connection.js';

/** Operations an hour that callers may ask for; 0 lifts a limit. */
export interface HourlyLimits {
  creations: number;
  deletions: number;
  memberOperations: number;
}

/** How long channels live, in milliseconds. */
export interface Lifetimes {
  /** From archiving to deletion. */
  deleteAfterMs: number;
  /** Without an audit record, until a geographic channel is archived. */
  geographicIdleMs: number;
  /** From the end of a task until its channel is archived. */
  endedTaskMs: number;
}

/** Told what the keeper of the channels does, as it does it. */
export interface ChannelsObserver {
  /** An operation came to its end: `done`, or the code of its error. */
  operation(name: string, outcome: string): void;
  /** Channels that were not as they are to be, and now are; by what had to be done. */
  repaired(what: 'changed' | 'recreated' | 'removed' | 'bot_brought_in', channels: number): void;
}

/** What the keeper of the channels works with. */
export interface KeepChannelsOptions {
  log: Log;
  /** The channel bot's connection; started and stopped by the keeper. */
  irc: IrcConnection;
  /** Of the channel directory. */
  read: Read;
  /** Nicks of our other bots: they never lose their voice. */
  bots: readonly string[];
  /** The link of a nick; `level` is above 0 where the identified nick has said so itself. Nobody is linked where it is not given. */
  linkOf?: (nick: string) => Promise<{ level: number } | undefined>;
  /** Channels that are there whatever is recorded: they are never managed. */
  reserved: readonly string[];
  limits: HourlyLimits;
  lifetimes: Lifetimes;
  logger: Logger;
  observe?: ChannelsObserver;
  /** When to look for what is due, in milliseconds: first after 30 s, then every 5 minutes by default. */
  schedule?: { firstMs: number; everyMs: number };
}
