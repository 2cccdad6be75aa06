import { type Holder, type Intended, payments } from '../../streams/payments/index.js';
import type { Tx } from '../core/sql.js';

/** The contract's session record; times are ISO 8601, `amount` is in units of the currency. */
export interface PaidSession {
  session_id: string;
  /** The name of the paid channel, with its `#`. */
  channel: string;
  nick: string;
  started_at: string;
  expires_at: string;
  duration_seconds: number;
  tx_hash: string;
  /** CAIP-2. */
  network: string;
  amount: string;
  currency: string;
  payer: string;
}

/** A session whose nick is not removed yet, whether its time is over or not. */
export interface OpenSession {
  session_id: string;
  channel: string;
  nick: string;
  expires_at: Date;
  /** Whose place it is; null if that is not known. */
  holder: Holder | null;
}

/** The sessions of a nick (casefolded) that last at `now`, in the order of their ends. */
export async function liveSessions(sql: Tx, schema: string, now: Date, nick: string): Promise<PaidSession[]> {
  const rows = await sql.query<
    Omit<PaidSession, 'started_at' | 'expires_at'> & { started_at: Date; expires_at: Date }
  >(
    `select session_id, channel, nick, started_at, expires_at, duration_seconds, tx_hash, network, amount,
       currency, payer
     from ${schema}.sessions where nick_key = $1 and expires_at > $2 and ended_at is null
     order by expires_at, session_id`,
    [nick, now],
  );
  return rows.map((row) => ({
    ...row,
    started_at: row.started_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  }));
}

/** How many sessions last at `now`, by channel; a channel without any is left out. */
export async function activeSlots(sql: Tx, schema: string, now: Date): Promise<Map<string, number>> {
  const rows = await sql.query<{ channel: string; sessions: number }>(
    `select channel, count(*) as sessions from ${schema}.sessions
     where expires_at > $1 and ended_at is null group by channel`,
    [now],
  );
  return new Map(rows.map(({ channel, sessions }) => [channel, sessions]));
}

/** All sessions whose nick is not removed yet, and the sequence up to which that is known. */
export async function openSessions(sql: Tx, schema: string): Promise<{ rows: OpenSession[]; seq: number }> {
  // first: a fact between the two queries is seen twice, which does no harm
  const [last] = await sql.query<{ seq: number | null }>(`select max(seq) as seq from ${schema}.sessions`);
  const rows = await sql.query<OpenSession>(
    `select session_id, channel, nick, expires_at, holder from ${schema}.sessions
     where ended_at is null order by expires_at, session_id`,
  );
  return { rows, seq: last?.seq ?? 0 };
}

/** A payment with an intent whose result is unknown, or that is settled without a session. */
export interface OpenPayment {
  intended: Intended;
  intended_at: Date;
  /** The transaction that settled it (empty if unknown), when a session is owed for it; else `null`. */
  paid_by: string | null;
}

const Intent = payments.facts['payment.intended'];

/**
 * All payments without an end that were intended since then, or are owed, and the sequence up to which that
 * is known.
 */
export async function openPayments(
  sql: Tx,
  schema: string,
  since: Date,
): Promise<{ rows: OpenPayment[]; seq: number }> {
  // first, as above
  const [last] = await sql.query<{ seq: number | null }>(`select max(seq) as seq from ${schema}.intents`);
  const found = await sql.query<OpenPayment & { owed_at: Date | null }>(
    `select intended, intended_at, owed_at, paid_by from ${schema}.intents
     where closed_at is null and (intended_at > $1 or owed_at is not null) order by intended_at, payment`,
    [since],
  );
  const rows = found.map(({ intended, intended_at, owed_at, paid_by }) => ({
    // as it was folded, perhaps by older code
    intended: Intent.parse(intended),
    intended_at,
    paid_by: owed_at === null ? null : paid_by,
  }));
  return { rows, seq: last?.seq ?? 0 };
}

/** An open payment as operators see it; times are ISO 8601. */
export interface UnresolvedPayment {
  payment: string;
  /**
   * `unknown`: nobody knows whether the money has moved. `owed`: it has, and there is no place for the
   * session.
   */
  state: 'unknown' | 'owed';
  channel: string;
  nick: string;
  payer: string;
  /** CAIP-2. */
  network: string;
  /** The amount in the smallest unit of the asset, as a whole number. */
  amount: string;
  nonce: string | null;
  tx_hash: string | null;
  /** Why the session is owed, as a code. */
  reason: string | null;
  intended_at: string;
}

/**
 * The open payments that operators should see: those sent for settlement between two moments, and all that
 * are owed.
 */
export async function unresolvedPayments(
  sql: Tx,
  schema: string,
  { since, until }: { since: Date; until: Date },
): Promise<UnresolvedPayment[]> {
  const rows = await sql.query<{
    intended: Intended;
    intended_at: Date;
    owed_at: Date | null;
    paid_by: string | null;
    reason: string | null;
  }>(
    `select intended, intended_at, owed_at, paid_by, reason from ${schema}.intents
     where closed_at is null and (owed_at is not null or (is_sent and intended_at > $1 and intended_at <= $2))
     order by intended_at, payment limit 500`,
    [since, until],
  );
  return rows.map(({ intended, intended_at, owed_at, paid_by, reason }) => {
    const { payment, channel, nick, payer, network, amount, nonce } = intended;
    const isOwed = owed_at !== null;
    return {
      payment,
      state: isOwed ? 'owed' : 'unknown',
      channel,
      nick,
      payer,
      network,
      amount,
      nonce,
      tx_hash: paid_by,
      reason: isOwed ? reason : null,
      intended_at: intended_at.toISOString(),
    };
  });
}
