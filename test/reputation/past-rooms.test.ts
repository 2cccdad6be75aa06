import t, { type Test } from 'tap';
import { channelDirectory } from '../../projections/channels/directory.js';
import type { Param, Sql } from '../../projections/core/sql.js';
import { ircNetwork } from '../../projections/network/tables.js';
import { reputations } from '../../projections/reputation/tables.js';
import { nobody } from '../../src/operations/core/caller.js';
import { listFeedback } from '../../src/operations/reputation/feedback.js';
import {
  getChannelStanding,
  isPrivateNow,
  listBestChannels,
  type ReputationParts,
} from '../../src/operations/reputation/index.js';
import type { Recorded } from '../../streams/core/index.js';
import { eachSql } from '../support/sql.js';

const rooms = 3_000;
/** The names that match a request: of an open channel, of a room as the service wants it, as it was seen, and of a paid one. */
const names = { open: '#lobby', managed: '#task-7', seen: '#relay-9', paid: '#alpha' };
const now = new Date('2026-03-01T00:00:00Z');

/** Feedback that was given in each of some channels while they were open, the best first. */
function given(channels: readonly string[]): Recorded[] {
  return channels.map((channel, n) => ({
    type: 'feedback.given',
    data: {
      ...{ from: `ann${n}`, nick: 'bob', channel, comment: `in ${channel}` },
      rating: Math.max(1, 5 - n),
      day: '2026-02-28',
    },
    ...{ id: `f${n}`, stream: 'REPUTATION', subject: 'any', seq: n + 1, by: 'test', cause: null },
    at: new Date('2026-02-28T12:00:00Z'),
  }));
}

eachSql(t, async (t, open) => {
  const { sql } = await open();
  const schemas = { channel_directory: 'managed', irc_network: 'seen', reputation: 'rated' };
  for (const { name, ddl } of [channelDirectory, ircNetwork, reputations]) {
    const schema = schemas[name as keyof typeof schemas];
    await sql.query(`create schema ${schema}; ${ddl(schema)}`);
  }
  await sql.query(
    `insert into managed.channels
     select '#task-' || n, 'task', '+int', '', '{}', '[]', '[]', n, now(), now(), 'done', now(), now(), now()
     from generate_series(1, ${rooms}) as n`,
  );
  await sql.query(
    `insert into seen.channels select '#relay-' || n, '#relay-' || n, '', 'ints', 0, false, n, n, 0, 0, now()
     from generate_series(1, ${rooms}) as n`,
  );
  await sql.query(
    `insert into seen.channels values ('#lobby', '#lobby', '', 'nt', 3, true, 1, 1, 0, 0, now())`,
  );
  const rated = [names.managed, names.seen, names.paid, '#task-8', names.open, '#other'];
  await sql.transaction((tx) => reputations.apply(tx, given(rated), 'rated'));
  await sql.query('analyze');

  /** What was asked of the read models, and how much went there and came back. */
  let asked: { text: string; params: Param[]; values: number }[] = [];
  const watched = {
    query: async (text: string, params: Param[] = []) => {
      const rows = await sql.query(text, params);
      const sent = params.flat().length;
      asked.push({ text, params, values: sent + rows.length });
      return rows;
    },
  } as Sql;
  const read = async <T>(name: string, query: (sql: Sql, schema: string) => Promise<T>) =>
    await query(watched, schemas[name as keyof typeof schemas]);
  const parts = {
    log: { now: () => now, last: async () => ({ stream: 'any', seq: 1 }) },
    readModels: { read, readAt: read },
    reputation: {
      rows: {
        read: async <T, Args extends unknown[]>(
          query: (sql: Sql, schema: string, ...args: Args) => Promise<T>,
          ...args: Args
        ) => await query(watched, 'rated', ...args),
      },
      paidChannels: [names.paid],
    },
  } as unknown as ReputationParts;

  /** Each query has sent and brought a few values, and has looked rooms up by their names. */
  const wereCheap = async (t: Test) => {
    t.ok(asked.length > 0);
    for (const { text, params, values } of asked) {
      t.ok(values <= 50, `${values} values: ${text}`);
      if (!/(managed|seen)\.channels/.test(text)) continue;
      const plan = await sql.query<{ 'QUERY PLAN': string }>(`explain ${text}`, params);
      const lines = plan.map((row) => row['QUERY PLAN']).join('\n');
      t.notMatch(lines, /Seq Scan on channels/, text);
    }
    asked = [];
  };

  t.test('REP-20 who rated a nick', async (t) => {
    const { feedback } = await listFeedback.run({ nick: 'Bob', limit: 20, before: undefined }, nobody, parts);
    t.same(
      feedback.map(({ channel }) => channel),
      ['#other', '#lobby', null, null, null, null],
    );
    t.same(feedback.map(({ comment }) => comment).slice(1, 3), ['in #lobby', null]);
    await wereCheap(t);
  });

  t.test('REP-20 the reputation of one channel', async (t) => {
    const standing = async (channel: string) => await getChannelStanding.run({ channel }, nobody, parts);
    t.match(await standing('#Lobby'), { channel: '#lobby', total_feedback: 1 });
    for (const channel of [names.managed, names.seen, names.paid])
      await t.rejects(standing(channel), { code: 'not_found' }, channel);
    await wereCheap(t);
  });

  t.test('REP-20 the best channels', async (t) => {
    const best = async (limit: number) =>
      (await listBestChannels.run({ limit }, nobody, parts)).channels.map(({ channel }) => channel);
    t.same(await best(1), ['#lobby'], 'those left out take no place');
    t.same(await best(2), ['#lobby', '#other']);
    t.same(await best(10), ['#lobby', '#other']);
    await wereCheap(t);
  });

  t.test('REP-20 whether a rating is private', async (t) => {
    for (const channel of [names.managed, names.seen, names.paid])
      t.equal(await isPrivateNow(channel.toUpperCase(), parts), true, channel);
    for (const channel of [names.open, '#nowhere'])
      t.equal(await isPrivateNow(channel, parts), false, channel);
    await wereCheap(t);
  });
});
