import t, { type Test } from 'tap';
import type { Sql } from '../../projections/core/sql.js';
import { identityLinks } from '../../projections/identity/links.js';
import {
  identityCounts,
  linkOfNick,
  linkOfWallet,
  verifiedLinks,
} from '../../projections/identity/queries.js';
import type { Recorded } from '../../streams/core/index.js';
import type { IdentityFact } from '../../streams/identity/index.js';
import type { Sighting } from '../../streams/network/index.js';
import { eachSql } from '../support/sql.js';

const start = Date.parse('2026-03-01T12:00:10Z');
const at = (minutes: number) => new Date(start + minutes * 60_000);
const address = (n: number) => `0x${n.toString(16).toUpperCase().padStart(40, 'A')}`;

function changes(): Recorded[] {
  const facts: Recorded[] = [];
  const tell = (minutes: number, fact: IdentityFact) => {
    const seq = facts.length + 1;
    const place = { id: `i${seq}`, stream: 'IDENTITY', subject: 'identity.registry', seq };
    facts.push({ ...fact, ...place, at: at(minutes), by: 'test', cause: null });
  };
  const linked = (nick: string, n: number, identified = false): IdentityFact => ({
    type: 'identity.linked',
    data: { nick, wallet_address: address(n), identified },
  });
  const verified = (nick: string, n: number, agent_id: number | null, sync_version = 1): IdentityFact => ({
    type: 'identity.verified',
    data: { nick, wallet_address: address(n), agent_id, sync_version },
  });
  const unlinked = (nick: string, n: number): IdentityFact => ({
    type: 'identity.unlinked',
    data: { nick, wallet_address: address(n), sync_version: 0 },
  });
  const challenged = (nick: string, minutes: number): IdentityFact => ({
    type: 'challenge.issued',
    data: { nick, challenge: `c-${nick}`, expires_at: at(minutes + 30).toISOString(), via: 'api' },
  });
  tell(0, linked('alice', 1, true));
  tell(1, challenged('alice', 1));
  tell(2, verified('alice', 1, 0));
  tell(3, linked('bob', 2));
  tell(4, challenged('bob', 4));
  tell(5, {
    type: 'verification.failed',
    data: { nick: 'bob', reason: 'wallet_mismatch', attempted_at: 'x' },
  });
  tell(6, { type: 'identity.confirmed', data: { nick: 'bob', wallet_address: address(2) } });
  tell(7, linked('carl', 3));
  tell(8, unlinked('carl', 3));
  tell(9, linked('dora', 3, true));
  tell(10, linked('gone', 4));
  tell(11, unlinked('gone', 4));
  tell(12, linked('back', 5));
  tell(13, verified('back', 5, 9));
  tell(14, unlinked('back', 5));
  tell(15, linked('back', 6, true));
  tell(16, verified('back', 6, null));
  tell(17, {
    type: 'identity.agent_changed',
    data: { nick: 'back', wallet_address: address(6), agent_id: 7, sync_version: 2 },
  });
  tell(18, { type: 'push.delivered', data: { seq: 1, nick: 'nobody', event_type: 'x', attempts: 1 } });
  tell(19, linked('alike', 7, true));
  tell(19, linked('claimant', 8, true));
  tell(19.1, linked('actual', 7));
  tell(19.2, linked('above', 8));
  tell(19.3, verified('actual', 7, null));
  for (let n = 0; n < 30; n++) tell(20 + n, linked(`many${n}`, 100 + n));
  return facts;
}

function sightings(): Recorded[] {
  const said = (nick: string, minutes: number) => ({
    is: 'message' as const,
    nick,
    at: start + minutes * 60_000,
    text: 'hello',
  });
  const seen: Sighting[][] = [
    [said('Alice', -30), said('bob', 4)],
    [said('alice', 90), said('ALICE', 90.4), said('alice', 12)],
    [{ is: 'join', nick: 'dora', at: start + 500 * 60_000 }, said('stranger', 60)],
    [said('bob', 3.9), { is: 'action', nick: 'bob', at: start + 200 * 60_000, text: 'waves' }],
    [said('alice', 91), { ...said('alice', 300), private: true }],
  ];
  return seen.map((some, index) => ({
    type: 'channel.observed',
    id: `s${index}`,
    stream: 'IRC',
    subject: 'irc.lobby',
    seq: index + 1,
    at: at(index),
    by: 'record-irc',
    cause: null,
    data: { channel: '#lobby', lines_before: 0, seen: some },
  }));
}

async function fold(sql: Sql, schema: string, facts: Recorded[], batch: number): Promise<void> {
  for (let from = 0; from < facts.length; from += batch) {
    await sql.transaction((tx) => identityLinks.apply(tx, facts.slice(from, from + batch), schema));
  }
}

const identity = changes();
const irc = sightings();

eachSql(t, async (t, open) => {
  const { sql } = await open();
  let first: unknown;
  for (const [schema, batch, order] of [
    ['one_by_one', 1, [identity, irc]],
    ['in_sevens', 7, [irc, identity]],
    ['in_threes', 3, [identity, irc]],
    ['at_once', 1_000, [irc, identity]],
  ] as const) {
    t.test(`IDENT-19 the same rows, folded ${schema}`, async (t) => {
      await sql.query(`create schema ${schema}; ${identityLinks.ddl(schema)}`);
      for (const facts of order) await fold(sql, schema, facts, batch);
      const rows = {
        links: await sql.query(`select * from ${schema}.links order by nick`),
        seen: await sql.query(`select * from ${schema}.seen order by nick`),
        lastDay: await sql.query(`select * from ${schema}.last_day`),
        totals: await sql.query(`select * from ${schema}.totals`),
      };
      t.equal(rows.links.length, 38);
      first ??= rows;
      t.same(rows, first);
    });
  }
  await t.test('IDENT-04 IDENT-18 what is shown', (t) => reads(t, sql, 'in_sevens'));
  await t.test('IDENT-32 who is seen under ever new nicks', (t) => newNicks(t, sql));
});

async function reads(t: Test, sql: Sql, schema: string): Promise<void> {
  t.same(await linkOfNick(sql, schema, 'alice'), {
    nick: 'alice',
    wallet_address: address(1),
    verified: 1,
    level: 3,
    agent_id: 0,
    linked_at: at(0).toISOString(),
    // said at 13:31:10, and later where it is private
    last_seen: '2026-03-01T13:31:00.000Z',
  });
  t.match(await linkOfWallet(sql, schema, address(2).toLowerCase()), {
    nick: 'bob',
    verified: 0,
    level: 1,
    agent_id: null,
    last_seen: '2026-03-01T15:20:00.000Z',
  });
  t.match(
    await linkOfNick(sql, schema, 'dora'),
    { level: 1, last_seen: at(9).toISOString() },
    'never said a word',
  );
  t.match(
    await linkOfWallet(sql, schema, address(3)),
    { nick: 'dora' },
    'the wallet of a link that is no more',
  );
  t.match(await linkOfWallet(sql, schema, address(7)), { nick: 'actual' }, 'the one it has signed for');
  t.match(await linkOfWallet(sql, schema, address(8)), { nick: 'claimant' }, 'else the first that claims it');
  t.match(await linkOfNick(sql, schema, 'back'), {
    wallet_address: address(6),
    verified: 1,
    level: 3,
    agent_id: 7,
  });
  for (const nick of ['carl', 'gone', 'stranger']) t.equal(await linkOfNick(sql, schema, nick), undefined);
  t.equal(await linkOfWallet(sql, schema, address(5)), undefined);
  t.same(await identityCounts(sql, schema), { links: 38, verified: 3 });
  const verified = await verifiedLinks(sql, schema, '', 10);
  t.same(
    verified.map(({ nick, agent_id }) => [nick, agent_id]),
    [
      ['actual', null],
      ['alice', 0],
      ['back', 7],
    ],
  );
  t.same(
    (await verifiedLinks(sql, schema, 'alice', 10)).map(({ nick }) => nick),
    ['back'],
  );
  t.equal((await verifiedLinks(sql, schema, '', 1)).length, 1);
}

const dayMinutes = 24 * 60;

/** Somebody with a new nick for each line, and others, on 70 days. */
function manyNicks(): Recorded[] {
  return Array.from({ length: 70 }, (_, day) => {
    const said = (nick: string, minutes = 0) => ({
      is: 'message' as const,
      nick,
      at: at(day * dayMinutes + minutes).getTime(),
      text: 'hello',
    });
    const seen: Sighting[] = [said(`new${day}a`), said(`new${day}b`, 1), { ...said('shy'), private: true }];
    if (day % 20 === 0) seen.push(said('alice'));
    if (day === 15) seen.push(said('bob'));
    // a history that is told late
    if (day === 60) seen.unshift(said('late', -40 * dayMinutes));
    return {
      type: 'channel.observed',
      id: `s${day}`,
      stream: 'IRC',
      subject: 'irc.lobby',
      seq: day + 1,
      at: at(day * dayMinutes + 1),
      by: 'record-irc',
      cause: null,
      data: { channel: '#lobby', lines_before: 0, seen },
    };
  });
}

async function newNicks(t: Test, sql: Sql): Promise<void> {
  const facts = manyNicks();
  let first: unknown;
  for (const [schema, batch, order] of [
    ['new_by_one', 1, [identity, facts]],
    ['new_by_nine', 9, [facts, identity]],
    ['new_at_once', 1_000, [identity, facts]],
  ] as const) {
    await sql.query(`create schema ${schema}; ${identityLinks.ddl(schema)}`);
    for (const some of order) await fold(sql, schema, some, batch);
    const rows = await sql.query<{ nick: string }>(`select * from ${schema}.seen order by nick`);
    first ??= rows;
    t.same(rows, first, schema);
    const nicks = rows.map(({ nick }) => nick);
    t.equal(nicks.length, 2 * 31 + 1, 'those of thirty days and today');
    t.ok(['new39a', 'new69b', 'alice'].every((nick) => nicks.includes(nick)));
    t.notOk(['new38b', 'bob', 'shy', 'late'].some((nick) => nicks.includes(nick)));
    t.match(await linkOfNick(sql, schema, 'alice'), { last_seen: '2026-04-30T12:00:00.000Z' });
    t.match(await linkOfNick(sql, schema, 'bob'), { last_seen: at(3).toISOString() }, 'when it was linked');
  }
}
