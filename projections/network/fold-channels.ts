import { type RowOf, Rows } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import type { ChannelPatch } from './patch.js';

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

/**
 * Changes the members of channels and, in the same statement, what depends on them and all else about the
 * channels.
 */
export async function storeChannels(
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

/** SQL for the new value of a column of a member: the one that is known already if the member stayed, else the new one. */
const kept = (column: string): string => `case when old.was then old.${column} else here.${column} end`;

/** Adds what lines told of members that came earlier. */
export async function storeIdentities(
  tx: Tx,
  channels: Map<string, ChannelPatch>,
  schema: string,
): Promise<void> {
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
export async function storeAways(tx: Tx, channels: Map<string, ChannelPatch>, schema: string): Promise<void> {
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
