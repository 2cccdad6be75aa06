import type { Tx } from '../core/sql.js';
import { privateModes } from './queries.js';

/** Names of the rooms of tasks begin so. */
const taskRooms = '#task-';

/**
 * Whether two nicks (casefolded) were both seen in a channel (casefolded). Also true if both were seen in the
 * room of one task, and the first one in the channel as well. Seen means: they said something there on
 * `since` or later, or are there now.
 */
export async function haveMet(
  sql: Tx,
  schema: string,
  { nicks, channel, since }: { nicks: readonly [string, string]; channel: string; since: Date },
): Promise<boolean> {
  const [row] = await sql.query<{ met: boolean }>(
    `with seen as (
       select channel, nick from ${schema}.activity
       where nick = any($1::text[]) and day >= $3::date and (channel = $2 or starts_with(channel, '${taskRooms}'))
       union
       select channel, nick from ${schema}.members
       where nick = any($1::text[]) and (channel = $2 or starts_with(channel, '${taskRooms}'))
     ) select exists (select channel from seen group by channel having count(*) = 2)
       and exists (select 1 from seen where channel = $2 and nick = $4) as met`,
    [nicks, channel, since.toISOString().slice(0, 10), nicks[0]],
  );
  return row!.met;
}

/** What channels tell of where a nick is. */
export interface Presence {
  nick: string;
  /** Whether the nick is in a channel now. */
  here: boolean;
  /** That it is there and says that it is away, since then (ISO 8601). */
  away: { since: string; message: string } | null;
  /** When it last said something, in the days that are kept; ISO 8601. */
  last_active: string | null;
}

/** The presence of each of some nicks (casefolded) that was seen. What is or was private counts only `withPrivate`. */
export async function presenceOf(
  sql: Tx,
  schema: string,
  nicks: readonly string[],
  withPrivate: boolean,
): Promise<Presence[]> {
  const isOpen = `($2::boolean or c.modes !~ ${privateModes})`;
  const here = await sql.query<{ nick: string; away_at: Date | null; away_message: string | null }>(
    `select distinct m.nick, m.away_at, m.away_message from ${schema}.members as m join ${schema}.channels as c using (channel)
     where m.nick = any($1::text[]) and c.present and ${isOpen} order by m.away_at`,
    [nicks, withPrivate],
  );
  const active = await sql.query<{ nick: string; last_at: Date }>(
    `select a.nick, max(a.last_at) as last_at from ${schema}.activity as a join ${schema}.channels as c using (channel)
     where a.nick = any($1::text[]) and ($2::boolean or not a.private) and ${isOpen} group by a.nick`,
    [nicks, withPrivate],
  );
  const present = new Set(here.map(({ nick }) => nick));
  // the first of those that each of its channels has seen
  const away = new Map(
    here
      .filter((one) => one.away_at !== null)
      .reverse()
      .map(({ nick, away_at, away_message }) => [
        nick,
        { since: away_at!.toISOString(), message: away_message ?? '' },
      ]),
  );
  const last = new Map(active.map(({ nick, last_at }) => [nick, last_at.toISOString()]));
  return nicks.flatMap((nick) =>
    present.has(nick) || last.has(nick)
      ? [
          {
            nick,
            here: present.has(nick),
            away: away.get(nick) ?? null,
            last_active: last.get(nick) ?? null,
          },
        ]
      : [],
  );
}

/** Whether a nick (casefolded) was seen on the network in the days that are kept. */
export async function wasSeen(sql: Tx, schema: string, nick: string): Promise<boolean> {
  const [row] = await sql.query<{ seen: boolean }>(
    `select exists (select 1 from ${schema}.activity where nick = $1)
       or exists (select 1 from ${schema}.members where nick = $1) as seen`,
    [nick],
  );
  return row!.seen;
}
