import type { Recorded } from '../../streams/core/index.js';
import { casefold } from '../../streams/irc-grammar.js';
import { type PaymentFact, payments } from '../../streams/payments/index.js';
import { defineProjection } from '../core/projection.js';
import { json, type Tx } from '../core/sql.js';
import { aboutPayments } from './about.js';

/**
 * The sessions that were paid for, one row each; `nick_key` is the casefolded nick, `seq` the last fact about
 * it. Whether a session lasts depends on the time, so no row says it; `ended_at` says when its nick was
 * removed. And the payments that were sent for settlement, one row each. `closed_at` says when its result
 * became known. `owed_at` says since when it is settled without a session. `is_sent` says whether it may be
 * settled at all.
 */
export const paidSessions = defineProjection({
  name: 'payments',
  version: 4,
  readsFrom: 4,
  streams: [payments],
  about: aboutPayments,
  ddl: (schema) => `
    create table ${schema}.sessions (
      session_id text collate "C" primary key,
      channel text collate "C" not null,
      nick text not null,
      nick_key text collate "C" not null,
      payer text not null,
      network text not null,
      amount text not null,
      currency text not null,
      tx_hash text not null,
      duration_seconds integer not null,
      started_at timestamptz not null,
      expires_at timestamptz not null,
      holder jsonb,
      ended_at timestamptz,
      seq bigint not null
    );
    create index on ${schema}.sessions (channel, expires_at);
    create index on ${schema}.sessions (nick_key, expires_at);
    create index on ${schema}.sessions (expires_at) where ended_at is null;
    create index on ${schema}.sessions (seq);
    create table ${schema}.intents (
      payment text collate "C" primary key,
      intended jsonb not null,
      intended_at timestamptz not null,
      is_sent boolean not null default true,
      owed_at timestamptz,
      paid_by text,
      reason text,
      closed_at timestamptz,
      seq bigint not null
    );
    create index on ${schema}.intents (intended_at) where closed_at is null;
    create index on ${schema}.intents (seq)`,
  apply: async (tx, facts: Recorded<PaymentFact>[], schema) => {
    const intended = facts.filter((fact) => fact.type === 'payment.intended');
    const granted = facts.filter((fact) => fact.type === 'payment.granted');
    const ended = facts.filter((fact) => fact.type === 'session.ended');
    if (intended.length > 0) await addIntents(tx, intended, schema);
    await followIntents(tx, facts, schema);
    if (granted.length > 0) await addSessions(tx, granted, schema);
    const claimed = facts.filter((fact) => fact.type === 'session.claimed');
    if (claimed.length > 0) await claimSessions(tx, claimed, schema);
    const moved = facts.filter((fact) => fact.type === 'session.moved');
    if (moved.length > 0) await moveSessions(tx, moved, schema);
    if (ended.length > 0) await endSessions(tx, ended, schema);
  },
});

type Of<Type> = Recorded<Extract<PaymentFact, { type: Type }>>;

async function addIntents(tx: Tx, facts: Of<'payment.intended'>[], schema: string): Promise<void> {
  const rows = facts.map(({ data, at, seq }) => ({ payment: data.payment, intended: data, at, seq }));
  await tx.query(
    `insert into ${schema}.intents (payment, intended, intended_at, seq)
     select * from json_to_recordset($1::json) as row (payment text, intended jsonb, at timestamptz, seq bigint)`,
    [json(rows)],
  );
}

type AboutSession = Of<'session.moved'> | Of<'session.claimed'> | Of<'session.ended'>;

const isAboutSession = (fact: Recorded<PaymentFact>): fact is AboutSession =>
  fact.type.startsWith('session.');

/** What later facts say about a payment with an intent; `null` where they say nothing. */
interface IntentChange {
  payment: string;
  is_sent: boolean | null;
  owed_at: Date | null;
  paid_by: string | null;
  reason: string | null;
  closed_at: Date | null;
  seq: number;
}

async function followIntents(tx: Tx, facts: Recorded<PaymentFact>[], schema: string): Promise<void> {
  const changes = new Map<string, IntentChange>();
  for (const fact of facts) {
    if (isAboutSession(fact)) continue;
    const { payment } = fact.data;
    // a place is kept before there is an intent: facts before the intent say nothing about it
    if (fact.type === 'payment.intended') {
      changes.delete(payment);
      continue;
    }
    const nothing = { payment, is_sent: null, owed_at: null, paid_by: null, reason: null, closed_at: null };
    changes.set(payment, { ...nothing, ...changes.get(payment), ...changeBy(fact), seq: fact.seq });
  }
  if (changes.size === 0) return;
  await tx.query(
    `update ${schema}.intents as i set is_sent = coalesce(c.is_sent, i.is_sent),
       owed_at = coalesce(c.owed_at, i.owed_at), paid_by = coalesce(c.paid_by, i.paid_by),
       reason = coalesce(c.reason, i.reason), closed_at = coalesce(c.closed_at, i.closed_at), seq = c.seq
     from json_to_recordset($1::json) as c (payment text, is_sent boolean, owed_at timestamptz, paid_by text,
       reason text, closed_at timestamptz, seq bigint)
     where i.payment = c.payment and i.seq < c.seq`,
    [json([...changes.values()])],
  );
}

function changeBy({
  type,
  data,
  at,
}: Exclude<Recorded<PaymentFact>, Of<'payment.intended'> | AboutSession>): Partial<IntentChange> {
  switch (type) {
    case 'slot.reserved':
      return { is_sent: true };
    case 'slot.released':
      return { is_sent: false, reason: data.reason };
    case 'payment.owed':
      return { owed_at: at, paid_by: data.tx_hash, reason: data.reason };
    case 'payment.granted':
      return { closed_at: at, paid_by: data.tx_hash };
    case 'payment.refused':
      return { closed_at: at, reason: data.reason };
  }
}

async function addSessions(tx: Tx, facts: Of<'payment.granted'>[], schema: string): Promise<void> {
  const rows = facts.map(({ data, seq }) => ({ ...data, nick_key: casefold(data.nick), seq }));
  await tx.query(
    `insert into ${schema}.sessions (session_id, channel, nick, nick_key, payer, network, amount, currency,
       tx_hash, duration_seconds, started_at, expires_at, holder, seq)
     select * from json_to_recordset($1::json) as row (session_id text, channel text, nick text, nick_key text,
       payer text, network text, amount text, currency text, tx_hash text, duration_seconds integer,
       started_at timestamptz, expires_at timestamptz, holder jsonb, seq bigint)`,
    [json(rows)],
  );
}

async function moveSessions(tx: Tx, facts: Of<'session.moved'>[], schema: string): Promise<void> {
  const last = new Map(facts.map(({ data, seq }) => [data.session_id, { ...data, seq }]));
  const rows = [...last.values()].map((row) => ({ ...row, nick_key: casefold(row.nick) }));
  await tx.query(
    `update ${schema}.sessions as s set nick = moved.nick, nick_key = moved.nick_key, seq = greatest(s.seq, moved.seq)
     from json_to_recordset($1::json) as moved (session_id text, nick text, nick_key text, seq bigint)
     where s.session_id = moved.session_id`,
    [json(rows)],
  );
}

async function claimSessions(tx: Tx, facts: Of<'session.claimed'>[], schema: string): Promise<void> {
  const last = new Map(facts.map(({ data, seq }) => [data.session_id, { ...data, seq }]));
  await tx.query(
    `update ${schema}.sessions as s set holder = claimed.holder, seq = greatest(s.seq, claimed.seq)
     from json_to_recordset($1::json) as claimed (session_id text, holder jsonb, seq bigint)
     where s.session_id = claimed.session_id`,
    [json([...last.values()])],
  );
}

async function endSessions(tx: Tx, facts: Of<'session.ended'>[], schema: string): Promise<void> {
  const rows = facts.map(({ data: { session_id }, at, seq }) => ({ session_id, at, seq }));
  await tx.query(
    `update ${schema}.sessions as s set ended_at = ended.at, seq = greatest(s.seq, ended.seq)
     from json_to_recordset($1::json) as ended (session_id text, at timestamptz, seq bigint)
     where s.session_id = ended.session_id`,
    [json(rows)],
  );
}
