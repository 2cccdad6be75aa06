import t from 'tap';
import type { Sql } from '../../projections/core/sql.js';
import { paidSessions } from '../../projections/payments/fold.js';
import {
  activeSlots,
  liveSessions,
  openPayments,
  openSessions,
  unresolvedPayments,
} from '../../projections/payments/queries.js';
import type { Recorded } from '../../streams/core/index.js';
import { type PaymentFact, paymentSubject, placesSubject } from '../../streams/payments/index.js';
import { randomNumbers } from '../reputation/history.js';
import { eachSql } from '../support/sql.js';

const start = Date.UTC(2026, 0, 1);

/** Made-up sessions of an hour, most of them ended, and what is recorded between them. */
function history(count: number): Recorded<PaymentFact>[] {
  const random = randomNumbers(3);
  const facts: Recorded<PaymentFact>[] = [];
  const add = (fact: PaymentFact, at: number) => {
    const seq = facts.length + 1;
    const subject =
      fact.type === 'payment.intended' ? paymentSubject(fact.data.payment) : placesSubject(fact.data.channel);
    facts.push({
      ...fact,
      id: `f${seq}`,
      stream: 'PAYMENTS',
      subject,
      seq,
      at: new Date(at),
      by: 'test',
      cause: null,
    });
  };
  const ending: { at: number; fact: PaymentFact }[] = [];
  for (let n = 0; n < count; n++) {
    const at = start + n * 600_000;
    for (const due of ending.filter((end) => end.at <= at)) add(due.fact, due.at);
    ending.splice(0, ending.length, ...ending.filter((end) => end.at > at));
    const channel = ['#alpha-test', '#beta-test', '#gamma'][random(3)]!;
    const nick = ['ann', 'Bob', 'carl[1]'][random(3)]!;
    const data = { payment: `p${n}`, channel, nick };
    add({ type: 'slot.reserved', data: { ...data, until: new Date(at + 60_000).toISOString() } }, at);
    if (random(5) === 0) {
      add({ type: 'slot.released', data: { payment: `p${n}`, channel, reason: 'invalid' } }, at);
      continue;
    }
    const session_id = `s${n}`;
    add(
      {
        type: 'payment.intended',
        data: {
          ...data,
          payer: `0x${n}`,
          network: 'eip155:8453',
          asset: '0xaa',
          pay_to: '0xbb',
          nonce: `0x${n}`,
          amount: '100000',
          valid_before: null,
          terms: null,
          proof: null,
          holder: null,
        },
      },
      at,
    );
    const reason = 'facilitator_unreachable';
    const ends = random(12);
    if (ends === 0) continue; // whoever settled it has died
    if (ends === 1) {
      add({ type: 'slot.released', data: { payment: `p${n}`, channel, reason } }, at);
      if (random(2) === 0)
        add({ type: 'slot.reserved', data: { ...data, until: new Date(at).toISOString() } }, at);
      continue;
    }
    if (ends === 2) {
      add({ type: 'payment.refused', data: { ...data, reason: 'x', at: new Date(at).toISOString() } }, at);
      continue;
    }
    if (ends === 3) {
      add({ type: 'payment.owed', data: { ...data, tx_hash: `0xt${n}`, reason: 'channel_full' } }, at);
      if (random(2) === 0) continue;
    }
    add(
      {
        type: 'payment.granted',
        data: {
          ...data,
          session_id,
          payer: `0x${n}`,
          network: 'eip155:8453',
          asset: '0xaa',
          amount: '0.10',
          currency: 'USDC',
          tx_hash: `0xt${n}`,
          duration_seconds: 3_600,
          started_at: new Date(at).toISOString(),
          expires_at: new Date(at + 3_600_000).toISOString(),
          holder: n % 2 === 0 ? null : { account: null, host: `~${n}@one` },
        },
      },
      at,
    );
    if (n % 4 === 0)
      add(
        {
          type: 'session.claimed',
          data: { session_id, channel, nick, holder: { account: 'ann', host: `~${n}@two` } },
        },
        at,
      );
    if (random(6) > 0)
      ending.push({
        at: at + 3_605_000,
        fact: { type: 'session.ended', data: { session_id, channel, nick } },
      });
  }
  return facts;
}

async function fold(sql: Sql, schema: string, facts: Recorded[], batch: number): Promise<unknown[]> {
  await sql.query(`create schema ${schema}; ${paidSessions.ddl(schema)}`);
  for (let from = 0; from < facts.length; from += batch)
    await sql.transaction((tx) => paidSessions.apply(tx, facts.slice(from, from + batch), schema));
  return [
    ...(await sql.query(`select * from ${schema}.sessions order by session_id`)),
    ...(await sql.query(`select * from ${schema}.intents order by payment`)),
  ];
}

eachSql(t, async (t, open) => {
  const { sql } = await open();
  const facts = history(300);
  const grants = facts.filter((fact) => fact.type === 'payment.granted');
  const ended = new Set(
    facts.flatMap((fact) => (fact.type === 'session.ended' ? [fact.data.session_id] : [])),
  );

  t.test('PAY-32 a session that has moved is that of another nick', async (t) => {
    const granted = grants[0]!;
    const { session_id, channel, nick } = granted.data;
    const place = { ...granted, type: 'session.moved' as const };
    const moved = [
      { ...place, seq: granted.seq + 1, data: { session_id, channel, from: nick, nick: 'Else' } },
      { ...place, seq: granted.seq + 2, data: { session_id, channel, from: 'Else', nick: 'Other' } },
    ];
    for (const [schema, batch] of [
      ['moved_at_once', 10],
      ['moved_one_by_one', 1],
    ] as const) {
      await fold(sql, schema, [granted, ...moved], batch);
      const of = (nick: string) => liveSessions(sql, schema, granted.at, nick);
      t.match(await of('other'), [{ session_id, nick: 'Other' }]);
      t.same([await of(nick.toLowerCase()), await of('else')], [[], []]);
      t.match(await openSessions(sql, schema), { rows: [{ nick: 'Other' }], seq: granted.seq + 2 });
    }
  });

  t.test('PAY-13 the same rows in whatever batches', async (t) => {
    const rows = await fold(sql, 'whole', facts, facts.length);
    const intents = facts.filter(({ type }) => type === 'payment.intended');
    t.equal(rows.length, grants.length + intents.length);
    t.ok(ended.size > 0 && ended.size < grants.length);
    for (const batch of [1, 7, 100])
      t.same(await fold(sql, `by_${batch}`, facts, batch), rows, `by ${batch}`);
  });

  t.test('PAY-13 who is where now', async (t) => {
    for (const minutes of [0, 61, 500, 1_777, 2_999, 3_100]) {
      const now = new Date(start + minutes * 60_000);
      const live = grants.filter(
        ({ data }) => !ended.has(data.session_id) && Date.parse(data.expires_at) > now.getTime(),
      );
      const expected = new Map<string, number>();
      for (const { data } of live) expected.set(data.channel, (expected.get(data.channel) ?? 0) + 1);
      t.same([...(await activeSlots(sql, 'whole', now))].sort(), [...expected].sort());
      const mine = live.filter(({ data }) => data.nick === 'carl[1]').map(({ data }) => data.session_id);
      const found = await liveSessions(sql, 'whole', now, 'carl{1}');
      t.same(
        found.map(({ session_id }) => session_id),
        mine,
      );
      for (const session of found) {
        const {
          payment: _,
          asset: __,
          holder: ___,
          ...data
        } = live.find(({ data }) => data.session_id === session.session_id)!.data;
        t.same(session, data);
      }
    }
    t.same(await liveSessions(sql, 'whole', new Date(start), 'nobody'), []);
  });

  t.test('PAY-18 PAY-19 what is in doubt, and up to where that is known', async (t) => {
    const last = new Map<string, Recorded<PaymentFact>>();
    const owed = new Set<string>();
    for (const fact of facts) {
      if (!('payment' in fact.data)) continue;
      if (fact.type === 'payment.owed') owed.add(fact.data.payment);
      last.set(fact.data.payment, fact);
    }
    const intended = facts.filter((fact) => fact.type === 'payment.intended');
    const without = intended.filter(
      ({ data }) => !['payment.granted', 'payment.refused'].includes(last.get(data.payment)!.type),
    );
    const since = new Date(start + 100 * 600_000);
    const wanted = without.filter(({ at, data }) => at > since || owed.has(data.payment));
    const { rows: open, seq } = await openPayments(sql, 'whole', since);
    t.same(
      open.map(({ intended: { payment }, paid_by }) => [payment, paid_by]),
      wanted.map(({ data: { payment } }) => [payment, owed.has(payment) ? `0xt${payment.slice(1)}` : null]),
    );
    t.same(open[0]!.intended, wanted[0]!.data);
    t.ok(open.length > 10 && open.length < without.length);
    t.equal(seq, facts.filter(({ type }) => type !== 'session.ended').findLast(isOfIntent)!.seq);
    const until = new Date(start + 250 * 600_000);
    const seen = await unresolvedPayments(sql, 'whole', { since, until });
    const sent = wanted.filter(
      ({ at, data }) =>
        owed.has(data.payment) || (at <= until && last.get(data.payment)!.type !== 'slot.released'),
    );
    t.same(
      seen.map(({ payment, state }) => [payment, state]),
      sent.map(({ data: { payment } }) => [payment, owed.has(payment) ? 'owed' : 'unknown']),
    );
    t.match(
      seen.find(({ state }) => state === 'owed'),
      { reason: 'channel_full', tx_hash: /^0xt/, amount: '100000', intended_at: /Z$/ },
    );
    function isOfIntent({ data }: Recorded<PaymentFact>) {
      return 'payment' in data && intended.some((intent) => intent.data.payment === data.payment);
    }
  });

  t.test('PAY-14 whom to put out, and up to where that is known', async (t) => {
    const { rows: sessions, seq } = await openSessions(sql, 'whole');
    const wanted = grants.filter(({ data }) => !ended.has(data.session_id));
    t.same(
      sessions.map(({ session_id }) => session_id).sort(),
      wanted.map(({ data }) => data.session_id).sort(),
    );
    const holders = new Map(grants.map(({ data }) => [data.session_id, data.holder]));
    for (const { type, data } of facts)
      if (type === 'session.claimed') holders.set(data.session_id, data.holder);
    for (const { session_id, holder } of sessions)
      t.same(holder, holders.get(session_id), 'whose place it is');
    const ofSessions = ['payment.granted', 'session.claimed', 'session.ended'];
    const last = facts.filter(({ type }) => ofSessions.includes(type)).at(-1)!;
    t.equal(seq, last.seq);
    await sql.query(`create schema empty; ${paidSessions.ddl('empty')}`);
    t.same(await openSessions(sql, 'empty'), { rows: [], seq: 0 });
  });
});
