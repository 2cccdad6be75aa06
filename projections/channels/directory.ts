import {
  archivedLook,
  type ChannelCause,
  type ChannelFact,
  type ChannelType,
  channels,
  withNicks,
  withoutNicks,
} from '../../streams/channels/index.js';
import type { Recorded } from '../../streams/core/index.js';
import { effectsOf, type MarketFact, market } from '../../streams/events/index.js';
import { isPrivate } from '../../streams/irc-grammar.js';
import { defineProjection } from '../core/projection.js';
import { type RowOf, Rows, rowsOf } from '../core/rows.js';
import { json, type Tx } from '../core/sql.js';
import { aboutDirectory } from './about.js';

/** What an audit record says was done; the contract's words. */
export type Operation =
  | 'create'
  | 'sajoin'
  | 'sapart'
  | 'topic'
  | 'samode'
  | 'voice'
  | 'devoice'
  | 'op'
  | 'deop'
  | 'archive'
  | 'delete'
  | 'lifecycle-archive'
  | 'lifecycle-delete';

const channelRows = new Rows({
  name: 'text collate "C" primary key',
  type: 'text not null',
  modes: 'text not null',
  topic: 'text not null',
  // JSON
  metadata: 'text not null',
  // JSON of the nicks that were asked in and not parted since
  invited: 'text not null',
  // the same, of those who were asked in when it was made
  founding: 'text not null',
  // sequence of the fact that made it
  life: 'bigint not null',
  created_at: 'timestamptz not null',
  archived_at: 'timestamptz',
  archive_reason: 'text',
  delete_after: 'timestamptz',
  deleted_at: 'timestamptz',
  last_operation_at: 'timestamptz not null',
});

/**
 * The managed channels and what was done in them. `channels` has one row for each name ever used: the row of a
 * deleted channel stays until its name is taken again. `operations` are the audit records, counted from 1 in the
 * order of the log. `endings` comes from the market stream alone, so that either stream may be folded first. A task that
 * is assigned again has none any more.
 */
export const channelDirectory = defineProjection({
  name: 'channel_directory',
  version: 5,
  streams: [channels, market],
  about: aboutDirectory,
  ddl: (schema) => `
    ${channelRows.create(`${schema}.channels`)}
    create index on ${schema}.channels (type, name) where deleted_at is null;
    create index on ${schema}.channels (delete_after) where deleted_at is null and delete_after is not null;
    create table ${schema}.operations (
      id bigint primary key,
      channel text collate "C" not null,
      operation text not null,
      target_nick text,
      details text not null,
      cause text not null,
      created_at timestamptz not null,
      -- the channel was private before or after it
      private boolean not null
    );
    create index on ${schema}.operations (channel, id);
    create index on ${schema}.operations (created_at);
    create table ${schema}.days (day date primary key, operations bigint not null);
    create table ${schema}.endings (channel text collate "C" primary key, ended_at timestamptz not null)`,
  apply: async (tx, facts, schema) => {
    const managed = facts.filter((fact) => fact.stream === channels.name) as Recorded<ChannelFact>[];
    const events = facts.filter((fact) => fact.stream === market.name) as Recorded<MarketFact>[];
    if (managed.length > 0) {
      const wasPrivate = await changeChannels(tx, managed, schema);
      const records = managed.flatMap((fact) => operationsOf(fact, wasPrivate.has(fact)));
      await addOperations(tx, records, schema);
    }
    if (events.length > 0) await addEndings(tx, events, schema);
  },
});

/** A row of `channels` as it is stored. */
export type StoredChannel = RowOf<typeof channelRows> & { type: ChannelType };

/** Whether a channel is private by its modes, parameters and all. */
const isPrivateBy = ({ modes }: { modes: string }) => isPrivate(modes.split(' ', 1)[0]!);

/** Changes the rows of channels; resolves with the facts of channels that were private before or after them. */
async function changeChannels(
  tx: Tx,
  facts: Recorded<ChannelFact>[],
  schema: string,
): Promise<Set<Recorded<ChannelFact>>> {
  const names = [...new Set(facts.map(({ data }) => data.name))];
  const stored = await rowsOf<StoredChannel>(tx, `${schema}.channels`, { name: names });
  const rows = new Map(stored.map((row) => [row.name, row]));
  const ofPrivate = new Set<Recorded<ChannelFact>>();
  for (const fact of facts) {
    const before = rows.get(fact.data.name);
    const row = rowAfter(before, fact);
    if (!row) continue;
    rows.set(row.name, row);
    const isBorn = fact.type === 'channel.created';
    if (isPrivateBy(row) || (before && !isBorn && isPrivateBy(before))) ofPrivate.add(fact);
  }
  await tx.query(
    `insert into ${schema}.channels select * from ${channelRows.from('changed')}
     on conflict (name) do update set ${channelRows.replaced('name')}`,
    channelRows.params([...rows.values()]),
  );
  return ofPrivate;
}

/** A channel's row after one more fact; nothing is known of a channel whose creation the stream no longer has. */
function rowAfter(before: StoredChannel | undefined, fact: Recorded<ChannelFact>): StoredChannel | undefined {
  const { type, data, at, seq } = fact;
  if (type === 'channel.created') {
    return {
      name: data.name,
      type: data.type,
      modes: data.modes,
      topic: data.topic,
      metadata: json(data.metadata),
      invited: json(data.invite_list),
      founding: json(data.invite_list),
      life: seq,
      created_at: at,
      archived_at: null,
      archive_reason: null,
      delete_after: null,
      deleted_at: null,
      last_operation_at: at,
    };
  }
  if (!before) return undefined;
  const row = { ...before, last_operation_at: at };
  switch (type) {
    case 'topic.changed':
      return { ...row, topic: data.topic };
    case 'modes.changed':
      return { ...row, modes: data.modes };
    case 'members.changed':
      if (data.action !== 'sapart') return row;
      return {
        ...row,
        invited: without(row.invited, data.nicks),
        founding: without(row.founding, data.nicks),
      };
    case 'members.invited':
      return { ...row, invited: json(withNicks(JSON.parse(row.invited) as string[], data.nicks)) };
    case 'channel.archived':
      return {
        ...row,
        ...archivedLook(row, data),
        archived_at: at,
        archive_reason: data.reason,
        delete_after: new Date(data.delete_after),
      };
    case 'channel.deleted':
      return { ...row, deleted_at: at };
  }
}

const without = (nicks: string, others: readonly string[]): string =>
  json(withoutNicks(JSON.parse(nicks) as string[], others));

interface OperationRow {
  channel: string;
  operation: Operation;
  target_nick: string | null;
  details: string;
  cause: ChannelCause;
  created_at: Date;
  private: boolean;
}

const operationRows = new Rows({
  channel: 'text',
  operation: 'text',
  target_nick: 'text',
  details: 'text',
  cause: 'text',
  created_at: 'timestamptz',
  private: 'boolean',
});

/** The audit records of a fact: one for each nick where it is about nicks. */
function operationsOf(fact: Recorded<ChannelFact>, ofPrivate: boolean): OperationRow[] {
  const { type, data, at, by } = fact;
  const record = (
    operation: Operation,
    what: string,
    cause: ChannelCause = 'request',
    target_nick: string | null = null,
  ): OperationRow => {
    const details = what === '' ? `by ${by}` : `${what} (by ${by})`;
    const when = { created_at: at, private: ofPrivate };
    return { channel: data.name, operation, target_nick, details, cause, ...when };
  };
  const byTime = <T extends 'archive' | 'delete'>(operation: T, cause: ChannelCause) =>
    cause === 'lifecycle' ? (`lifecycle-${operation}` as const) : operation;
  switch (type) {
    case 'channel.created':
      return [record('create', `${data.type} ${data.modes}`, data.cause)];
    case 'topic.changed':
      return [record('topic', data.topic)];
    case 'modes.changed':
      return [record('samode', data.change)];
    case 'members.changed':
      return data.nicks.map((nick) => record(data.action, data.reason, data.cause, nick));
    case 'members.invited':
      return data.nicks.map((nick) => record('sajoin', 'asked in', 'automation', nick));
    case 'channel.archived':
      return [record(byTime('archive', data.cause), data.reason, data.cause)];
    case 'channel.deleted':
      return [record(byTime('delete', data.cause), '', data.cause)];
  }
}

async function addOperations(tx: Tx, rows: OperationRow[], schema: string): Promise<void> {
  await tx.query(
    `with added as (
       select * from ${operationRows.from('added', { numbered: true })}
     ), counted as (
       insert into ${schema}.days (day, operations)
       select (created_at at time zone 'UTC')::date, count(*) from added group by 1
       on conflict (day) do update set operations = days.operations + excluded.operations
     )
     insert into ${schema}.operations
     select (select coalesce(max(id), 0) from ${schema}.operations) + n, ${operationRows.names} from added`,
    operationRows.params(rows),
  );
}

async function addEndings(tx: Tx, events: Recorded<MarketFact>[], schema: string): Promise<void> {
  const endings = new Map<string, Date | null>();
  for (const { data, at } of events) {
    const { open, close } = effectsOf(data);
    // a task that is assigned again has not ended
    if (open?.type === 'task') endings.set(open.name, null);
    if (close) endings.set(close.name, at);
  }
  if (endings.size === 0) return;
  const ended = [...endings].filter(([, at]) => at !== null);
  await tx.query(`delete from ${schema}.endings where channel = any($1::text[])`, [[...endings.keys()]]);
  await tx.query(`insert into ${schema}.endings select * from unnest($1::text[], $2::timestamptz[])`, [
    ended.map(([channel]) => channel),
    ended.map(([, at]) => at),
  ]);
}
