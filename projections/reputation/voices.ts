import { type RowOf, Rows, rowsOf } from '../core/rows.js';
import type { Tx } from '../core/sql.js';

/** What is stored of a voice. */
export const voiceRows = new Rows({
  about: 'text collate "C" not null',
  giver: 'text collate "C" not null',
  words: 'integer not null',
  weight: 'double precision not null',
  rated: 'double precision not null',
  newest: 'double precision not null',
});

/**
 * What agents say about one nick, or in one channel. One voice is that of one giver, or of all givers
 * `together` who had no voucher when they said it. It counts as one feedback, however much it is: its mean,
 * as fresh as its last word. `weight` and `rated` are sums over its words; `newest` is the weight of the last
 * one.
 */
export type Voice = RowOf<typeof voiceRows>;

/** The giver's name for the voice of all givers without a voucher. */
export const together = '';

/** Two books are kept of a channel: `all` feedback, and what was given while it was `open` to the public. */
export const books = ['all', 'open'] as const;
export type Book = (typeof books)[number];

/** The name of a channel in the voices of a book. */
export const nameIn = (book: Book, channel: string): string =>
  book === 'open' ? `${channel} open` : channel;

/**
 * Feedback summed up: how many, the sum of the weights of all voices, and of their ratings times their
 * weights.
 */
export interface Sum {
  feedback: number;
  weight: number;
  rated: number;
}

/** The key of a voice among others. */
const voiceKey = (about: string, giver: string): string => `${about} ${giver}`;

/** Adds feedback to the sums about a nick or a channel, or subtracts it again. */
export function count(
  sum: Sum,
  about: string,
  { voice: giver, weight, rating }: { voice: string | null; weight: number; rating: number },
  { voices, sign }: { voices: Map<string, Voice>; sign: 1 | -1 },
): void {
  sum.feedback += sign;
  if (giver === null) {
    sum.weight += sign * weight;
    sum.rated += sign * weight * rating;
    return;
  }
  const key = voiceKey(about, giver);
  const voice = voices.get(key) ?? { about, giver, ...silence };
  voices.set(key, voice);
  if (voice.words > 0) speak(sum, voice, -1);
  voice.words += sign;
  voice.weight += sign * weight;
  voice.rated += sign * weight * rating;
  if (sign === 1) voice.newest = weight;
  // subtractions may leave a tiny rest: without words, everything is zero
  if (voice.words === 0) Object.assign(voice, silence);
  else speak(sum, voice, 1);
}

const silence = { words: 0, weight: 0, rated: 0, newest: 0 };

function speak(sum: Sum, { weight, rated, newest }: Voice, sign: 1 | -1): void {
  sum.weight += sign * newest;
  sum.rated += sign * newest * (rated / weight);
}

/** The stored voices that feedback of these givers is about to change. */
export async function storedVoices(
  tx: Tx,
  all: readonly { giver: string; nick: string; channel: string }[],
  schema: string,
): Promise<Map<string, Voice>> {
  const wanted = new Map(
    all.flatMap(({ giver: own, nick, channel }) =>
      [nick, ...books.map((book) => nameIn(book, channel))].flatMap((about) =>
        [own, together].map((giver) => [voiceKey(about, giver), { about, giver }] as const),
      ),
    ),
  );
  const rows = await rowsOf<Voice>(tx, `${schema}.voices`, {
    about: [...wanted.values()].map(({ about }) => about),
    giver: [...wanted.values()].map(({ giver }) => giver),
  });
  return new Map(rows.map((row) => [voiceKey(row.about, row.giver), row]));
}

/** Stores voices as they have become. */
export async function storeVoices(tx: Tx, rows: readonly Voice[], schema: string): Promise<void> {
  await tx.query(
    `insert into ${schema}.voices (${voiceRows.names}) select * from ${voiceRows.from('new')}
     on conflict (about, giver) do update set ${voiceRows.replaced('about', 'giver')}`,
    voiceRows.params(rows),
  );
}
