import { type Decider, Refusal } from '../core/index.js';
import { type IssuedKey, type KeyFact, keysSubject } from './facts.js';

/** So many keys may be in use at once for a nick and its wallet. */
export const maxKeys = 5;
/** So many may be made for a nick in an hour. */
export const maxKeysMade = 20;
/** How long a key is good for where nobody says otherwise, and at most, in days. */
export const keyDays = { usual: 90, most: 365 } as const;

/** Keys of a nick that were not revoked, by id; those of former wallets of the nick too. */
export interface KeysState {
  keys: Map<string, { wallet: string | null; expiresAt: number; parent: string | undefined }>;
}

/** What can be asked for the keys of a nick (casefolded). */
export type KeyCommand =
  | ({ is: 'issue' } & IssuedKey)
  | {
      is: 'revoke';
      nick: string;
      id: string;
      /** Only a key of this wallet; any where it is left out. */
      wallet?: string;
    };

/** Keys come one by one, a few at a time, and go for ever. Those that a key gave go with it. */
export const keysDecider: Decider<KeysState, KeyCommand, KeyFact> = {
  initial: () => ({ keys: new Map() }),

  subject: ({ nick }) => keysSubject(nick),

  evolve({ keys }, { type, data }) {
    if (type === 'key.revoked') {
      keys.delete(data.id);
      for (const [id, { parent }] of keys) if (parent === data.id) keys.delete(id);
    } else {
      const { id, wallet, parent } = data;
      keys.set(id, { wallet, parent, expiresAt: Date.parse(data.expires_at) });
    }
  },

  decide(command, { keys }, now) {
    if (command.is === 'revoke') {
      const { nick, id, wallet } = command;
      const key = keys.get(id);
      if (!key || (wallet !== undefined && key.wallet !== wallet)) throw new Refusal('key_not_found');
      return { type: 'key.revoked', data: { id, nick } };
    }
    const { is: _, ...data } = command;
    if (data.parent !== undefined) {
      const parent = keys.get(data.parent);
      if (!parent) throw new Refusal('api_key_invalid');
      // who ends a key looks at those that it gave, and no further
      if (parent.parent !== undefined) throw new Refusal('key_of_a_key');
    }
    // keys of a wallet that is not the nick's any more open nothing, and are in nobody's way
    const inUse = [...keys.values()].filter(
      ({ wallet, expiresAt }) => wallet === data.wallet && expiresAt > now.getTime(),
    );
    if (inUse.length >= maxKeys) throw new Refusal('too_many_keys');
    return { type: 'key.issued', data };
  },
};
