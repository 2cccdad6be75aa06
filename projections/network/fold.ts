import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { type IrcFact, isLine, type LineSighting, type Sighting } from '../../streams/network/index.js';
import { Rows } from '../core/rows.js';
import type { Tx } from '../core/sql.js';

const keptDays = 30;
const dayMs = 24 * 3_600_000;

interface ChannelPatch {
  name: string;
  topic: string | null;
  modes: string | null;
  present: boolean | null;
  /** Whether `members` are all there are, or only those that changed: a nick as shown, or null when gone. */
  whole: boolean;
  members: Map<string, string | null>;
}

interface Line {
  channel: string;
  seq: number;
  index: number;
  said: LineSighting;
}

/** What one nick said in one channel on one day. */
interface Activity {
  nick: string;
  channel: string;
  lines: number;
  first_at: Date;
  last_at: Date;
}

/** A member of a channel as it is stored; `shown` is the nick as it is written. */
export const memberRows = new Rows({
  channel: 'text collate "C"',
  nick: 'text collate "C"',
  shown: 'text not null',
});

/** A line of a channel as it is stored. */
export const lineRows = new Rows({
  channel: 'text collate "C" not null',
  seq: 'bigint',
  index: 'integer',
  nick: 'text not null',
  text: 'text not null',
  at: 'timestamptz not null',
  action: 'boolean not null',
});

const patchRows = new Rows({
  ...{ channel: 'text', name: 'text', topic: 'text', modes: 'text', present: 'boolean' },
});
const activityRows = new Rows({
  ...{ nick: 'text', channel: 'text', lines: 'integer', first_at: 'timestamptz', last_at: 'timestamptz' },
});

/** The changes that a batch of facts makes, one per row. */
interface Patch {
  channels: Map<string, ChannelPatch>;
  lines: Line[];
}

/**
 * Folds facts of the IRC stream into the tables of `irc_network`, day by day: what a new day makes too old goes
 * before anything of that day is folded, so that the rows do not depend on how the facts were batched.
 */
export async function foldSightings(tx: Tx, facts: Recorded<IrcFact>[], schema: string): Promise<void> {
  for (const { day, facts: ofDay } of days(facts)) {
    await beginDay(tx, day, ofDay[0]!.seq, schema);
    const { channels, lines } = patchOf(ofDay);
    await storeChannels(tx, channels, day, schema);
    await storeLines(tx, lines, ofDay[0]!.data.lines_before, schema);
    if (lines.length > 0) await storeActivity(tx, lines, day, schema);
  }
}

function days(facts: Recorded<IrcFact>[]): { day: string; facts: Recorded<IrcFact>[] }[] {
  const groups: { day: string; facts: Recorded<IrcFact>[] }[] = [];
  for (const fact of facts) {
    const day = fact.at.toISOString().slice(0, 10);
    if (groups.at(-1)?.day !== day) groups.push({ day, facts: [] });
    groups.at(-1)!.facts.push(fact);
  }
  return groups;
}

/** Notes where a day begins in the stream, and removes what is too old when that is news. */
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

function patchOf(facts: Recorded<IrcFact>[]): Patch {
  const channels = new Map<string, ChannelPatch>();
  const lines: Line[] = [];
  for (const { seq, data } of facts) {
    const channel = casefold(data.channel);
    const patch = channels.get(channel) ?? emptyPatch();
    channels.set(channel, patch);
    patch.name = data.channel;
    for (const [index, sighting] of data.seen.entries()) {
      if (isLine(sighting)) lines.push({ channel, seq, index, said: sighting });
      else change(patch, sighting);
    }
  }
  return { channels, lines };
}

const emptyPatch = (): ChannelPatch => ({
  name: '',
  topic: null,
  modes: null,
  present: null,
  whole: false,
  members: new Map(),
});

function change(patch: ChannelPatch, sighting: Exclude<Sighting, LineSighting>): void {
  const { members } = patch;
  switch (sighting.is) {
    case 'join':
      members.set(casefold(sighting.nick), sighting.nick);
      break;
    case 'part':
    case 'quit':
      members.set(casefold(sighting.nick), null);
      break;
    case 'kick':
      members.set(casefold(sighting.kicked), null);
      break;
    case 'nick':
      members.set(casefold(sighting.nick), null);
      members.set(casefold(sighting.to), sighting.to);
      break;
    case 'topic':
      patch.topic = sighting.text;
      break;
    case 'mode':
      patch.modes = sighting.modes;
      break;
    case 'snapshot': {
      members.clear();
      for (const member of sighting.members) {
        const nick = member.replace(/^[~&@%+!]+/, '');
        members.set(casefold(nick), nick);
      }
      const { topic, modes } = sighting;
      Object.assign(patch, { topic, modes, present: true, whole: true });
      break;
    }
    case 'left':
      members.clear();
      Object.assign(patch, { present: false, whole: true });
      break;
    case 'gap':
      break;
  }
}

/** Changes the members of channels and, in the same statement, what depends on them and all else about the channels. */
async function storeChannels(
  tx: Tx,
  channels: Map<string, ChannelPatch>,
  day: string,
  schema: string,
): Promise<void> {
  const keys = [...channels.keys()];
  const patches = [...channels].map(([channel, patch]) => ({ channel, ...patch }));
  const rows = [...channels].flatMap(([channel, { members }]) =>
    [...members].map(([nick, shown]) => ({ channel, nick, shown })),
  );
  const here = rows.filter(({ shown }) => shown !== null);
  const gone = rows.filter(({ shown }) => shown === null);
  await tx.query(
    `with here as (
       select * from ${memberRows.from('here')}
     ), removed as (
       delete from ${schema}.members where ctid = any (array (
         -- looked up one by one; joined, the planner might read the whole table for every batch
         select m.ctid from unnest($4::text[], $5::text[]) as gone (channel, nick), lateral (
           select ctid from ${schema}.members where channel = gone.channel and nick = gone.nick limit 1) as m
         union all
         select m.ctid from unnest($6::text[]) as whole (channel), lateral (
           select ctid, nick from ${schema}.members where channel = whole.channel offset 0) as m
         where (whole.channel, m.nick) not in (select channel, nick from here)
       )) returning channel
     ), added as (
       insert into ${schema}.members as m select * from here
       on conflict (channel, nick) do update set shown = excluded.shown where m.shown <> excluded.shown
     ), counted as (
       select channel, sum(step)::integer as step from (
         select channel, -1 as step from removed
         union all
         select here.channel, 1 from here left join lateral (
           select true as was from ${schema}.members where channel = here.channel and nick = here.nick limit 1
         ) as m on true where m.was is null
       ) as steps group by channel
     ), patch as (
       select * from ${patchRows.from('patch', { first: 8 })}
     )
     insert into ${schema}.channels (channel, name, topic, modes, users, present, day)
     select channel, patch.name, coalesce(patch.topic, old.topic, ''), coalesce(patch.modes, old.modes, ''),
       coalesce(old.users, 0) + coalesce(step, 0), coalesce(patch.present, old.present, false), $7::date
     from patch left join counted using (channel) left join lateral (
       select topic, modes, users, present from ${schema}.channels where channel = patch.channel limit 1
     ) as old on true
     on conflict (channel) do update set name = excluded.name, topic = excluded.topic, modes = excluded.modes,
       users = excluded.users, present = excluded.present, day = excluded.day`,
    [
      ...memberRows.params(here),
      ...[gone.map(({ channel }) => channel), gone.map(({ nick }) => nick)],
      keys.filter((channel) => channels.get(channel)!.whole),
      day,
      ...patchRows.params(patches),
    ],
  );
}

/** Adds lines and counts them; the count begins with what was recorded before the first fact that is still there. */
async function storeLines(tx: Tx, lines: Line[], before: number, schema: string): Promise<void> {
  const rows = lines.map(({ channel, seq, index, said: { nick, text, at, is } }) => ({
    ...{ channel, seq, index, nick, text, at: new Date(at), action: is === 'action' },
  }));
  await tx.query(
    `with counted as (
       insert into ${schema}.totals (lines) values ($1::bigint + $2::bigint)
       on conflict (only_row) do update set lines = totals.lines + $2::bigint
     )
     insert into ${schema}.lines (${lineRows.names}) select * from ${lineRows.from('said', { first: 3 })}`,
    [before, lines.length, ...lineRows.params(rows)],
  );
}

async function storeActivity(tx: Tx, lines: Line[], day: string, schema: string): Promise<void> {
  const spoken = new Map<string, Activity>();
  for (const { channel, said } of lines) {
    const nick = casefold(said.nick);
    const key = `${nick} ${channel}`;
    const at = new Date(said.at);
    const entry = spoken.get(key) ?? { nick, channel, lines: 0, first_at: at, last_at: at };
    spoken.set(key, entry);
    entry.lines += 1;
    if (at < entry.first_at) entry.first_at = at;
    if (at > entry.last_at) entry.last_at = at;
  }
  await tx.query(
    `insert into ${schema}.activity as a (nick, channel, day, lines, first_at, last_at)
     select nick, channel, $1::date, lines, first_at, last_at
     from ${activityRows.from('spoken', { first: 2 })}
     on conflict (nick, channel, day) do update set lines = a.lines + excluded.lines,
       first_at = least(a.first_at, excluded.first_at), last_at = greatest(a.last_at, excluded.last_at)`,
    [day, ...activityRows.params([...spoken.values()])],
  );
}
