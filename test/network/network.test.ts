import t from 'tap';
import type { Sql } from '../../projections/core/sql.js';
import {
  ircActivity,
  ircChannel,
  ircChannels,
  ircCounts,
  ircMessages,
  ircNetwork,
} from '../../projections/network/queries.js';
import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { isLine, isPrivate } from '../../streams/network/index.js';
import { eachSql } from '../support/sql.js';
import { expectedNetwork, networkHistory, observed } from './network-history.js';

async function fold(sql: Sql, schema: string, facts: Recorded[], batch: number): Promise<void> {
  await sql.query(`create schema ${schema}; ${ircNetwork.ddl(schema)}`);
  for (let from = 0; from < facts.length; from += batch) {
    await sql.transaction((tx) => ircNetwork.apply(tx, facts.slice(from, from + batch), schema));
  }
}

async function everything(sql: Sql, schema: string): Promise<unknown[][]> {
  const tables = ['channels', 'members', 'lines', 'activity', 'days', 'totals'];
  return await Promise.all(
    tables.map((table) => sql.query(`select * from ${schema}.${table} as row order by row`)),
  );
}

const history = networkHistory(300);
const expected = expectedNetwork(history);

eachSql(t, async (t, open) => {
  const { sql } = await open();

  t.test('IRC-10 channels, members, lines and counts are as they were seen', async (t) => {
    await fold(sql, 'in_sevens', history, 7);
    for (const [key, channel] of expected) {
      const { name, topic, modes } = channel;
      t.match(await ircChannel(sql, 'in_sevens', key), { name, isPrivate: isPrivate(modes) });
      const rows = await sql.query<{ shown: string }>(
        `select shown from in_sevens.members where channel = $1`,
        [key],
      );
      t.same(rows.map(({ shown }) => shown).sort(), channel.members, `members of ${name}`);
      const lines = channel.lines.map((line) => ({ channel: name, ...line }));
      t.same(await ircMessages(sql, 'in_sevens', { key, name }, 100), lines.slice(-100));
      t.same(await ircMessages(sql, 'in_sevens', { key, name }, 3), lines.slice(-3));
      const listed = (await ircChannels(sql, 'in_sevens', true)).find((one) => one.name === name);
      t.same(listed, channel.present ? { name, topic, users: channel.members.length } : undefined);
    }
    const names = [...expected.values()].filter(({ present, modes }) => present && !isPrivate(modes));
    t.same(
      (await ircChannels(sql, 'in_sevens', false)).length,
      names.length,
      'private channels are not listed',
    );
    t.same(await ircCounts(sql, 'in_sevens'), {
      users: new Set([...expected.values()].flatMap(({ members }) => members.map(casefold))).size,
      channels: [...expected.values()].filter(({ present }) => present).length,
      messages: 1_000 + history.flatMap(({ data }) => data.seen.filter(isLine)).length,
    });
  });

  t.test('IRC-11 what a nick said where is known without reading what was said', async (t) => {
    for (const nick of ['alice', 'carol{1}', 'nobody']) {
      const lines = [...expected.values()].flatMap(({ lines, name }) =>
        lines.filter((line) => casefold(line.nick) === nick).map((line) => ({ ...line, name })),
      );
      const times = lines.map(({ time }) => time).sort();
      t.same(await ircActivity(sql, 'in_sevens', nick, true), {
        channels: [...expected.values()]
          .filter(({ name }) => lines.some((line) => line.name === name))
          .map(({ name }) => name)
          .sort((a, b) => (casefold(a) < casefold(b) ? -1 : 1)),
        messages: lines.length,
        first_seen: times[0] ?? null,
        last_active: times.at(-1) ?? null,
      });
    }
  });

  t.test('IRC-12 the same rows whatever the batches, and without what is older than 30 days', async (t) => {
    const rows = await everything(sql, 'in_sevens');
    for (const [schema, batch] of [
      ['one_by_one', 1],
      ['at_once', 1_000],
    ] as const) {
      await fold(sql, schema, history, batch);
      t.same(await everything(sql, schema), rows, schema);
    }
    const [oldest] = await sql.query<{ at: Date }>('select min(at) as at from at_once.lines');
    const age = history.at(-1)!.at.getTime() - oldest!.at.getTime();
    t.ok(age > 29 * 86_400_000 && age < 31 * 86_400_000, `${age} ms`);
  });

  t.test(
    'IRC-12 a rebuild from what the log still has gives the same lines and goes on counting',
    async (t) => {
      const cut = history.findIndex(
        ({ at }) => at.getTime() > history.at(-1)!.at.getTime() - 30 * 86_400_000,
      );
      const kept = history.slice(cut);
      await fold(sql, 'rebuilt', kept, 50);
      t.same((await ircCounts(sql, 'rebuilt')).messages, (await ircCounts(sql, 'in_sevens')).messages);
      const [, , lines] = await everything(sql, 'rebuilt');
      const [, , whole] = await everything(sql, 'in_sevens');
      const first = kept[0]!.seq;
      t.same(
        lines,
        (whole as { seq: number }[]).filter(({ seq }) => seq >= first),
      );
    },
  );

  t.test('IRC-12 a channel of which nothing was seen for 30 days is forgotten', async (t) => {
    const at = Date.UTC(2026, 0, 1);
    const snapshot = (channel: string, seq: number, time: number) =>
      observed(seq, time, channel, 0, [
        { is: 'snapshot', at: time, members: ['a', '@b'], modes: '', topic: '' },
      ]);
    await fold(sql, 'forgotten', [snapshot('#old', 1, at), snapshot('#new', 2, at + 32 * 86_400_000)], 1);
    t.same(await ircChannels(sql, 'forgotten', true), [{ name: '#new', users: 2, topic: '' }]);
    t.equal((await sql.query('select * from forgotten.members')).length, 2);
  });

  t.test('IRC-13 the last lines are read from their index however many there are', async (t) => {
    await sql.query(`create schema many; ${ircNetwork.ddl('many')}`);
    await sql.query(`insert into many.lines
      select '#c' || n % 3, n, 0, 'nick', 'text', now(), false from generate_series(1, 30000) as n`);
    const plan = await sql.query<{ 'QUERY PLAN': string }>(
      `explain select seq from many.lines where channel = '#c1' order by seq desc, index desc limit 50`,
    );
    t.match(plan.map((line) => line['QUERY PLAN']).join('\n'), /Index.*Scan Backward.*channel_seq/);
  });
});
