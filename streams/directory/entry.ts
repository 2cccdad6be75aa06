import { type Decider, Refusal } from '../core/index.js';
import { type DirectoryFact, type EntryWords, entrySubject, type PublishedEntry } from './facts.js';

/** How often a nick may change its entry in a time of so many milliseconds: nobody is to fill the log. */
export const publishLimit = { count: 20, inMs: 3_600_000 } as const;

/** The entry of a nick, and when it was changed lately. */
export interface EntryState {
  entry: PublishedEntry | undefined;
  /** In milliseconds since 1970, oldest first; as many as the limit needs. */
  changedAt: number[];
}

/** The owner of an entry: a nick (casefolded) and the wallet that is linked with it, in lower case; null without one. */
export interface EntryOwner {
  nick: string;
  wallet: string | null;
}

/** What can be asked for the entry of a nick. */
export type EntryCommand =
  | ({ is: 'publish'; words: EntryWords } & EntryOwner)
  | /** The rest of the owner's entry stays as it is. */ ({
      is: 'set abilities';
      abilities: string[];
    } & EntryOwner)
  | { is: 'withdraw'; nick: string };

/** One entry of each nick: a later one replaces it, and the same one again changes nothing. */
export const entryDecider: Decider<EntryState, EntryCommand, DirectoryFact> = {
  initial: () => ({ entry: undefined, changedAt: [] }),

  subject: ({ nick }) => entrySubject(nick),

  evolve(state, { type, data }) {
    if (type === 'entry.withdrawn') {
      state.entry = undefined;
      return;
    }
    state.entry = data;
    state.changedAt = [...state.changedAt, Date.parse(data.published_at)].slice(-publishLimit.count);
  },

  decide(command, { entry, changedAt }, now) {
    const { nick } = command;
    if (command.is === 'withdraw') {
      if (!entry) throw new Refusal('entry_not_found');
      return { type: 'entry.withdrawn', data: { nick } };
    }
    const { wallet } = command;
    const own = entry?.wallet === wallet ? entry : undefined;
    const words =
      command.is === 'publish' ? command.words : { ...(own ?? nothing), abilities: command.abilities };
    const data = { ...wordsOf(words), nick, wallet };
    if (own && JSON.stringify(wordsOf(own)) === JSON.stringify(wordsOf(words))) return undefined;
    const [oldest = 0] = changedAt;
    const waitMs = changedAt.length < publishLimit.count ? 0 : oldest + publishLimit.inMs - now.getTime();
    if (waitMs > 0) {
      const text = `An entry changes at most ${publishLimit.count} times in an hour`;
      throw new Refusal('rate_limited', text, { retryAfter: Math.ceil(waitMs / 1_000) });
    }
    return { type: 'entry.published', data: { ...data, published_at: now.toISOString() } };
  },
};

const nothing = { ask: null, card_url: null, languages: [], price: null, hours: null };

const wordsOf = ({ abilities, ask, card_url, languages, price, hours }: EntryWords): EntryWords => ({
  abilities,
  ask,
  card_url,
  languages,
  price,
  hours,
});
