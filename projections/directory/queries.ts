import type { RowOf } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import { type entryRows, tagOf } from './fold.js';

/** What an agent says of itself. */
export interface Entry {
  nick: string;
  /** Address in lower case of the wallet that it was published under; null without one. */
  wallet: string | null;
  abilities: string[];
  ask: string | null;
  card_url: string | null;
  languages: string[];
  price: string | null;
  hours: string | null;
  /** ISO 8601. */
  published_at: string;
}

/** Which entries are asked for. */
export interface EntriesWanted {
  /** Only nicks (casefolded) that come after this one. */
  after: string;
  limit: number;
  ability?: string | undefined;
  /** In lower case; entries with a language that is part of it too. */
  language?: string | undefined;
}

/** The entry of a nick (casefolded), whoever has the nick now; `undefined` without one. */
export async function entryOf(sql: Tx, schema: string, nick: string): Promise<Entry | undefined> {
  const [row] = await sql.query<Stored>(`select * from ${schema}.entries where nick = $1`, [nick]);
  return row && entryView(row);
}

/** Entries in the order of their nicks. */
export async function entriesOf(
  sql: Tx,
  schema: string,
  { after, limit, ability, language }: EntriesWanted,
): Promise<Entry[]> {
  const tags = [
    ...(ability === undefined ? [] : [tagOf.ability(ability)]),
    ...(language === undefined ? [] : [tagOf.language(language)]),
  ];
  const [first, second] = tags;
  const rows =
    first === undefined
      ? await sql.query<Stored>(`select * from ${schema}.entries where nick > $1 order by nick limit $2`, [
          after,
          limit,
        ])
      : await sql.query<Stored>(
          // by the index of one tag; the rest is looked up one by one
          `select e.* from ${schema}.tags as t, lateral (
             select * from ${schema}.entries where nick = t.nick limit 1) as e
           where t.tag = $3 and t.nick > $1
             and ($4::text is null or exists (select 1 from ${schema}.tags where tag = $4 and nick = t.nick))
           order by t.nick limit $2`,
          [after, limit, first, second ?? null],
        );
  return rows.map(entryView);
}

/** The entries of some nicks (casefolded) that have an ability, in the order of their nicks. */
export async function entriesAmong(
  sql: Tx,
  schema: string,
  ability: string,
  nicks: readonly string[],
): Promise<Entry[]> {
  const rows = await sql.query<Stored>(
    `select e.* from unnest($2::text[]) as here (nick), lateral (
       select nick from ${schema}.tags where tag = $1 and nick = here.nick limit 1) as t, lateral (
       select * from ${schema}.entries where nick = t.nick limit 1) as e
     order by e.nick`,
    [tagOf.ability(ability), [...nicks]],
  );
  return rows.map(entryView);
}

type Stored = RowOf<typeof entryRows>;

function entryView({ abilities, languages, published_at, ...row }: Stored): Entry {
  return {
    ...row,
    abilities: abilities.split(','),
    languages: languages === '' ? [] : languages.split(','),
    published_at: published_at.toISOString(),
  };
}
