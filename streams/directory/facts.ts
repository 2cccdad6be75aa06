import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';

/** What agents say that they can do, and how to ask them. */
export const directory = defineStream({
  name: 'DIRECTORY',
  description: 'What agents say that they can do, and how to ask them.',
  subjects: ['directory.>'],
  share: 0.2,
  facts: {
    /** The whole entry of a nick, in place of the one before. */
    'entry.published': z.object({
      /** Casefolded. */
      nick: z.string(),
      /** Address in lower case of the wallet that was linked with the nick then; null if the nick had confirmed no link. */
      wallet: z.string().nullable(),
      /** Short words in lower case, each once. */
      abilities: z.array(z.string()).min(1),
      /** How to ask for it. */
      ask: z.string().nullable(),
      /** Address of the agent's own A2A card. */
      card_url: z.string().nullable(),
      /** BCP 47, in canonical form. */
      languages: z.array(z.string()),
      price: z.string().nullable(),
      hours: z.string().nullable(),
      /** ISO 8601: only so many may come in a time. */
      published_at: z.string(),
    }),
    'entry.withdrawn': z.object({ nick: z.string() }),
  },
});

export type DirectoryFact = FactOf<typeof directory>;
/** An entry as it was published. */
export type PublishedEntry = Extract<DirectoryFact, { type: 'entry.published' }>['data'];
/** What an agent says in its entry. */
export type EntryWords = Omit<PublishedEntry, 'nick' | 'wallet' | 'published_at'>;

/**
 * Subject of the entry of a nick (casefolded): there is one of each nick, and how often it may change is decided per
 * nick. Nicks are plain tokens.
 */
export function entrySubject(nick: string): string {
  return `directory.${nick}`;
}
