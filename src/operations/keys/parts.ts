import type { Log } from '../../../streams/core/index.js';
import type { KeyedLock } from '../../../streams/core/keyed-lock.js';
import type { OwnReadModel } from '../../stores/own-read-model.js';
import type { HourlyCounts } from '../core/person-limit.js';

/** What the operations of agent keys work with. */
export interface KeysParts {
  log: Log;
  keys: {
    rows: OwnReadModel;
    /** Commands about the keys of one nick run in sequence. */
    lock: KeyedLock;
    /** The wallet that has proven a nick, in lower case; null without one. */
    walletOf(nick: string): Promise<string | null>;
    /** Whether a nick is reserved for a bot or a service, or could be taken for one of them. */
    isKept(nick: string): boolean;
    /** A new key, its id, and the hash that is stored. */
    make(): { id: string; key: string; hash: string };
    /** Counts the keys made in an hour, by nick: each is on record for good. */
    made: HourlyCounts;
  };
}
