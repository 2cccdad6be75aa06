import { type RowOf, rowsOf } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import type { lineRows } from './fold-lines.js';
import type { Place as LinePlace } from './patch.js';
import { openChannel } from './tables.js';

export type { Place as LinePlace } from './patch.js';

/** The contract's IRC channel. */
export interface IrcChannel {
  name: string;
  users: number;
  topic: string;
}

/** The contract's IRC message. `id` is the place of the line in the log, `time` is ISO 8601. */
export interface IrcMessage {
  id: string;
  channel: string;
  nick: string;
  text: string;
  time: string;
  action: boolean;
  /** Id of the line that it answers, where that is recorded. */
  reply_to?: string;
}

/** How much there is of everything. */
export interface IrcCounts {
  users: number;
  channels: number;
  /** Lines recorded since the stream began. */
  messages: number;
}

/** What one nick said, in the days that are kept; times are ISO 8601. */
export interface IrcActivity {
  channels: string[];
  messages: number;
  first_seen: string | null;
  last_active: string | null;
}

/** Mode letters of a private channel, as in `isPrivate`. */
export const privateModes = `'[spik]'`;

/** Channels where the recorder is now, by name; private ones only `withPrivate`. */
export async function ircChannels(sql: Tx, schema: string, withPrivate: boolean): Promise<IrcChannel[]> {
  return await sql.query<IrcChannel>(
    `select name, users, topic from ${schema}.channels
     where present and ($1::boolean or modes !~ ${privateModes}) order by channel`,
    [withPrivate],
  );
}

/** A channel with somebody in it. */
export interface IrcMembership extends IrcChannel {
  channel: string;
  /** `user@host`, as the network showed them; null where it did not. */
  host: string | null;
  /** Casefolded; null without one, or where the network did not tell. */
  account: string | null;
  /** Where they came, or were first seen there. */
  since: LinePlace;
  /** The fact that made the channel, and where its present life begins in the record; 0 where nobody knows. */
  life: number;
  lifeSince: number;
}

/**
 * Private channels in which a nick (casefolded) is now, by name; only `channel` (casefolded) if it is given. None whose
 * record has had a gap since the nick came.
 */
export async function privateMemberships(
  sql: Tx,
  schema: string,
  nick: string,
  channel?: string,
): Promise<IrcMembership[]> {
  const rows = await sql.query<
    Omit<IrcMembership, 'since' | 'lifeSince'> & { since_seq: number; since_index: number; life_seq: number }
  >(
    `select c.channel, c.name, c.users, c.topic, m.host, m.account, m.since_seq, m.since_index, c.life, c.life_seq
     from ${schema}.members as m join ${schema}.channels as c using (channel)
     where m.nick = $1 and ($2::text is null or m.channel = $2) and c.present and c.modes ~ ${privateModes}
       and (m.since_seq, m.since_index) > (c.gap_seq, c.gap_index)
     order by c.channel`,
    [nick, channel ?? null],
  );
  return rows.map(({ since_seq, since_index, life_seq, ...row }) => ({
    ...row,
    since: [since_seq, since_index],
    lifeSince: life_seq,
  }));
}

/** Whether anybody in a channel is identified with an account: so the network has a nick service. */
export async function hasAccounts(sql: Tx, schema: string): Promise<boolean> {
  const found = await sql.query(`select channel from ${schema}.members where account is not null limit 1`);
  return found.length > 0;
}

/** Channels (casefolded) that are private as far as is known, including those that the recorder has left. */
export async function privateIrcChannels(sql: Tx, schema: string): Promise<string[]> {
  const rows = await sql.query<{ channel: string }>(
    `select channel from ${schema}.channels where modes ~ ${privateModes} order by channel`,
  );
  return rows.map(({ channel }) => channel);
}

/** Those of some channels (casefolded) that are private as far as is known, also where the recorder has left them. */
export async function privateIrcAmong(
  sql: Tx,
  schema: string,
  channels: readonly string[],
): Promise<string[]> {
  const columns = `channel, modes ~ ${privateModes} as private`;
  const rows = await rowsOf<{ channel: string; private: boolean }>(
    sql,
    `${schema}.channels`,
    { channel: channels },
    columns,
  );
  return rows.flatMap((row) => (row.private ? [row.channel] : []));
}

/** The present state of a channel, by its casefolded name; `undefined` if it was never recorded. */
export async function ircChannel(
  sql: Tx,
  schema: string,
  channel: string,
): Promise<{ name: string; isPrivate: boolean } | undefined> {
  const [row] = await sql.query<{ name: string; is_private: boolean }>(
    `select name, modes ~ ${privateModes} as is_private from ${schema}.channels where channel = $1`,
    [channel],
  );
  return row && { name: row.name, isPrivate: row.is_private };
}

/** Which lines of a channel are asked for. */
export interface LinesWanted {
  limit: number;
  withPrivate: boolean;
  /** Only lines after this one: the first of them. */
  after?: LinePlace | undefined;
  /** Only lines before this one. */
  before?: LinePlace | undefined;
  /** Without `withPrivate`: what was said in private too, from this place on. */
  privateFrom?: LinePlace | undefined;
}

/**
 * The last lines of a channel, or the first ones after a line, oldest first. The cost does not depend on how
 * many lines there are. Without `withPrivate`: only what was said while the channel was open, in its present
 * life.
 */
export async function ircMessages(
  sql: Tx,
  schema: string,
  channel: { key: string; name: string },
  wanted: LinesWanted,
): Promise<IrcMessage[]> {
  const { limit, withPrivate, after, before, privateFrom: from } = wanted;
  if (withPrivate || !from) return await linesBetween(sql, schema, channel, wanted);
  // two ranges of an index, rather than one that skips what is not for the reader
  const since: LinePlace = [from[0], from[1] - 1];
  const start = after ? { after: isBefore(after, since) ? since : after } : { since };
  const earlier = before && isBefore(before, from) ? before : from;
  const lines = [
    ...(await linesBetween(sql, schema, channel, { limit, withPrivate: false, after, before: earlier })),
    ...(await linesBetween(sql, schema, channel, { limit, withPrivate: true, before, ...start })),
  ];
  return after ? lines.slice(0, limit) : lines.slice(-limit);
}

const isBefore = (a: LinePlace, b: LinePlace): boolean => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);

/** The same of one range; `since` is like `after`, but the last lines are wanted. */
async function linesBetween(
  sql: Tx,
  schema: string,
  channel: { key: string; name: string },
  { limit, withPrivate, after, before, since = after }: LinesWanted & { since?: LinePlace | undefined },
): Promise<IrcMessage[]> {
  const order = after ? 'seq, index' : 'seq desc, index desc';
  const key = withPrivate ? 'channel' : openChannel;
  // compared as a whole key: by the place alone, the planner would expect few lines after it, and sort them
  const place = `((${key}), seq, index)`;
  const rows = await sql.query<StoredLine>(
    `select seq, index, nick, text, at, action, ${answeredLine(schema)} as answered from ${schema}.lines as l
     where ${key} = $1
       ${since ? `and ${place} > ($1, $3, $4)` : ''}
       ${before ? `and ${place} < ($1, ${since ? '$5, $6' : '$3, $4'})` : ''}
     order by ${order} limit $2`,
    [channel.key, limit, ...(since ?? []), ...(before ?? [])],
  );
  if (!after) rows.reverse();
  return rows.map(({ seq, index, at, answered, ...line }) => ({
    id: `${seq}-${index}`,
    channel: channel.name,
    nick: line.nick,
    text: line.text,
    time: at.toISOString(),
    action: line.action,
    ...(answered === null ? {} : { reply_to: answered }),
  }));
}

type StoredLine = Omit<RowOf<typeof lineRows>, 'channel' | 'private'> & {
  answered: string | null;
};

/** The id of the line that a line `l` answers; null where it is no recorded line of the channel. */
const answeredLine = (schema: string): string => `(
  select a.seq || '-' || a.index from ${schema}.replies as r join ${schema}.msgids as a using (msgid)
  where r.seq = l.seq and r.index = l.index and a.channel = l.channel limit 1)`;

/** A line of a channel (casefolded) by its place or its msgid; `undefined` where the channel has none. */
export async function lineOfChannel(
  sql: Tx,
  schema: string,
  channel: string,
  wanted: { place: LinePlace } | { msgid: string },
): Promise<{ place: LinePlace; msgid: string | null; isPrivate: boolean } | undefined> {
  const [condition, params] =
    'msgid' in wanted ? ['m.msgid = $2', [wanted.msgid]] : ['l.seq = $2 and l.index = $3', [...wanted.place]];
  const [row] = await sql.query<{ seq: number; index: number; msgid: string | null; private: boolean }>(
    `select l.seq, l.index, m.msgid, l.private from ${schema}.lines as l
     ${'msgid' in wanted ? '' : 'left'} join ${schema}.msgids as m using (seq, index)
     where ${condition} and l.channel = $1 limit 1`,
    [channel, ...params],
  );
  return row && { place: [row.seq, row.index], msgid: row.msgid, isPrivate: row.private };
}

/** The counts of the network. The cost grows with the members of channels, not with what they said. */
export async function ircCounts(sql: Tx, schema: string): Promise<IrcCounts> {
  const [row] = await sql.query<IrcCounts>(
    `select
       (select count(distinct nick) from ${schema}.members) as users,
       (select count(*) from ${schema}.channels where present) as channels,
       coalesce((select lines from ${schema}.totals), 0) as messages`,
  );
  return row!;
}

/**
 * What a nick (casefolded) said in each channel. What was said in private, then or now, only `withPrivate`.
 */
export async function ircActivity(
  sql: Tx,
  schema: string,
  nick: string,
  withPrivate: boolean,
): Promise<IrcActivity> {
  const rows = await sql.query<{ name: string; lines: number; first_at: Date; last_at: Date }>(
    `select c.name, sum(a.lines)::bigint as lines, min(a.first_at) as first_at, max(a.last_at) as last_at
     from ${schema}.activity as a join ${schema}.channels as c using (channel)
     where a.nick = $1 and ($2::boolean or (not a.private and c.modes !~ ${privateModes}))
     group by c.channel, c.name order by c.channel`,
    [nick, withPrivate],
  );
  const times = rows.flatMap(({ first_at, last_at }) => [first_at.getTime(), last_at.getTime()]);
  return {
    channels: rows.map(({ name }) => name),
    messages: rows.reduce((sum, { lines }) => sum + lines, 0),
    first_seen: times.length > 0 ? new Date(Math.min(...times)).toISOString() : null,
    last_active: times.length > 0 ? new Date(Math.max(...times)).toISOString() : null,
  };
}
