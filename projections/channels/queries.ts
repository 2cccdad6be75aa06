import { type ChannelType, channelTypes } from '../../streams/channels/index.js';
import { rowsOf } from '../core/rows.js';
import type { Tx } from '../core/sql.js';
import type { Operation, StoredChannel } from './directory.js';

/** The contract's managed channel; times are ISO 8601. */
export interface ManagedChannel {
  name: string;
  type: ChannelType;
  modes: string;
  topic: string;
  metadata: Record<string, unknown>;
  created_at: string;
  archived_at: string | null;
  archive_reason: string | null;
  delete_after: string | null;
  deleted_at: string | null;
}

/** The contract's channel operation, an audit record. */
export interface ChannelOperation {
  id: number;
  channel: string;
  operation: Operation;
  target_nick: string | null;
  details: string;
  /** ISO 8601. */
  created_at: string;
}

/** The contract's statistics of the channel service. `total` includes the archived channels. */
export interface ChannelStatistics {
  total: number;
  byType: Record<ChannelType, number>;
  archived: number;
  operationsToday: number;
}

/** The wanted state of a channel on the network, as far as commands set it. */
export interface WantedChannel {
  name: string;
  type: ChannelType;
  modes: string;
  topic: string;
  /** Nicks that were invited and not parted since. */
  invited: string[];
  isArchived: boolean;
  createdAt: Date;
}

/** Modes that make a channel private, as in `isPrivate`. */
const isPrivate = `split_part(modes, ' ', 1) ~ '[spik]'`;

/**
 * All channels that are not deleted, by name. `type` keeps only that type. Private ones only `withPrivate`.
 */
export async function managedChannels(
  sql: Tx,
  schema: string,
  { type, withPrivate }: { type?: ChannelType | undefined; withPrivate: boolean },
): Promise<ManagedChannel[]> {
  const rows = await sql.query<StoredChannel>(
    `select * from ${schema}.channels
     where deleted_at is null and type = any($1::text[]) and ($2::boolean or not ${isPrivate}) order by name`,
    [type ? [type] : channelTypes, withPrivate],
  );
  return rows.map(channelView);
}

/** One channel; `undefined` if it does not exist, was deleted, or is private and `withPrivate` is false. */
export async function managedChannel(
  sql: Tx,
  schema: string,
  name: string,
  withPrivate = true,
): Promise<ManagedChannel | undefined> {
  const [row] = await sql.query<StoredChannel>(
    `select * from ${schema}.channels
     where name = $1 and deleted_at is null and ($2::boolean or not ${isPrivate})`,
    [name, withPrivate],
  );
  return row && channelView(row);
}

/** The nicks that a channel names in its present life: those it was made for, and all who were asked in. */
export interface NamedNicks {
  /** Sequence of the fact that made the channel. */
  life: number;
  founding: string[];
  invited: string[];
}

/** The nicks that a channel names; `undefined` if it does not exist or was deleted. */
export async function namedIn(sql: Tx, schema: string, name: string): Promise<NamedNicks | undefined> {
  const [row] = await sql.query<Pick<StoredChannel, 'life' | 'founding' | 'invited'>>(
    `select life, founding, invited from ${schema}.channels where name = $1 and deleted_at is null`,
    [name],
  );
  if (!row) return undefined;
  const { life, founding, invited } = row;
  return { life, founding: JSON.parse(founding) as string[], invited: JSON.parse(invited) as string[] };
}

/** Those of some channels whose last wanted modes were private. Includes deleted channels. */
export async function privateManagedAmong(
  sql: Tx,
  schema: string,
  names: readonly string[],
): Promise<string[]> {
  const columns = `name, ${isPrivate} as private`;
  const rows = await rowsOf<{ name: string; private: boolean }>(
    sql,
    `${schema}.channels`,
    { name: names },
    columns,
  );
  return rows.flatMap((row) => (row.private ? [row.name] : []));
}

/**
 * The newest audit records of a channel name, newest first, including those from before a deletion. Without
 * `withPrivate`, records of a private channel are left out, and those from a time when it was private.
 */
export async function channelOperations(
  sql: Tx,
  schema: string,
  { name, limit, withPrivate }: { name: string; limit: number; withPrivate: boolean },
): Promise<ChannelOperation[]> {
  const rows = await sql.query<Omit<ChannelOperation, 'created_at'> & { created_at: Date }>(
    `select id, channel, operation, target_nick, details, created_at from ${schema}.operations
     where channel = $1 and ($3::boolean or not private
       and not exists (select 1 from ${schema}.channels where name = $1 and ${isPrivate}))
     order by id desc limit $2`,
    [name, limit, withPrivate],
  );
  return rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() }));
}

/**
 * How many channels there are, and what was done on the day of `now` (UTC). Private ones, and what was done in
 * them, only `withPrivate`.
 */
export async function channelStatistics(
  sql: Tx,
  schema: string,
  { now, withPrivate }: { now: Date; withPrivate: boolean },
): Promise<ChannelStatistics> {
  const types = await sql.query<{ type: ChannelType; channels: number; archived: number }>(
    `select type, count(*) as channels, count(archived_at) as archived
     from ${schema}.channels where deleted_at is null and ($1::boolean or not ${isPrivate}) group by type`,
    [withPrivate],
  );
  const day = now.toISOString().slice(0, 10);
  const [today] = await sql.query<{ operations: number }>(
    withPrivate
      ? `select operations from ${schema}.days where day = $1::date`
      : `select count(*) as operations from ${schema}.operations as o
         where (created_at at time zone 'UTC')::date = $1::date and created_at >= $1::date - interval '1 day'
         and not private
         and not exists (select 1 from ${schema}.channels where name = o.channel and ${isPrivate})`,
    [day],
  );
  const byType = Object.fromEntries(channelTypes.map((type) => [type, 0])) as Record<ChannelType, number>;
  for (const { type, channels } of types) byType[type] = channels;
  return {
    total: types.reduce((sum, { channels }) => sum + channels, 0),
    byType,
    archived: types.reduce((sum, { archived }) => sum + archived, 0),
    operationsToday: today?.operations ?? 0,
  };
}

/** The channels that are neither deleted nor archived: name and type. */
export async function activeChannels(
  sql: Tx,
  schema: string,
): Promise<{ name: string; type: ChannelType }[]> {
  return await sql.query<{ name: string; type: ChannelType }>(
    `select name, type from ${schema}.channels where deleted_at is null and archived_at is null`,
  );
}

/** The names of channels of a type that are neither deleted nor archived and were made after a time, newest first. */
export async function newestChannels(
  sql: Tx,
  schema: string,
  { type, since, limit }: { type: ChannelType; since: Date; limit: number },
): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `select name from ${schema}.channels c
     where type = $1 and deleted_at is null and archived_at is null and created_at > $2
     order by created_at desc, (
       select max(id) from ${schema}.operations o where o.channel = c.name and o.operation = 'create'
     ) desc limit $3`,
    [type, since, limit],
  );
  return rows.map(({ name }) => name);
}

/** The operations since a time that count against the hourly limits: when each was done, oldest first. */
export async function limitedOperations(
  sql: Tx,
  schema: string,
  since: Date,
): Promise<{ creations: Date[]; deletions: Date[]; memberOperations: Date[] }> {
  const rows = await sql.query<{ operation: Operation; created_at: Date }>(
    `select operation, created_at from ${schema}.operations
     where created_at > $1 and cause = 'request' and operation not in ('topic', 'samode', 'archive') order by id`,
    [since],
  );
  const of = (wanted: (operation: Operation) => boolean) =>
    rows.filter(({ operation }) => wanted(operation)).map(({ created_at }) => created_at);
  return {
    creations: of((operation) => operation === 'create'),
    deletions: of((operation) => operation === 'delete'),
    memberOperations: of((operation) => operation !== 'create' && operation !== 'delete'),
  };
}

/** All channels that should exist on the network. */
export async function wantedChannels(sql: Tx, schema: string): Promise<WantedChannel[]> {
  const rows = await sql.query<StoredChannel>(
    `select name, type, modes, topic, invited, archived_at, created_at
     from ${schema}.channels where deleted_at is null order by name`,
  );
  return rows.map(({ name, type, modes, topic, invited, archived_at, created_at }) => ({
    name,
    type,
    modes,
    topic,
    invited: JSON.parse(invited) as string[],
    isArchived: archived_at !== null,
    createdAt: created_at,
  }));
}

/** The names that were managed and are deleted now. */
export async function deletedAmong(sql: Tx, schema: string, names: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `select c.name from unnest($1::text[]) as asked (name)
     join lateral (select * from ${schema}.channels where name = asked.name limit 1) as c on true
     where c.deleted_at is not null`,
    [names],
  );
  return rows.map(({ name }) => name);
}

/** What time has made due, by name. */
export interface DueChannels {
  /** Archived, and kept as long as was said. */
  toDelete: string[];
  /** Geographic, not archived, and without an audit record for a long time. */
  idle: string[];
  /** The same for categories. Somebody may still be in them. */
  idleCategories: string[];
  /** Not archived although their task or relay ended long ago. */
  ended: string[];
}

/** What is due at `now`; the periods are in milliseconds. */
export async function dueChannels(
  sql: Tx,
  schema: string,
  now: Date,
  { geographicIdleMs, endedTaskMs }: { geographicIdleMs: number; endedTaskMs: number },
): Promise<DueChannels> {
  const names = async (query: string, beforeMs: number) => {
    const rows = await sql.query<{ name: string }>(query, [new Date(now.getTime() - beforeMs)]);
    return rows.map(({ name }) => name);
  };
  const idle = (type: ChannelType) =>
    `select name from ${schema}.channels
     where deleted_at is null and type = '${type}' and archived_at is null and last_operation_at <= $1
     order by name`;
  return {
    toDelete: await names(
      `select name from ${schema}.channels
       where deleted_at is null and delete_after is not null and delete_after <= $1 order by delete_after, name`,
      0,
    ),
    idle: await names(idle('geographic'), geographicIdleMs),
    idleCategories: await names(idle('category'), geographicIdleMs),
    ended: await names(
      `select c.name from ${schema}.channels as c
       join lateral (select * from ${schema}.endings where channel = c.name limit 1) as e on true
       where c.deleted_at is null and c.type in ('task', 'relay') and c.archived_at is null
         and e.ended_at >= c.created_at and e.ended_at <= $1
       order by c.name`,
      endedTaskMs,
    ),
  };
}

function channelView(row: StoredChannel): ManagedChannel {
  const { name, type, modes, topic, archive_reason } = row;
  return {
    name,
    type,
    modes,
    topic,
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    created_at: row.created_at.toISOString(),
    archived_at: row.archived_at?.toISOString() ?? null,
    archive_reason,
    delete_after: row.delete_after?.toISOString() ?? null,
    deleted_at: row.deleted_at?.toISOString() ?? null,
  };
}
