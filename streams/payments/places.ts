import { type Decider, Refusal } from '../core/index.js';
import { casefold } from '../irc-grammar.js';
import { type Granted, type Holder, type PaymentFact, placesSubject } from './facts.js';

/** What is known of the places of one paid channel. */
export interface PlacesState {
  /** Kept for payments under way, by payment; `until` in milliseconds. */
  reserved: Map<string, { nick: string; until: number }>;
  /** Sessions that have not ended, by id. */
  sessions: Map<string, Granted>;
  /** How often each of them went over to somebody with another host or account. */
  claims: Map<string, number>;
  /** Payments that are settled and have no session yet, with their nicks. */
  owed: Map<string, string>;
  /** What came of payments, for longer than they can be presented again. */
  outcomes: Map<string, { is: 'granted' | 'refused'; what: string; at: number }>;
}

/** What can be asked for the places of a channel. */
export type PlacesCommand = { channel: string } /** Nothing: how they are. */ & (
  | { is: 'look' }
  | { is: 'reserve'; payment: string; nick: string; maxSlots: number; forMs: number }
  /** Whether a place could be kept; keeps none. */
  | { is: 'check'; payment: string; nick: string; maxSlots: number }
  /** Keeps a place that is still kept until a later moment. */
  | { is: 'keep'; payment: string; until: Date }
  | { is: 'release'; payment: string; reason: string }
  | {
      is: 'grant';
      maxSlots: number;
      session: Omit<Granted, 'channel' | 'started_at' | 'expires_at'>;
    }
  | { is: 'owe'; payment: string; nick: string; tx_hash: string; reason: string }
  | { is: 'refuse'; payment: string; nick: string; reason: string }
  /** Who had that nick at that time took another one. */
  | { is: 'move'; from: string; nick: string; at: Date }
  /** Somebody with the nick of its session has presented this payment. */
  | { is: 'claim'; payment: string; holder: Holder }
  | { is: 'end'; session_id: string }
);

/** How long a payment whose settlement is not known can be presented again, in milliseconds. */
export const claimMs = 3 * 24 * 3_600_000;
/** How long what came of a payment is remembered, in milliseconds: well beyond all that can be claimed. */
const rememberedMs = 7 * 24 * 3_600_000;
/** A session goes over so often to somebody with another host or account, and then stays where it is. */
const mostClaims = 50;
/** When somebody may ask again who has to wait for a session that is owed, in milliseconds. */
const owedAgainMs = 60_000;
/** How long a reservation that ran out is kept, in milliseconds: longer than clocks differ. */
const forgottenMs = 3_600_000;

/**
 * The places of a paid channel: never more sessions and reservations than there are places, one session a nick, and
 * one session a payment. Those who are owed a session come before those who have not paid yet. Time ends sessions and
 * reservations by itself.
 */
export const placesDecider: Decider<PlacesState, PlacesCommand, PaymentFact> = {
  initial: () => ({
    reserved: new Map(),
    sessions: new Map(),
    claims: new Map(),
    owed: new Map(),
    outcomes: new Map(),
  }),

  subject: ({ channel }) => placesSubject(channel),

  evolve(state, { type, data }) {
    switch (type) {
      case 'payment.intended':
        break; // has a subject of its own
      case 'slot.reserved': {
        const until = Date.parse(data.until);
        state.reserved.set(data.payment, { nick: data.nick, until });
        // those that were neither released nor paid for: whoever was at it has died
        for (const [payment, old] of state.reserved)
          if (old.until < until - forgottenMs) state.reserved.delete(payment);
        break;
      }
      case 'slot.released':
        state.reserved.delete(data.payment);
        break;
      case 'payment.granted': {
        const at = Date.parse(data.started_at);
        state.reserved.delete(data.payment);
        state.owed.delete(data.payment);
        state.sessions.set(data.session_id, data);
        remember(state, data.payment, { is: 'granted', what: data.session_id, at });
        break;
      }
      case 'payment.owed':
        state.reserved.delete(data.payment);
        state.owed.set(data.payment, data.nick);
        break;
      case 'payment.refused':
        state.reserved.delete(data.payment);
        state.owed.delete(data.payment);
        remember(state, data.payment, { is: 'refused', what: data.reason, at: Date.parse(data.at) });
        break;
      case 'session.moved': {
        const session = state.sessions.get(data.session_id);
        if (session) state.sessions.set(data.session_id, { ...session, nick: data.nick });
        break;
      }
      case 'session.claimed': {
        const session = state.sessions.get(data.session_id);
        if (!session) break;
        state.sessions.set(data.session_id, { ...session, holder: data.holder });
        state.claims.set(data.session_id, (state.claims.get(data.session_id) ?? 0) + 1);
        break;
      }
      case 'session.ended':
        state.sessions.delete(data.session_id);
        state.claims.delete(data.session_id);
        break;
    }
  },

  decide(command, state, now) {
    const { channel } = command;
    switch (command.is) {
      case 'look':
        return undefined;
      case 'check':
      case 'reserve': {
        const { payment, nick, maxSlots } = command;
        if (state.outcomes.has(payment) || isKeptForAnother(state, payment, nick)) throw spent();
        requireAlone(state, payment, nick, now);
        requirePlace(state, payment, maxSlots, now);
        if (command.is === 'check') return undefined;
        const until = new Date(now.getTime() + command.forMs).toISOString();
        return { type: 'slot.reserved', data: { payment, channel, nick, until } };
      }
      case 'keep': {
        const { payment } = command;
        const kept = state.reserved.get(payment);
        if (!kept || kept.until <= now.getTime() || kept.until >= command.until.getTime()) return undefined;
        const until = command.until.toISOString();
        return { type: 'slot.reserved', data: { payment, channel, nick: kept.nick, until } };
      }
      case 'release': {
        const { payment, reason } = command;
        if (!state.reserved.has(payment)) return undefined;
        return { type: 'slot.released', data: { payment, channel, reason } };
      }
      case 'grant': {
        const { session, maxSlots } = command;
        const outcome = state.outcomes.get(session.payment);
        if (outcome?.is === 'granted') return undefined;
        if (outcome) throw spent();
        // paid or not: a reservation that ran out may have been given away
        requireAlone(state, session.payment, session.nick, now);
        requirePlace(state, session.payment, maxSlots, now);
        const started_at = now.toISOString();
        const expires_at = new Date(now.getTime() + session.duration_seconds * 1_000).toISOString();
        return { type: 'payment.granted', data: { ...session, channel, started_at, expires_at } };
      }
      case 'owe': {
        const { payment, nick, tx_hash, reason } = command;
        if (state.outcomes.has(payment) || state.owed.has(payment)) return undefined;
        return { type: 'payment.owed', data: { payment, channel, nick, tx_hash, reason } };
      }
      case 'refuse': {
        const { payment, nick, reason } = command;
        if (state.outcomes.has(payment)) return undefined;
        return { type: 'payment.refused', data: { payment, channel, nick, reason, at: now.toISOString() } };
      }
      case 'move': {
        const { from, nick, at } = command;
        const session = liveSessionAt(state, from, at, now);
        // one session a nick: what waits for that nick, or has come to it, is another's
        if (!session || isTaken(state, nick, now)) return undefined;
        return { type: 'session.moved', data: { session_id: session.session_id, channel, from, nick } };
      }
      case 'claim': {
        const { payment, holder } = command;
        const session = liveSessionOf(state, payment, now);
        if (!session || isSame(session.holder, holder)) return undefined;
        const { session_id, nick } = session;
        // each stays on record: one payment must not fill it
        if ((state.claims.get(session_id) ?? 0) >= mostClaims) return undefined;
        return { type: 'session.claimed', data: { session_id, channel, nick, holder } };
      }
      case 'end': {
        const session = state.sessions.get(command.session_id);
        if (!session) return undefined;
        const { session_id, nick } = session;
        return { type: 'session.ended', data: { session_id, channel, nick } };
      }
    }
  },
};

/** The session that a payment has bought, while it lasts. */
export function liveSessionOf(state: Readonly<PlacesState>, payment: string, now: Date): Granted | undefined {
  const outcome = state.outcomes.get(payment);
  const session = outcome?.is === 'granted' ? state.sessions.get(outcome.what) : undefined;
  return session && isLive(session, now) ? session : undefined;
}

/** The error of a payment that was used, or refused, before. */
export function spent(reason?: string): Refusal {
  const text = reason ? `This payment was refused before: ${reason}` : 'This payment was used before';
  return new Refusal('payment_spent', text);
}

function remember(
  state: PlacesState,
  payment: string,
  outcome: { is: 'granted' | 'refused'; what: string; at: number },
): void {
  state.outcomes.set(payment, outcome);
  for (const [old, { at }] of state.outcomes) {
    // in the order in which they came
    if (at > outcome.at - rememberedMs) break;
    state.outcomes.delete(old);
  }
}

const isLive = ({ expires_at }: Granted, now: Date) => Date.parse(expires_at) > now.getTime();

const isSame = (one: Holder | null, other: Holder) =>
  one?.account === other.account && one.host === other.host;

/** The session of a nick that had begun by then and lasts. An earlier one may be over, and not ended on record yet. */
function liveSessionAt(
  { sessions }: Readonly<PlacesState>,
  nick: string,
  at: Date,
  now: Date,
): Granted | undefined {
  const key = casefold(nick);
  return [...sessions.values()].find(
    (session) =>
      casefold(session.nick) === key &&
      Date.parse(session.started_at) <= at.getTime() &&
      isLive(session, now),
  );
}

function isTaken({ sessions, reserved, owed }: Readonly<PlacesState>, nick: string, now: Date): boolean {
  const key = casefold(nick);
  const isTheirs = (other: string) => casefold(other) === key;
  return (
    [...sessions.values()].some((session) => isTheirs(session.nick) && isLive(session, now)) ||
    [...reserved.values()].some((kept) => isTheirs(kept.nick) && kept.until > now.getTime()) ||
    [...owed.values()].some(isTheirs)
  );
}

function requireAlone(state: Readonly<PlacesState>, payment: string, nick: string, now: Date): void {
  const key = casefold(nick);
  for (const session of state.sessions.values()) {
    if (casefold(session.nick) !== key || !isLive(session, now)) continue;
    throw new Refusal('session_active', 'This nick has a session in the channel', {
      hint: `It lasts until ${session.expires_at}; it cannot be extended before`,
      retryAfter: secondsUntil(Date.parse(session.expires_at), now),
    });
  }
  for (const [other, { nick, until }] of state.reserved) {
    if (other === payment || casefold(nick) !== key || until <= now.getTime()) continue;
    throw inProgress(until, now);
  }
  // of those who are owed a session, each is as good as the other
  if (state.owed.has(payment)) return;
  for (const nick of state.owed.values())
    if (casefold(nick) === key) throw inProgress(now.getTime() + owedAgainMs, now);
}

function inProgress(until: number, now: Date): Refusal {
  return new Refusal('payment_in_progress', 'Another payment for this nick is under way', {
    retryAfter: secondsUntil(until, now),
  });
}

function requirePlace(state: Readonly<PlacesState>, payment: string, maxSlots: number, now: Date): void {
  const ends = [
    ...[...state.sessions.values()].map(({ expires_at }) => Date.parse(expires_at)),
    ...[...state.reserved].flatMap(([other, { until }]) => (other === payment ? [] : [until])),
  ].filter((end) => end > now.getTime());
  const before = state.owed.has(payment) ? 0 : state.owed.size;
  if (ends.length + before < maxSlots) return;
  throw new Refusal('channel_full', 'The channel is full', {
    retryAfter: secondsUntil(ends.length > 0 ? Math.min(...ends) : now.getTime() + owedAgainMs, now),
  });
}

/** One payment, presented for two nicks at the same time. */
function isKeptForAnother(state: Readonly<PlacesState>, payment: string, nick: string): boolean {
  const kept = state.reserved.get(payment);
  return kept !== undefined && casefold(kept.nick) !== casefold(nick);
}

function secondsUntil(end: number, now: Date): number {
  return Math.max(1, Math.ceil((end - now.getTime()) / 1_000));
}
