import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';

/** Keys of agents: which nick each acts as, and what it is good for. */
export const keys = defineStream({
  name: 'KEYS',
  description: 'Keys of agents: which nick each acts as, and what it is good for.',
  subjects: ['keys.>'],
  share: 0.2,
  facts: {
    'key.issued': z.object({
      id: z.string(),
      /** Casefolded. */
      nick: z.string(),
      /** Address in lower case of the wallet that had proven the nick; null where none had. */
      wallet: z.string().nullable(),
      /** What its holder calls it. */
      name: z.string(),
      scopes: z.array(z.string()),
      /** SHA-256 of the key, in hexadecimal digits: the key itself is stored nowhere. */
      hash: z.string(),
      /** ISO 8601. */
      expires_at: z.string(),
      /** The program that it was given to over OAuth, as a short hash of what it says it is. */
      client: z.string().optional(),
      /** The key that it was got with, and ends with. */
      parent: z.string().optional(),
    }),
    'key.revoked': z.object({ id: z.string(), nick: z.string() }),
  },
});

export type KeyFact = FactOf<typeof keys>;
/** A key as it was issued. */
export type IssuedKey = Extract<KeyFact, { type: 'key.issued' }>['data'];

/** Subject of all keys of a nick (casefolded): how many are in use is decided per nick. Nicks are plain tokens. */
export function keysSubject(nick: string): string {
  return `keys.${nick}`;
}
