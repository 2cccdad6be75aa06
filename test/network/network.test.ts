import t from 'tap';
import type { Sql } from '../../projections/core/sql.js';
import {
  hasAccounts,
  ircActivity,
  ircChannel,
  ircChannels,
  ircCounts,
  ircMessages,
  privateMemberships,
} from '../../projections/network/queries.js';
import { ircNetwork } from '../../projections/network/tables.js';
import type { Recorded } from '../../streams/core/index.js';
import { casefold, isPrivate } from '../../streams/irc-grammar.js';
import { isLine, type Sighting } from '../../streams/network/index.js';
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
      t.same(
        await ircMessages(sql, 'in_sevens', { key, name }, { limit: 100, withPrivate: true }),
        lines.slice(-100),
      );
      t.same(
        await ircMessages(sql, 'in_sevens', { key, name }, { limit: 3, withPrivate: true }),
        lines.slice(-3),
      );
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

  t.test(
    'IRC-15 lines that were said in private stay private, and those of an earlier life too',
    async (t) => {
      const at = Date.UTC(2026, 0, 1);
      const line = (text: string, more = {}): Sighting => ({ is: 'message', at, nick: 'ann', text, ...more });
      const modes = (letters: string): Sighting => ({
        is: 'mode',
        at,
        nick: 'op',
        change: '',
        modes: letters,
      });
      const hidden = { private: true } as const;
      // the first four are from a time when lines did not say it themselves
      const facts = [
        observed(1, at, '#a', 0, [line('of a channel of which no modes are known'), modes('is')]),
        observed(2, at, '#a', 0, [line('secret 1')]),
        observed(3, at, '#a', 0, [line('secret 2'), modes('n'), line('open 1')]),
        observed(4, at, '#a', 0, [line('open 2')]),
        observed(5, at, '#a', 0, [line('secret 3', hidden), modes('ns'), line('secret 4', hidden)], {
          closed: true,
        }),
        observed(6, at, '#a', 0, [line('open 3')], { closed: false }),
        observed(7, at, '#a', 0, [modes('n'), line('open 4')], { closed: false }),
      ];
      const again = observed(8, at, '#a', 0, [line('open 5'), line('secret 5', hidden)], {
        closed: false,
        life: 77,
      });
      for (const batch of [1, 2, 3, 100]) {
        const schema = `private_${batch}`;
        await fold(sql, schema, [...facts, again], batch);
        const texts = async (withPrivate: boolean) =>
          (await ircMessages(sql, schema, { key: '#a', name: '#a' }, { limit: 100, withPrivate })).map(
            ({ text }) => text,
          );
        t.equal((await texts(true)).length, 11);
        const open = (await texts(false)).filter((text) => !text.startsWith('of a channel'));
        t.same(open, ['open 1', 'open 2', 'open 3', 'open 4', 'open 5'], 'older records tell of no life');
        t.match(await ircActivity(sql, schema, 'ann', false), { messages: 6 });
        t.match(await ircActivity(sql, schema, 'ann', true), { messages: 11 });
      }
      const later = observed(9, at, '#a', 0, [line('open 6')], { closed: false, life: 78 });
      for (const batch of [1, 2, 100]) {
        const schema = `later_${batch}`;
        await fold(sql, schema, [...facts, again, later], batch);
        const last = { limit: 100, withPrivate: false };
        const shown = await ircMessages(sql, schema, { key: '#a', name: '#a' }, last);
        t.same(
          shown.map(({ text }) => text),
          ['open 6'],
          'it was deleted and made again since',
        );
      }
    },
  );

  t.test('IRC-21 who is in a private channel, since when, and who the network says they are', async (t) => {
    const at = Date.UTC(2026, 0, 1);
    const snapshot = (...members: string[]): Sighting => ({
      is: 'snapshot',
      at,
      members,
      modes: 'in',
      topic: '',
    });
    const line: Sighting = { is: 'message', at, nick: 'Ann', text: 'x', private: true };
    const steps: [Sighting[], object[]][] = [
      [[snapshot('@op', 'Ann')], [{ since: [1, 0], account: null, host: null, life: 7, lifeSince: 1 }]],
      [[line], [{ account: null }]],
      [[{ ...line, account: 'Ann', host: 'ann@a' }], [{ since: [1, 0], account: 'ann', host: 'ann@a' }]],
      [[{ ...line, account: 'other' }], [{ account: 'ann' }]],
      [[{ ...snapshot('ann', 'op'), continues: true } as Sighting], [{ since: [1, 0], account: 'ann' }]],
      [[{ is: 'part', at, nick: 'ann', reason: '' }, line], []],
      [[{ is: 'join', at, nick: 'ann', account: 'Ann' }], [{ since: [7, 0], account: 'ann', host: null }]],
      [[{ is: 'nick', at, nick: 'bob', to: 'ann' }], [{ since: [8, 0], account: null }]],
      [[{ is: 'join', at, nick: 'ann', account: 'ann' }], [{ since: [9, 0] }]],
      [[line, { is: 'gap', at, from: at, to: at }], []],
      [[{ ...snapshot('ann', 'op'), continues: true } as Sighting], []],
      [[line, snapshot('ann', 'op')], [{ since: [12, 1], account: null, lifeSince: 1 }]],
      [[{ is: 'kick', at, nick: 'op', kicked: 'ann', reason: '' }], []],
      [[{ is: 'join', at, nick: 'ann' }], [{ since: [14, 0] }]],
      [[{ is: 'left', at, reason: '' }], []],
      [[snapshot('ann')], [{ since: [16, 0], life: 8, lifeSince: 16 }]],
      [[{ is: 'mode', at, nick: 'op', change: '-i', modes: 'n' }], []],
    ];
    const facts = steps.map(([seen], n) => observed(n + 1, at, '#a', 0, seen, { life: n < 15 ? 7 : 8 }));
    for (const [n, [, wanted]] of steps.entries())
      for (const batch of [1, 2, 100]) {
        const schema = `there_${n}_${batch}`;
        await fold(sql, schema, facts.slice(0, n + 1), batch);
        const found = await privateMemberships(sql, schema, 'ann', '#a');
        t.equal(found.length, wanted.length, schema);
        t.match(found, wanted, schema);
      }
    t.equal(await hasAccounts(sql, 'there_1_1'), false, 'nobody was seen with an account');
    t.equal(await hasAccounts(sql, 'there_2_1'), true, 'somebody was: there is a nick service');
  });

  t.test('IRC-13 the last lines are read from their index however many there are', async (t) => {
    await sql.query(`create schema many; ${ircNetwork.ddl('many')}`);
    await sql.query(`insert into many.lines
      select '#c' || n % 3, n, 0, 'nick', 'text', now(), false, n % 2 = 0 from generate_series(1, 30000) as n`);
    const plan = await sql.query<{ 'QUERY PLAN': string }>(
      `explain select seq from many.lines where channel = '#c1' order by seq desc, index desc limit 50`,
    );
    t.match(plan.map((line) => line['QUERY PLAN']).join('\n'), /Index.*Scan Backward.*channel_seq/);
    const behind = await sql.query<{ 'QUERY PLAN': string }>(
      `explain select seq from many.lines where channel = '#c1' and ((channel), seq, index) > ('#c1', 15000, 0) order by seq, index limit 50`,
    );
    t.match(behind.map((line) => line['QUERY PLAN']).join('\n'), /Index.*Scan.*channel_seq/);
    const ofPublic = await sql.query<{ 'QUERY PLAN': string }>(
      `explain select seq from many.lines where case when not private then channel end = '#c1'
       order by seq desc, index desc limit 50`,
    );
    t.match(ofPublic.map((line) => line['QUERY PLAN']).join('\n'), /Index.*Scan Backward/);
  });
});
