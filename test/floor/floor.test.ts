import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import type { Sql } from '../../projections/core/sql.js';
import { floorModel } from '../../projections/floor/fold.js';
import { allFloors, floorOf, type StoredFloor } from '../../projections/floor/queries.js';
import type { Recorded } from '../../streams/core/index.js';
import {
  type FloorAnswer,
  type FloorSighting,
  type FloorState,
  floorAt,
  floorCommandIn,
  freeFloor,
  lapsesAt,
  seeFloor,
} from '../../streams/floor/index.js';
import type { IrcFact, Sighting } from '../../streams/network/index.js';
import { FollowedFloors } from '../../workers/floor/followed.js';
import { announcement, answerOf } from '../../workers/floor/words.js';
import { eachSql } from '../support/sql.js';

const minute = 60_000;

/** A channel, by what is said and done there; times in seconds. */
function channel() {
  const state = freeFloor();
  const see = (seen: FloorSighting, person = '') => seeFloor(state, seen, person);
  return {
    state,
    see,
    says: (at: number, nick: string, text: string, person = `host ${nick}`): FloorAnswer['is'] | undefined =>
      see({ is: 'message', at: at * 1_000, nick, text }, person)?.is,
    now: (at: number) => shown(floorAt(state, at * 1_000)),
  };
}

const shown = ({ holder, queue }: FloorState) => [holder?.nick ?? null, ...queue.map(({ nick }) => nick)];

t.test('FLOOR-01 what of a line is a command', async (t) => {
  for (const [text, command] of [
    ['/floor', ''],
    [' !Floor ', ''],
    ['/floor DONE', 'done'],
    ['/floor open', 'open'],
    ['!floor OPEN  What is best?', 'open'],
    [`/floor open ${'x'.repeat(1_000)}`, 'open'],
    ['/floor opens', 'opens'],
    ['/floors', undefined],
    ['say /floor', undefined],
    [`/floor ${'x'.repeat(1_000)}`, 'x'.repeat(40)],
  ] as const)
    t.equal(floorCommandIn(text), command, text);
});

t.test('FLOOR-01 one has the floor, the others wait in order', async (t) => {
  const { says, now } = channel();
  t.equal(says(0, 'ann', '/floor'), 'got it');
  t.equal(says(1, 'bob', '/floor'), 'waits');
  t.equal(says(2, 'cas', '!floor'), 'waits');
  t.equal(says(3, 'BOB', '/floor'), 'waits', 'no second place');
  t.equal(says(4, 'Ann', '/floor'), 'has it');
  t.same(now(5), ['ann', 'bob', 'cas']);
  t.equal(says(6, 'dan', '/floor done'), 'no place');
  t.equal(says(7, 'ann', '/floor done'), 'passed on');
  t.equal(says(8, 'cas', '/floor done'), 'left the queue');
  t.same(now(9), ['bob']);
  t.equal(says(10, 'bob', '/floor done'), 'passed on');
  t.same(now(11), [null]);
  t.equal(says(12, 'bob', '/floor nonsense'), 'unknown');
});

t.test('FLOOR-02 it lapses after silence, and after ten minutes in any case', async (t) => {
  const { says, now, state } = channel();
  says(0, 'ann', '/floor');
  says(1, 'bob', '/floor');
  says(2, 'cas', '/floor');
  says(100, 'ann', 'my point is this');
  t.same(now(219), ['ann', 'bob', 'cas'], 'a line of theirs makes it last');
  t.same(now(220), ['bob', 'cas']);
  t.same(now(340), ['cas'], 'each has the same time');
  t.same(now(460), [null]);
  for (let at = 230; at < 800; at += 60) says(at, 'bob', 'and another thing');
  t.same(now(819), ['bob', 'cas'], 'who speaks on has it for ten minutes');
  t.same(now(820), ['cas']);
  says(950, 'bob', 'one more');
  t.equal(state.holder, null, 'cas was silent in her time');
});

t.test('FLOOR-03 who opened it and operators may close it and pass it on', async (t) => {
  const { says, see, now, state } = channel();
  see({ is: 'snapshot', at: 0, members: ['!@op', '+ann', 'bob', 'mal', 'cas'] });
  t.equal(says(1, 'ann', '/floor open'), 'opened');
  says(2, 'bob', '/floor');
  says(3, 'cas', '/floor');
  for (const command of ['close', 'next', 'open'])
    t.equal(says(4, 'mal', `/floor ${command}`), 'not theirs', command);
  t.equal(says(5, 'ann', '/floor next'), 'passed on');
  t.same(now(6), ['cas']);
  see({ is: 'nick', at: 7_000, nick: 'ann', to: 'annie' });
  t.equal(says(8, 'annie', '/floor close'), 'closed', 'under another nick too');
  t.same(now(9), [null]);
  says(10, 'mal', '/floor');
  t.equal(says(11, 'op', '/floor close'), 'closed');
  see({ is: 'mode', at: 12_000, change: '+b-o *!*@bad op' });
  see({ is: 'mode', at: 12_000, change: '+Ho 100:1d bob' });
  t.same(state.operators, ['bob']);
  see({ is: 'mode', at: 12_000, change: '-wdo+oy o:*!*@trusted bob cas op' });
  t.same(state.operators, ['cas'], 'a parameter goes with its letter');
  see({ is: 'mode', at: 12_000, change: '+o-o bob cas' });
  t.equal(says(13, 'op', '/floor close'), 'not theirs', 'an operator no more');
  t.equal(says(14, 'ann', '/floor open'), 'opened');
  t.equal(says(14 + 31 * 60, 'mal', '/floor open'), 'opened', 'who is silent for half an hour has no rights');
});

t.test('FLOOR-03 who opened it leads no more once they are gone', async (t) => {
  for (const [how, seen] of [
    ['quit', { is: 'quit', at: 2_000, nick: 'Ann' }],
    ['part', { is: 'part', at: 2_000, nick: 'Ann' }],
    ['kick', { is: 'kick', at: 2_000, kicked: 'Ann' }],
    ['left while nobody looked', { is: 'snapshot', at: 2_000, members: ['bob', 'cas'] }],
  ] as const) {
    const { says, see, now, state } = channel();
    t.equal(says(0, 'ann', '/floor open What is best?'), 'opened');
    says(1, 'bob', '/floor');
    says(1, 'cas', '/floor');
    see(seen);
    t.equal(state.opener, null, how);
    see({ is: 'nick', at: 3_000, nick: 'mal', to: 'ann' });
    for (const command of ['next', 'close']) t.equal(says(4, 'ann', `/floor ${command}`), 'not theirs', how);
    t.same(now(5), ['bob', 'cas'], 'turns go on');
    t.equal(says(6, 'bob', '/floor open'), 'opened', 'another may lead');
  }
});

t.test('FLOOR-03 only what they ask of the floor themselves makes their lead last', async (t) => {
  const busy = (...own: number[]) => {
    const { says } = channel();
    says(0, 'ann', '/floor open');
    for (let at = 60; at < 31 * 60; at += 60) {
      says(at, `n${at}`, '/floor');
      if (own.includes(at)) says(at, 'ann', '/floor next');
    }
    return says(31 * 60, 'ann', '/floor next');
  };
  t.equal(busy(), 'not theirs', 'others ask all the time');
  t.equal(busy(20 * 60), 'passed on');
});

t.test('FLOOR-03 who leads or is an operator keeps that when they give up a place', async (t) => {
  const { says, see, state } = channel();
  see({ is: 'snapshot', at: 0, members: ['@op', 'ann', 'bob'] });
  says(1, 'ann', '/floor open');
  for (const nick of ['bob', 'ann', 'op']) says(2, nick, '/floor');
  for (const nick of ['ann', 'op']) t.equal(says(3, nick, '/floor done'), 'left the queue');
  t.equal(state.opener?.nick, 'ann');
  t.same(state.operators, ['op']);
});

t.test('FLOOR-04 who leaves or is removed has no place, and another nick keeps it', async (t) => {
  const { says, see, now } = channel();
  for (const [at, nick] of ['ann', 'bob', 'cas', 'dan', 'eve'].entries()) says(at, nick, '/floor');
  see({ is: 'quit', at: 5_000, nick: 'cas' });
  see({ is: 'kick', at: 5_000, kicked: 'ann' });
  see({ is: 'nick', at: 5_000, nick: 'dan', to: 'Daniel' });
  t.same(now(6), ['bob', 'Daniel', 'eve']);
  see({ is: 'snapshot', at: 7_000, members: ['@Daniel', 'zoe'] });
  t.same(now(8), ['Daniel'], 'nor who left while nobody looked');
  see({ is: 'part', at: 9_000, nick: 'daniel' });
  t.same(now(10), [null]);
});

t.test('FLOOR-05 a thousand names get no more than twenty places, and one person three', async (t) => {
  const crowd = channel();
  crowd.says(0, 'ann', '/floor');
  const all = Array.from({ length: 1_000 }, (_, n) => crowd.says(1, `n${n}`, '/floor'));
  t.equal(all.filter((is) => is === 'waits').length, 20);
  t.equal(all.filter((is) => is === 'full').length, 980);
  t.ok(JSON.stringify(crowd.state).length < 4_000);
  t.ok(Buffer.byteLength(answerOf({ to: 'x', is: 'status' }, '#a', crowd.state)!) < 500);
  const one = channel();
  const own = Array.from({ length: 1_000 }, (_, n) => one.says(n / 100, `n${n}`, '/floor', 'host mal'));
  t.same(own.slice(0, 4), ['got it', 'waits', 'waits', 'full']);
  t.equal(one.says(11, 'ann', '/floor'), 'waits', 'there is room for others');
});

t.test('FLOOR-09 what was asked for in private stays so', async (t) => {
  const { state, see, says } = channel();
  see({ is: 'message', at: 0, nick: 'ann', text: '/floor', private: true }, 'ann');
  says(1, 'bob', '/floor');
  t.equal(state.private, true, 'also when the channel is opened meanwhile');
  says(2, 'bob', '/floor done');
  says(3, 'ann', '/floor done');
  says(4, 'cas', '/floor');
  t.equal(state.private, false, 'the next one is another');
});

t.test('FLOOR-06 what is said of it', async (t) => {
  const { says, state } = channel();
  says(0, 'ann', '/floor');
  t.equal(announcement(state), 'ann has the floor until 00:02:00 UTC');
  says(60, 'bob', '/floor');
  t.equal(announcement(state), 'ann has the floor until 00:02:00 UTC; 1 wait');
  t.match(answerOf({ to: 'bob', is: 'waits' }, '#a', state), 'number 1 of 1');
  t.match(answerOf({ to: 'bob', is: 'status' }, '#a', state), /ann has the floor .*; 1 wait: bob$/);
  for (const is of ['got it', 'has it', 'waits'] as const)
    t.equal(answerOf({ to: 'cas', is }, '#a', state), undefined, 'what is not so any more is not told');
  t.equal(lapsesAt(state.holder!), 2 * minute);
  for (let n = 0; n < 9; n++) says(61, `${n}`.padEnd(30, 'n').replace(/^/, 'w').slice(0, 30), '/floor');
  const many = answerOf({ to: 'bob', is: 'status' }, '#a', state)!;
  t.match(many, /; 10 wait: bob, w0n+, w1n+, w2n+, w3n+ and 5 more$/, 'one line, however many wait');
  const skill = readFileSync('skill/MESSAGING.md', 'utf8').replace(/\s+/g, ' ');
  t.match(skill, /It lapses after two minutes without a line of yours, and after ten minutes in any case/);
  const guide = readFileSync('docs/guides/take-turns.md', 'utf8').replace(/\s+/g, ' ');
  t.match(guide, /20 wait at most, three of one person/);
  t.match(guide, /two minutes .* ten minutes .* half an hour/);
});

function history(): Recorded<IrcFact>[] {
  const facts: Recorded<IrcFact>[] = [];
  const tell = (name: string, ...seen: Sighting[]) => {
    const seq = facts.length + 1;
    const place = {
      id: `i${seq}`,
      stream: 'IRC',
      subject: `irc.${name.slice(1)}`,
      seq,
      by: 'test',
      cause: null,
    };
    facts.push({
      type: 'channel.observed',
      data: { channel: name, lines_before: 0, seen },
      ...place,
      at: new Date(seen.at(-1)!.at),
    });
  };
  const line = (at: number, nick: string, text: string): Sighting => ({
    is: 'message',
    at: at * 1_000,
    nick,
    host: `${nick}@${nick}.example`,
    text,
  });
  tell('#a', { is: 'snapshot', at: 0, members: ['@op', 'ann', 'bob', 'cas'], modes: 'nt', topic: '' });
  tell('#B', line(1, 'ann', '/floor'), line(2, 'bob', '/floor'));
  tell('#a', line(3, 'bob', '/floor open'), line(3, 'cas', '/floor'));
  tell('#quiet', line(4, 'ann', 'hello'));
  for (let n = 0; n < 40; n++)
    tell('#a', line(5 + n * 30, `n${n % 7}`, n % 3 === 0 ? '/floor' : 'and so on'));
  tell('#b', { is: 'quit', at: 1_210_000, nick: 'bob', reason: '' });
  tell('#a', line(1_300, 'op', '/floor next'), line(1_301, 'n3', '/floor'));
  return facts;
}

const facts = history();

eachSql(t, async (t, open) => {
  const { sql } = await open();
  let first: unknown;
  for (const [schema, batch] of [
    ['one_by_one', 1],
    ['in_sevens', 7],
    ['at_once', 1_000],
  ] as const) {
    await t.test(`FLOOR-07 the same floors, folded ${schema}`, async (t) => {
      await sql.query(`create schema ${schema}; ${floorModel.ddl(schema)}`);
      for (let from = 0; from < facts.length; from += batch) {
        const some = facts.slice(from, from + batch);
        await sql.transaction(async (tx) => floorModel.apply(tx, some, schema));
      }
      const rows = await rowsOf(sql, schema);
      first ??= rows;
      t.same(rows, first);
      t.same(
        rows.map(({ channel }) => channel),
        ['#a', '#b'],
        'none where nobody asked',
      );
      const floor = (await floorOf(sql, schema, '#a'))!;
      const alone = freeFloor();
      for (const { data } of facts.filter((fact) => fact.data.channel === '#a'))
        for (const seen of data.seen)
          seeFloor(alone, seen, 'host' in seen && seen.host ? `host ${seen.host.split('@')[1]}` : '');
      t.same(floor, alone, 'it is what the rule makes of the lines');
      t.ok(floor.holder);
    });
  }
  await t.test('FLOOR-10 what is forgotten', (t) => forgotten(t, sql));
});

/** Channels on nine days: one is recorded on, one is deleted while somebody has the floor, one is quiet and comes back. */
function manyDays(): Recorded<IrcFact>[] {
  const facts: Recorded<IrcFact>[] = [];
  const tell = (day: number, name: string, ...seen: Sighting[]) => {
    const seq = facts.length + 1;
    const place = {
      id: `d${seq}`,
      stream: 'IRC',
      subject: `irc.${name.slice(1)}`,
      seq,
      by: 'test',
      cause: null,
    };
    const data = { channel: name, lines_before: 0, seen };
    facts.push({ type: 'channel.observed', data, ...place, at: new Date(day * 24 * 60 * minute + 1_000) });
  };
  const snapshot = (day: number): Sighting => ({
    is: 'snapshot',
    at: day * 24 * 60 * minute,
    members: ['@op', 'ann'],
    modes: 'nt',
    topic: '',
    continues: true,
  });
  const says = (day: number, nick: string, text: string): Sighting => ({
    is: 'message',
    at: day * 24 * 60 * minute + 500,
    nick,
    text,
  });
  for (let day = 0; day < 9; day++) {
    tell(day, '#lives', snapshot(day));
    if (day === 1) {
      tell(day, '#task-1', snapshot(day), says(day, 'ann', '/floor'), says(day, 'op', '/floor open'));
      tell(day, '#task-1', { is: 'left', at: day * 24 * 60 * minute + 900, reason: 'Channel deleted' });
    }
    if (day === 2) tell(day, '#back', snapshot(day));
    if (day === 5) tell(day, '#back', says(day, 'op', '/floor open'));
    if (day === 6) tell(day, '#Lives', says(day, 'ann', 'hello'));
  }
  return facts;
}

async function forgotten(t: Test, sql: Sql): Promise<void> {
  const facts = manyDays();
  const foldedTo = async (schema: string, batch: number) => {
    const steps: StoredFloor[][] = [];
    await sql.query(`create schema ${schema}; ${floorModel.ddl(schema)}`);
    for (let from = 0; from < facts.length; from += batch) {
      await sql.transaction((tx) => floorModel.apply(tx, facts.slice(from, from + batch), schema));
      steps.push(await rowsOf(sql, schema));
    }
    return steps;
  };
  const steps = await foldedTo('days_one', 1);
  const names = (rows: { channel: string }[]) => rows.map(({ channel }) => channel);
  const day = (n: number) => facts.findIndex(({ at }) => at.getTime() > n * 24 * 60 * minute);
  t.same(names(steps[day(4)]!), ['#back', '#lives', '#task-1'], 'after less than three whole days');
  t.same(names(steps[day(5)]!), ['#back', '#lives'], 'after three days, whoever had the floor');
  t.same(names(steps.at(-1)!), ['#back', '#lives']);
  t.same(steps.at(-1)![0]!.state.operators, ['op'], 'a channel that comes back in time is as it was');
  for (const batch of [4, 1_000])
    t.same((await foldedTo(`days_${batch}`, batch)).at(-1), steps.at(-1), `in batches of ${batch}`);

  for (let from = 0; from < facts.length; from++) {
    const followed = new FollowedFloors();
    // what is read may be ahead of where facts are followed from
    for (const row of steps[from]!) followed.know(row);
    for (const [place, fact] of facts.entries()) {
      if (place <= from - 2) continue;
      followed.see(fact);
      if (place < from) continue;
      const held = [...followed.all].map(({ name, state, day }) => ({
        channel: name.toLowerCase(),
        state,
        day,
      }));
      const rows = steps[place]!.map(({ channel, state, day }) => ({ channel, state, day }));
      t.same(sorted(held), rows, `who tells of them holds the same, from ${from} at ${place}`);
    }
  }
}

const sorted = <Floor extends { channel: string }>(floors: Floor[]) =>
  floors.sort((a, b) => (a.channel < b.channel ? -1 : 1));

const rowsOf = async (sql: Sql, schema: string) => sorted(await allFloors(sql, schema));
