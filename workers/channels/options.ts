import type { Logger } from 'pino';
import type { Read } from '../../projections/core/projection.js';
import type { Log } from '../../streams/core/index.js';
import type { IrcConnection } from '../irc/connection.js';
import type { Hours } from './hourly-limit.js';

/** How many operations callers may request in an hour; 0 lifts a limit. */
export interface HourlyLimits {
  creations: number;
  deletions: number;
  memberOperations: number;
}

/** How long channels live, in milliseconds. */
export interface Lifetimes {
  /** From archiving to deletion. */
  deleteAfterMs: number;
  /** How long a geographic channel may have no audit record until it is archived. */
  geographicIdleMs: number;
  /** From the end of a task until its channel is archived. */
  endedTaskMs: number;
}

/** Called for what the keeper of the channels does. */
export interface ChannelsObserver {
  /** An operation has ended: `done`, or the code of its error. */
  operation(name: string, outcome: string): void;
  /** Channels that differed from the wanted state and were repaired, by what had to be done. */
  repaired(what: 'changed' | 'recreated' | 'removed' | 'bot_brought_in', channels: number): void;
}

/** What is ours in channels. */
export interface Ours {
  /** Nicks of our other bots: they never lose their voice. */
  bots: readonly string[];
  /**
   * The masks in force that moderation has set in a channel, as of now; bounded. `undefined` when that cannot be read.
   */
  masksIn: (channel: string) => Promise<readonly string[] | undefined>;
}

/** What the keeper of the channels works with. */
export interface KeepChannelsOptions extends Ours {
  log: Log;
  /** The channel bot's connection; started and stopped by the keeper. */
  irc: IrcConnection;
  /** Reads the read model of the channel directory. */
  read: Read;
  /** Nicks of our bots that are no operators: this one gets them their nicks, and into channels. */
  helped: readonly string[];
  /**
   * The link of a nick. `level` is above 0 if the identified nick has confirmed it. Without this function
   * nobody is linked.
   */
  linkOf?: (nick: string) => Promise<{ level: number } | undefined>;
  /**
   * Whether people of the network have accounts: so it has a nick service, also one that is away since before our start.
   * Without this function it is known by its answers alone.
   */
  hasAccounts?: () => Promise<boolean>;
  /** Channels that are never managed, whatever is recorded. */
  reserved: readonly string[];
  limits: HourlyLimits;
  /** What all processes have done lately of what these limits are about. */
  hours: Hours;
  lifetimes: Lifetimes;
  logger: Logger;
  observe?: ChannelsObserver;
  /** When to look for due channels, in milliseconds: by default first after 30 s, then every 5 minutes. */
  schedule?: { firstMs: number; everyMs: number };
}
