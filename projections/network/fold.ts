import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import type { IrcFact } from '../../streams/network/index.js';
import { type RowOf, Rows } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import { type ChannelPatch, days, type Line, patchOf } from './patch.js';

const keptDays = 30;
const dayMs = 24 * 3_600_000;

/** What one nick said in one channel on one day. */
interface Activity {
  nick: string;
  channel: string;
  private: boolean;
  lines: number;
  first_at: Date;
  last_at: Date;
}

const memberColumns = {
  channel: 'text collate "C"',
  nick: 'text collate "C"',
  shown: 'text not null',
  host: 'text',
  account: 'text',
  since_seq: 'bigint not null',
  since_index: 'integer not null',
} as const;

/**
 * A member of a channel as it is stored: the nick as it is written, and who the network said it is. Also where in the
 * record it came or was first seen.
 */
export const memberRows = new Rows({
  ...memberColumns,
  // while it says that it is away
  away_at: 'timestamptz',
  away_message: 'text',
});

const hereRows = new Rows({ ...memberColumns, stayed: 'boolean not null' });
const awayRows = new Rows({ channel: 'text', nick: 'text', at: 'timestamptz', message: 'text' });
const identityRows = new Rows({ channel: 'text', nick: 'text', host: 'text', account: 'text' });

/** A line of a channel as it is stored. */
export const lineRows = new Rows({
  channel: 'text collate "C" not null',
  seq: 'bigint',
  index: 'integer',
  nick: 'text not null',
  text: 'text not null',
  at: 'timestamptz not null',
  action: 'boolean not null',
  // said while the channel was closed to the public, or before it was deleted and made again
  private: 'boolean not null',
});

/** What the network calls a line, where it does. Apart from the lines: a wider table is read in another way. */
export const msgidRows = new Rows({
  seq: 'bigint',
  index: 'integer',
  channel: 'text collate "C" not null',
  msgid: 'text collate "C" not null',
});

/** The msgid of the line that a line answers. */
export const replyRows = new Rows({ seq: 'bigint', index: 'integer', msgid: 'text collate "C" not null' });

const patchRows = new Rows({
  channel: 'text',
  name: 'text',
  topic: 'text',
  modes: 'text',
  present: 'boolean',
  life: 'bigint',
  life_seq: 'bigint',
  gap_seq: 'bigint',
  gap_index: 'integer',
});
const rebornRows = new Rows({ channel: 'text', first_seq: 'bigint' });
const activityRows = new Rows({
  nick: 'text',
  channel: 'text',
  private: 'boolean',
  lines: 'integer',
  first_at: 'timestamptz',
  last_at: 'timestamptz',
});

/**
 * Folds facts of the IRC stream into the tables of `irc_network`, day by day. Rows that a new day makes too
 * old are removed before anything of that day is folded. So the rows do not depend on how the facts were
 * batched.
 */
export async function foldSightings(tx: Tx, facts: Recorded<IrcFact>[], schema: string): Promise<void> {
  for (const { day, facts: ofDay } of days(facts)) {
    await beginDay(tx, day, ofDay[0]!.seq, schema);
    const { channels, lines } = patchOf(ofDay);
    await knowPrivacy(tx, lines, schema);
    const reborn = await rebornAmong(tx, channels, schema);
    await storeChannels(tx, channels, day, schema);
    await storeIdentities(tx, channels, schema);
    await storeAways(tx, channels, schema);
    await storeLines(tx, lines, ofDay[0]!.data.lines_before, schema);
    if (reborn.length > 0) await hideEarlierLives(tx, reborn, schema);
    if (lines.length > 0) await storeActivity(tx, lines, day, schema);
  }
}

/** Notes where a day begins in the stream, and removes what is too old when the day is new. */
async function beginDay(tx: Tx, day: string, seq: number, schema: string): Promise<void> {
  const begun = await tx.query(
    `insert into ${schema}.days values ($1::date, $2) on conflict (day) do nothing returning day`,
    [day, seq],
  );
  if (begun.length === 0) return;
  const oldest = new Date(Date.parse(day) - keptDays * dayMs).toISOString().slice(0, 10);
  await tx.query(
    `with old_lines as (
       delete from ${schema}.lines
       where seq < (select min(first_seq) from ${schema}.days where day >= $1::date)
     ), old_msgids as (
       delete from ${schema}.msgids
       where seq < (select min(first_seq) from ${schema}.days where day >= $1::date)
     ), old_replies as (
       delete from ${schema}.replies
       where seq < (select min(first_seq) from ${schema}.days where day >= $1::date)
     ), old_activity as (
       delete from ${schema}.activity where day < $1::date
     ), old_channels as (
       delete from ${schema}.channels where day < $1::date returning channel
     ), old_members as (
       delete from ${schema}.members where channel in (select channel from old_channels)
     )
     delete from ${schema}.days where day < $1::date`,
    [oldest],
  );
}

/**
 * Changes the members of channels and, in the same statement, what depends on them and all else about the
 * channels.
 */
async function storeChannels(
  tx: Tx,
  channels: Map<string, ChannelPatch>,
  day: string,
  schema: string,
): Promise<void> {
  const keys = [...channels.keys()];
  const patches = [...channels].map(([channel, { lives, gap, aways: _, ...patch }]) => ({
    channel,
    ...patch,
    life: lives.at(-1)?.life ?? null,
    life_seq: lives.at(-1)?.from ?? null,
    gap_seq: gap?.[0] ?? null,
    gap_index: gap?.[1] ?? null,
  }));
  const here: RowOf<typeof hereRows>[] = [];
  const gone: { channel: string; nick: string }[] = [];
  for (const [channel, { members }] of channels)
    for (const [nick, member] of members) {
      if (member === null) gone.push({ channel, nick });
      else {
        const { since, ...row } = member;
        here.push({ channel, nick, ...row, since_seq: since[0], since_index: since[1] });
      }
    }
  await tx.query(
    `with here as (
       select * from ${hereRows.from('here')}
     ), removed as (
       delete from ${schema}.members where ctid = any (array (
         -- looked up one by one; joined, the planner might read the whole table for every batch
         select m.ctid from unnest($9::text[], $10::text[]) as gone (channel, nick), lateral (
           select ctid from ${schema}.members where channel = gone.channel and nick = gone.nick limit 1) as m
         union all
         select m.ctid from unnest($11::text[]) as whole (channel), lateral (
           select ctid, nick from ${schema}.members where channel = whole.channel offset 0) as m
         where (whole.channel, m.nick) not in (select channel, nick from here)
       )) returning channel
     ), added as (
       insert into ${schema}.members as m (${memberRows.names})
       select channel, nick, here.shown, ${kept('host')}, ${kept('account')}, ${kept('since_seq')}, ${kept('since_index')},
         case when old.was then old.away_at end, case when old.was then old.away_message end
       from here left join lateral (
         select true as was, host, account, since_seq, since_index, away_at, away_message from ${schema}.members
         where here.stayed and channel = here.channel and nick = here.nick limit 1
       ) as old on true
       on conflict (channel, nick) do update set ${memberRows.replaced('channel', 'nick')}
       where (m.shown, m.since_seq, m.since_index) <> (excluded.shown, excluded.since_seq, excluded.since_index)
     ), counted as (
       select channel, sum(step)::integer as step from (
         select channel, -1 as step from removed
         union all
         select here.channel, 1 from here left join lateral (
           select true as was from ${schema}.members where channel = here.channel and nick = here.nick limit 1
         ) as m on true where m.was is null
       ) as steps group by channel
     ), patch as (
       select * from ${patchRows.from('patch', { first: 13 })}
     )
     insert into ${schema}.channels (channel, name, topic, modes, users, present, life, life_seq, gap_seq, gap_index, day)
     select channel, patch.name, coalesce(patch.topic, old.topic, ''), coalesce(patch.modes, old.modes, ''),
       coalesce(old.users, 0) + coalesce(step, 0), coalesce(patch.present, old.present, false), coalesce(patch.life, old.life, 0),
       case when patch.life is null or patch.life = old.life then coalesce(old.life_seq, 0) else patch.life_seq end,
       coalesce(patch.gap_seq, old.gap_seq, 0), coalesce(patch.gap_index, old.gap_index, 0), $12::date
     from patch left join counted using (channel) left join lateral (
       select topic, modes, users, present, life, life_seq, gap_seq, gap_index from ${schema}.channels where channel = patch.channel limit 1
     ) as old on true
     on conflict (channel) do update set name = excluded.name, topic = excluded.topic, modes = excluded.modes,
       users = excluded.users, present = excluded.present, life = excluded.life, life_seq = excluded.life_seq, gap_seq = excluded.gap_seq,
       gap_index = excluded.gap_index, day = excluded.day`,
    [
      ...hereRows.params(here),
      ...[gone.map(({ channel }) => channel), gone.map(({ nick }) => nick)],
      keys.filter((channel) => channels.get(channel)!.whole),
      day,
      ...patchRows.params(patches),
    ],
  );
}

/** Of a member that stayed, what is known of it stays. */
const kept = (column: string): string => `case when old.was then old.${column} else here.${column} end`;

/** Adds what lines told of members that came earlier. */
async function storeIdentities(tx: Tx, channels: Map<string, ChannelPatch>, schema: string): Promise<void> {
  const rows = [...channels].flatMap(([channel, { identities }]) =>
    [...identities].map(([nick, identity]) => ({ channel, nick, ...identity })),
  );
  if (rows.length === 0) return;
  await tx.query(
    `update ${schema}.members as m
     set host = coalesce(m.host, told.host), account = coalesce(m.account, told.account)
     from ${identityRows.from('told')}
     where m.channel = told.channel and m.nick = told.nick
       and ((m.host is null and told.host is not null) or (m.account is null and told.account is not null))`,
    identityRows.params(rows),
  );
}

/** Marks members that said that they are away, or back. */
async function storeAways(tx: Tx, channels: Map<string, ChannelPatch>, schema: string): Promise<void> {
  const rows = [...channels].flatMap(([channel, { aways }]) =>
    [...aways].map(([nick, away]) => ({
      channel,
      nick,
      at: away?.at ?? null,
      message: away?.message ?? null,
    })),
  );
  if (rows.length === 0) return;
  await tx.query(
    `update ${schema}.members as m set away_at = told.at, away_message = told.message
     from ${awayRows.from('told')} where m.channel = told.channel and m.nick = told.nick`,
    awayRows.params(rows),
  );
}

/**
 * In older facts, lines before the first modes of a batch do not say whether they are private: the stored
 * modes say it.
 */
async function knowPrivacy(tx: Tx, lines: Line[], schema: string): Promise<void> {
  const unknown = lines.filter(({ isPrivate }) => isPrivate === null);
  if (unknown.length === 0) return;
  const closed = await tx.query<{ channel: string }>(
    `select channel from ${schema}.channels where channel = any($1::text[]) and modes ~ '[spik]'`,
    [[...new Set(unknown.map(({ channel }) => channel))]],
  );
  const names = new Set(closed.map(({ channel }) => channel));
  for (const line of unknown) line.isPrivate = names.has(line.channel);
}

/** Channels that were deleted and made again, with the sequence where their present life begins. */
async function rebornAmong(
  tx: Tx,
  channels: Map<string, ChannelPatch>,
  schema: string,
): Promise<{ channel: string; first_seq: number }[]> {
  const known = [...channels].filter(([, { lives }]) => lives.length > 0);
  if (known.length === 0) return [];
  const rows = await tx.query<{ channel: string; life: number }>(
    `select channel, life from ${schema}.channels where channel = any($1::text[])`,
    [known.map(([channel]) => channel)],
  );
  const before = new Map(rows.map(({ channel, life }) => [channel, life]));
  return known.flatMap(([channel, { lives }]) => {
    const { life, from } = lives.at(-1)!;
    // older facts do not say to which life they belong
    const earlier = lives.at(-2)?.life ?? (before.get(channel) || life);
    return earlier === life ? [] : [{ channel, first_seq: from }];
  });
}

async function hideEarlierLives(
  tx: Tx,
  reborn: { channel: string; first_seq: number }[],
  schema: string,
): Promise<void> {
  await tx.query(
    `update ${schema}.lines as l set private = true from ${rebornRows.from('reborn')}
     where l.channel = reborn.channel and l.seq < reborn.first_seq and not l.private`,
    rebornRows.params(reborn),
  );
}

/**
 * Adds lines and counts them. The count begins with what was recorded before the first fact that is still
 * kept.
 */
async function storeLines(tx: Tx, lines: Line[], before: number, schema: string): Promise<void> {
  const rows = lines.map(({ channel, seq, index, said, isPrivate }) => ({
    channel,
    seq,
    index,
    nick: said.nick,
    text: said.text,
    at: new Date(said.at),
    action: said.is === 'action',
    private: isPrivate,
  }));
  const msgids = lines.flatMap(({ channel, seq, index, said: { msgid } }) =>
    msgid === undefined ? [] : [{ seq, index, channel, msgid }],
  );
  const replies = lines.flatMap(({ seq, index, said: { reply_to: msgid } }) =>
    msgid === undefined ? [] : [{ seq, index, msgid }],
  );
  await tx.query(
    `with counted as (
       insert into ${schema}.totals (lines) values ($1::bigint + $2::bigint)
       on conflict (only_row) do update set lines = totals.lines + $2::bigint
     )
     insert into ${schema}.lines (${lineRows.names}) select * from ${lineRows.from('said', { first: 3 })}`,
    [before, lines.length, ...lineRows.params(rows)],
  );
  if (msgids.length > 0)
    await tx.query(
      `insert into ${schema}.msgids (${msgidRows.names}) select * from ${msgidRows.from('named')}`,
      msgidRows.params(msgids),
    );
  if (replies.length > 0)
    await tx.query(
      `insert into ${schema}.replies (${replyRows.names}) select * from ${replyRows.from('said')}`,
      replyRows.params(replies),
    );
}

async function storeActivity(tx: Tx, lines: Line[], day: string, schema: string): Promise<void> {
  const spoken = new Map<string, Activity>();
  for (const { channel, said, isPrivate } of lines) {
    const nick = casefold(said.nick);
    const key = `${nick} ${channel} ${isPrivate}`;
    const at = new Date(said.at);
    const none = { nick, channel, private: isPrivate ?? false, lines: 0, first_at: at, last_at: at };
    const entry = spoken.get(key) ?? none;
    spoken.set(key, entry);
    entry.lines += 1;
    if (at < entry.first_at) entry.first_at = at;
    if (at > entry.last_at) entry.last_at = at;
  }
  await tx.query(
    `insert into ${schema}.activity as a (nick, channel, private, day, lines, first_at, last_at)
     select nick, channel, private, $1::date, lines, first_at, last_at
     from ${activityRows.from('spoken', { first: 2 })}
     on conflict (nick, channel, private, day) do update set lines = a.lines + excluded.lines,
       first_at = least(a.first_at, excluded.first_at), last_at = greatest(a.last_at, excluded.last_at)`,
    [day, ...activityRows.params([...spoken.values()])],
  );
}
