import t, { type Test } from 'tap';
import { channelDirectory } from '../../projections/channels/directory.js';
import {
  channelOperations,
  channelStatistics,
  deletedAmong,
  dueChannels,
  limitedOperations,
  managedChannel,
  managedChannels,
  wantedChannels,
} from '../../projections/channels/queries.js';
import type { Sql } from '../../projections/core/sql.js';
import type { ChannelFact } from '../../streams/channels/index.js';
import type { Recorded } from '../../streams/core/index.js';
import { eachSql } from '../support/sql.js';

const day = 86_400_000;
const start = Date.parse('2026-03-01T00:00:00Z');
const at = (days: number) => new Date(start + days * day);

/** Facts of the channels' stream, each at a day of March 2026. */
function history(): Recorded[] {
  const facts: Recorded[] = [];
  const tell = (days: number, fact: ChannelFact, by = 'ann') => {
    const seq = facts.length + 1;
    facts.push({
      ...fact,
      id: `c${seq}`,
      stream: 'CHANNELS',
      subject: 'any',
      seq,
      at: at(days),
      by,
      cause: null,
    });
  };
  const created = (
    name: string,
    fields: Partial<Extract<ChannelFact, { type: 'channel.created' }>['data']> = {},
  ) =>
    ({
      type: 'channel.created',
      data: {
        name,
        type: 'special',
        modes: '+nt',
        topic: '',
        metadata: {},
        invite_list: [],
        cause: 'request',
        ...fields,
      },
    }) as ChannelFact;
  const archived = (name: string, days: number, cause: 'request' | 'lifecycle' = 'request'): ChannelFact => ({
    type: 'channel.archived',
    data: { name, reason: 'Done', delete_after: at(days).toISOString(), cause },
  });
  tell(
    0,
    created('#task-1', {
      type: 'task',
      modes: '+int',
      metadata: { task_id: '1', n: '\0' },
      invite_list: ['Ann', 'bob'],
    }),
    'automation',
  );
  tell(0, created('#city-lisbon', { type: 'geographic', topic: 'Tasks in Lisbon', cause: 'automation' }));
  tell(0, created('#city-porto', { type: 'geographic' }));
  tell(1, { type: 'topic.changed', data: { name: '#city-porto', topic: 'Porto' } });
  tell(1, { type: 'modes.changed', data: { name: '#city-porto', change: '+s', modes: '+nts' } });
  tell(2, {
    type: 'members.changed',
    data: { name: '#task-1', action: 'voice', nicks: ['ann', 'bob'], reason: '' },
  });
  tell(2, {
    type: 'members.changed',
    data: { name: '#task-1', action: 'sapart', nicks: ['ann'], reason: 'left' },
  });
  tell(2, { type: 'members.invited', data: { name: '#task-1', nicks: ['carl', 'BOB'], event_seq: 4 } });
  tell(3, archived('#task-1', 10));
  tell(4, created('#old'));
  tell(5, { type: 'channel.deleted', data: { name: '#old', cause: 'request' } });
  tell(6, created('#again'));
  tell(6, { type: 'channel.deleted', data: { name: '#again', cause: 'lifecycle' } });
  tell(7, created('#again', { type: 'skill' }));
  tell(7, archived('#city-lisbon', 14, 'lifecycle'));
  for (let n = 0; n < 40; n++)
    tell(8 + n / 100, created(`#task-x${n}`, { type: 'task', cause: 'automation' }));
  return facts;
}

/** Endings of tasks in the market stream. */
function endings(): Recorded[] {
  const events = [
    ['task.published', 'x0', 9],
    ['task.completed', 'x1', 9],
    ['task.expired', 'x2', 10],
    ['task.cancelled', 'x3', 1],
    ['task.approved', '1', 9],
    ['task.rejected', 'x4', 9],
    ['task.expired', 'x5', 9],
    ['task.assigned', 'x5', 9.5],
    ['task.expired', 'x6', 9],
    ['task.assigned', 'x6', 9.5],
    ['task.expired', 'x6', 10],
  ] as const;
  return events.map(([event_type, id, days], index) => ({
    type: 'event.received',
    id: `m${index}`,
    stream: 'MARKET',
    subject: 'any',
    seq: index + 1,
    at: at(days),
    by: 'market',
    cause: null,
    data: {
      event_id: `${index}`,
      event_type,
      source: 'market',
      payload: { id },
      target_channels: [],
      formatted_message: '',
    },
  }));
}

async function fold(sql: Sql, schema: string, facts: Recorded[], batch: number): Promise<void> {
  for (let from = 0; from < facts.length; from += batch) {
    await sql.transaction((tx) => channelDirectory.apply(tx, facts.slice(from, from + batch), schema));
  }
}

async function contents(sql: Sql, schema: string): Promise<Record<string, unknown[]>> {
  const read = (table: string, order: string) =>
    sql.query(`select * from ${schema}.${table} order by ${order}`);
  return {
    channels: await read('channels', 'name'),
    operations: await read('operations', 'id'),
    days: await read('days', 'day'),
    endings: await read('endings', 'channel'),
  };
}

const channels = history();
const market = endings();

eachSql(t, async (t, open) => {
  const { sql } = await open();
  let first: Record<string, unknown[]> | undefined;
  for (const [schema, batch, order] of [
    ['one_by_one', 1, [channels, market]],
    ['in_sevens', 7, [market, channels]],
    ['at_once', 1_000, [channels, market]],
  ] as const) {
    t.test(`CHAN-17 the same rows, folded ${schema}`, async (t) => {
      await sql.query(`create schema ${schema}; ${channelDirectory.ddl(schema)}`);
      for (const facts of order) await fold(sql, schema, facts, batch);
      const rows = await contents(sql, schema);
      t.equal(rows.operations!.length, 57);
      t.same(
        rows.operations!.map((row) => (row as { id: number }).id),
        Array.from({ length: 57 }, (_, n) => n + 1),
      );
      first ??= rows;
      t.same(rows, first);
    });
  }
  await t.test('CHAN-02 CHAN-16 CHAN-68 what is listed and shown', (t) => reads(t, sql, 'in_sevens'));
  await t.test('CHAN-18 CHAN-19 CHAN-20 what time makes due', (t) => due(t, sql, 'in_sevens'));
});

async function reads(t: Test, sql: Sql, schema: string): Promise<void> {
  const all = await managedChannels(sql, schema, { withPrivate: true });
  t.equal(all.length, 44);
  t.notOk(all.some(({ name }) => name === '#old'));
  t.same(
    (await managedChannels(sql, schema, { type: 'geographic', withPrivate: true })).map(({ name }) => name),
    ['#city-lisbon', '#city-porto'],
  );
  t.same(await managedChannel(sql, schema, '#task-1'), {
    name: '#task-1',
    type: 'task',
    modes: '+intm',
    topic: '[ARCHIVED] Done',
    metadata: { task_id: '1', n: '\ufffd' },
    created_at: at(0).toISOString(),
    archived_at: at(3).toISOString(),
    archive_reason: 'Done',
    delete_after: at(10).toISOString(),
    deleted_at: null,
  });
  t.equal(await managedChannel(sql, schema, '#old'), undefined);
  t.equal(await managedChannel(sql, schema, '#never'), undefined);
  t.match(await managedChannel(sql, schema, '#again'), { type: 'skill', created_at: at(7).toISOString() });
  t.match(await managedChannel(sql, schema, '#city-lisbon'), { topic: '[ARCHIVED]', modes: '+ntm' });

  const records = await channelOperations(sql, schema, { name: '#task-1', limit: 10, withPrivate: true });
  t.same(
    records.map(({ operation, target_nick, details }) => [operation, target_nick, details]),
    [
      ['archive', null, 'Done (by ann)'],
      ['sajoin', 'BOB', 'asked in (by ann)'],
      ['sajoin', 'carl', 'asked in (by ann)'],
      ['sapart', 'ann', 'left (by ann)'],
      ['voice', 'bob', 'by ann'],
      ['voice', 'ann', 'by ann'],
      ['create', null, 'task +int (by automation)'],
    ],
  );
  t.same(
    (await channelOperations(sql, schema, { name: '#task-1', limit: 2, withPrivate: true })).map(
      ({ id }) => id,
    ),
    records.slice(0, 2).map(({ id }) => id),
  );
  t.same(
    (await channelOperations(sql, schema, { name: '#again', limit: 10, withPrivate: true })).map(
      ({ operation }) => operation,
    ),
    ['create', 'lifecycle-delete', 'create'],
  );
  const ofPublic = await managedChannels(sql, schema, { withPrivate: false });
  t.equal(ofPublic.length, all.filter(({ modes }) => !/[spik]/.test(modes)).length);
  t.notOk(ofPublic.some(({ name }) => name === '#task-1'));
  t.equal(await managedChannel(sql, schema, '#task-1', false), undefined);
  t.match(await managedChannel(sql, schema, '#city-lisbon', false), { name: '#city-lisbon' });
  t.same(await channelOperations(sql, schema, { name: '#task-1', limit: 10, withPrivate: false }), []);
  t.same(await channelStatistics(sql, schema, { now: at(7), withPrivate: true }), {
    total: 44,
    byType: { task: 41, geographic: 2, category: 0, skill: 1, relay: 0, special: 0, permanent: 0 },
    archived: 2,
    operationsToday: 2,
  });
  t.match(await channelStatistics(sql, schema, { now: at(20), withPrivate: true }), { operationsToday: 0 });
  const seen = await channelStatistics(sql, schema, { now: at(7), withPrivate: false });
  t.equal(seen.total, ofPublic.length);
  t.equal(seen.byType.task, ofPublic.filter(({ type }) => type === 'task').length);
  t.equal(seen.archived, ofPublic.filter(({ archived_at }) => archived_at !== null).length);

  const limited = await limitedOperations(sql, schema, at(1));
  t.same(limited.creations, [at(4), at(6), at(7)], 'not those of automation');
  t.same(limited.deletions, [at(5)], 'not those of time');
  t.same(limited.memberOperations, [at(2), at(2), at(2)], 'each nick counts');

  const wanted = await wantedChannels(sql, schema);
  t.equal(wanted.length, 44);
  t.match(
    wanted.find(({ name }) => name === '#task-1'),
    { invited: ['bob', 'carl'], isArchived: true, modes: '+intm' },
  );
  t.same(await deletedAmong(sql, schema, ['#old', '#again', '#never', '#task-1']), ['#old']);
}

async function due(t: Test, sql: Sql, schema: string): Promise<void> {
  const periods = { geographicIdleMs: 30 * day, endedTaskMs: 3 * day };
  const on = (days: number) => dueChannels(sql, schema, at(days), periods);
  t.same(await on(9.9), { toDelete: [], idle: [], idleCategories: [], ended: [] });
  t.same(await on(12), { toDelete: ['#task-1'], idle: [], idleCategories: [], ended: ['#task-x1'] });
  t.same(
    await on(31),
    {
      toDelete: ['#task-1', '#city-lisbon'],
      idle: ['#city-porto'],
      idleCategories: [],
      ended: ['#task-x1', '#task-x2', '#task-x6'],
    },
    'an ending before the channel was created, or before its task was assigned again, is none of it',
  );
}
