import t from 'tap';
import {
  liveSessionOf,
  type PaymentFact,
  type PlacesCommand,
  paymentId,
  placesDecider,
} from '../../streams/payments/index.js';
import { specification } from '../support/spec.js';

const { given } = specification(placesDecider);
const channel = '#alpha-test';
const now = new Date('2026-01-01T12:00:00Z');
const after = (ms: number) => new Date(now.getTime() + ms);
const reserve = (payment: string, nick: string, maxSlots = 2): PlacesCommand => ({
  is: 'reserve',
  channel,
  payment,
  nick,
  maxSlots,
  forMs: 60_000,
});
const reserved = (payment: string, nick: string, until = after(60_000)): PaymentFact => ({
  type: 'slot.reserved',
  data: { payment, channel, nick, until: until.toISOString() },
});
const bought = (payment: string, nick: string) => ({
  payment,
  session_id: `s-${payment}`,
  nick,
  payer: '0xaa',
  network: 'eip155:8453',
  asset: '0xbb',
  amount: '0.10',
  currency: 'USDC',
  tx_hash: '0xcc',
  duration_seconds: 60,
  holder: null,
});
const granted = (payment: string, nick: string, at = now): PaymentFact => ({
  type: 'payment.granted',
  data: {
    ...bought(payment, nick),
    channel,
    started_at: at.toISOString(),
    expires_at: new Date(at.getTime() + 60_000).toISOString(),
  },
});
const refused = (payment: string, nick: string, at = now): PaymentFact => ({
  type: 'payment.refused',
  data: { payment, channel, nick, reason: 'insufficient_funds', at: at.toISOString() },
});
const grant = (payment: string, nick: string, maxSlots = 2): PlacesCommand => ({
  is: 'grant',
  channel,
  maxSlots,
  session: bought(payment, nick),
});

t.test('PAY-08 a place is kept while there is one', async (t) => {
  given([]).when(reserve('p1', 'ann'), now).decides(t, reserved('p1', 'ann'));
  given([reserved('p1', 'ann')])
    .when(reserve('p2', 'bob'), now)
    .decides(t, reserved('p2', 'bob'));
  const full = [reserved('p1', 'ann'), granted('p2', 'bob')];
  given(full).when(reserve('p3', 'carl'), now).refuses(t, 'channel_full');
  const check: PlacesCommand = { is: 'check', channel, payment: 'p3', nick: 'carl', maxSlots: 2 };
  given(full).when(check, now).refuses(t, 'channel_full');
  given([reserved('p1', 'ann')])
    .when(check, now)
    .decides(t, undefined);
  given(full)
    .when(reserve('p3', 'carl', 3), now)
    .decides(t, reserved('p3', 'carl'), 'of three');
  given(full)
    .when(reserve('p1', 'ann'), after(1_000))
    .decides(t, reserved('p1', 'ann', after(61_000)), 'longer');
  given(full)
    .when(reserve('p3', 'carl'), after(60_000))
    .decides(t, reserved('p3', 'carl', after(120_000)));
  given([...full, { type: 'slot.released', data: { payment: 'p1', channel, reason: 'x' } }])
    .when(reserve('p3', 'carl'), now)
    .decides(t, reserved('p3', 'carl'), 'released');
  given([...full, refused('p1', 'ann')])
    .when(reserve('p3', 'carl'), now)
    .decides(t, reserved('p3', 'carl'), 'refused');
  given([...full, { type: 'session.ended', data: { session_id: 's-p2', channel, nick: 'bob' } }])
    .when(reserve('p3', 'carl'), now)
    .decides(t, reserved('p3', 'carl'), 'ended');
});

t.test('PAY-09 one session a nick, and one payment at a time', async (t) => {
  given([granted('p1', 'ann')])
    .when(reserve('p2', 'ANN'), now)
    .refuses(t, 'session_active');
  given([granted('p1', 'a[')])
    .when(reserve('p2', 'A{'), now)
    .refuses(t, 'session_active');
  given([reserved('p1', 'ann')])
    .when(reserve('p2', 'Ann'), now)
    .refuses(t, 'payment_in_progress');
  given([reserved('p1', 'ann')])
    .when(reserve('p1', 'bob'), now)
    .refuses(t, 'payment_spent', 'one payment, two nicks');
  given([granted('p1', 'ann')])
    .when(reserve('p2', 'ann'), after(60_000))
    .decides(t, reserved('p2', 'ann', after(120_000)), 'after its end');
  given([reserved('p1', 'ann')])
    .when(reserve('p2', 'ann'), after(60_000))
    .decides(
      t,
      reserved('p2', 'ann', after(120_000)),
      'after the time of one of which nothing was heard again',
    );
});

t.test('PAY-10 a payment buys one session, ever', async (t) => {
  given([reserved('p1', 'ann')])
    .when(grant('p1', 'ann'), now)
    .decides(t, granted('p1', 'ann'));
  given([granted('p1', 'ann')])
    .when(grant('p1', 'ann'), after(1_000))
    .decides(t, undefined, 'the same session');
  given([granted('p1', 'ann')])
    .when(grant('p1', 'ann'), after(90_000))
    .decides(t, undefined, 'also after it');
  given([granted('p1', 'ann')])
    .when(reserve('p1', 'ann'), after(90_000))
    .refuses(t, 'payment_spent');
  given([refused('p1', 'ann')])
    .when(grant('p1', 'ann'), now)
    .refuses(t, 'payment_spent');
  given([refused('p1', 'ann')])
    .when(reserve('p1', 'ann'), now)
    .refuses(t, 'payment_spent');
  given([granted('p1', 'ann')])
    .when({ is: 'refuse', channel, payment: 'p1', nick: 'ann', reason: 'x' }, now)
    .decides(t, undefined);
  const state = placesDecider.initial();
  placesDecider.evolve(state, granted('p1', 'ann'));
  t.match(liveSessionOf(state, 'p1', after(59_999)), { session_id: 's-p1' });
  t.equal(liveSessionOf(state, 'p1', after(60_000)), undefined);
  t.equal(liveSessionOf(state, 'p2', now), undefined);
});

t.test('PAY-08 a reservation that ran out may have been given away', async (t) => {
  const late = [
    reserved('p1', 'ann'),
    reserved('p2', 'bob', after(100_000)),
    reserved('p3', 'carl', after(100_000)),
  ];
  given(late).when(grant('p1', 'ann'), after(70_000)).refuses(t, 'channel_full');
  given(late.slice(0, 2))
    .when(grant('p1', 'ann'), after(70_000))
    .decides(t, granted('p1', 'ann', after(70_000)));
  given([...late, granted('p9', 'ann', after(65_000))])
    .when(grant('p1', 'ann', 9), after(70_000))
    .refuses(t, 'session_active');
});

t.test('PAY-19 what is owed comes before what is not paid yet', async (t) => {
  const data = { payment: 'p1', channel, nick: 'ann', tx_hash: '0xcc', reason: 'channel_full' };
  const owed: PaymentFact = { type: 'payment.owed', data };
  const owe: PlacesCommand = { is: 'owe', ...data };
  given([reserved('p1', 'ann')])
    .when(owe, now)
    .decides(t, owed);
  given([owed]).when(owe, now).decides(t, undefined, 'said once');
  given([granted('p1', 'ann')])
    .when(owe, now)
    .decides(t, undefined, 'it has its session');
  const full = [granted('p2', 'bob'), granted('p3', 'carl'), owed];
  given(full).when(grant('p1', 'ann'), now).refuses(t, 'channel_full');
  given(full)
    .when(reserve('p4', 'dora', 3), now)
    .refuses(t, 'channel_full', 'the third place is taken by what is owed');
  given(full)
    .when(grant('p1', 'ann', 3), now)
    .decides(t, granted('p1', 'ann'));
  given(full)
    .when(grant('p1', 'ann'), after(60_000))
    .decides(t, granted('p1', 'ann', after(60_000)), 'when they are over');
  given([owed]).when(reserve('p4', 'ANN'), now).refuses(t, 'payment_in_progress', 'no second payment');
  given([owed, granted('p1', 'ann')])
    .when(reserve('p4', 'dora', 2), now)
    .decides(t, reserved('p4', 'dora'));
  given([owed, refused('p1', 'ann')])
    .when(reserve('p4', 'ann', 1), now)
    .decides(t, reserved('p4', 'ann'));
  const two: PaymentFact[] = [owed, { type: 'payment.owed', data: { ...data, payment: 'p5' } }];
  given(two)
    .when(grant('p1', 'ann', 1), now)
    .decides(t, granted('p1', 'ann'), 'neither keeps the other out');
});

t.test('PAY-18 a place in doubt is kept for longer', async (t) => {
  const keep = (until: Date): PlacesCommand => ({ is: 'keep', channel, payment: 'p1', until });
  given([reserved('p1', 'ann')])
    .when(keep(after(600_000)), now)
    .decides(t, reserved('p1', 'ann', after(600_000)));
  given([reserved('p1', 'ann')])
    .when(keep(after(30_000)), now)
    .decides(t, undefined, 'never shorter');
  given([reserved('p1', 'ann')])
    .when(keep(after(600_000)), after(60_000))
    .decides(t, undefined, 'it has run out');
  given([])
    .when(keep(after(600_000)), now)
    .decides(t, undefined);
});

t.test('PAY-10 what changes nothing', async (t) => {
  given([]).when({ is: 'look', channel }, now).decides(t, undefined);
  given([]).when({ is: 'release', channel, payment: 'p1', reason: 'x' }, now).decides(t, undefined);
  given([]).when({ is: 'end', channel, session_id: 's-p1' }, now).decides(t, undefined);
  given([granted('p1', 'ann')])
    .when({ is: 'end', channel, session_id: 's-p1' }, now)
    .decides(t, { type: 'session.ended', data: { session_id: 's-p1', channel, nick: 'ann' } });
  given([reserved('p1', 'ann')])
    .when({ is: 'release', channel, payment: 'p1', reason: 'x' }, now)
    .decides(t, { type: 'slot.released', data: { payment: 'p1', channel, reason: 'x' } });
});

t.test('PAY-10 what is remembered does not grow for ever', async (t) => {
  const state = placesDecider.initial();
  const day = 24 * 3_600_000;
  for (let n = 0; n < 1_000; n++) {
    const at = new Date(now.getTime() + n * (day / 10));
    placesDecider.evolve(state, reserved(`r${n}`, 'bob', at));
    placesDecider.evolve(state, granted(`p${n}`, 'ann', at));
    placesDecider.evolve(state, {
      type: 'session.ended',
      data: { session_id: `s-p${n}`, channel, nick: 'ann' },
    });
  }
  t.equal(state.sessions.size, 0);
  t.ok(state.reserved.size <= 2, `${state.reserved.size} reservations`);
  t.equal(state.outcomes.size, 70, 'a week of ten a day');
});

t.test('PAY-10 the same money has one id', async (t) => {
  t.equal(paymentId('eip155:8453', '0xAB', '0xCD'), paymentId('eip155:8453', '0xab', '0xcd'));
  t.not(paymentId('eip155:8453', '0xab', '0xcd'), paymentId('eip155:137', '0xab', '0xcd'));
  t.match(paymentId('x'), /^[A-Za-z0-9_-]{43}$/, 'a token of a subject');
});

t.test('PAY-32 a place goes with whoever takes another nick', async (t) => {
  const move = (from: string, nick: string, at = after(1_000)): PlacesCommand => ({
    is: 'move',
    channel,
    from,
    nick,
    at,
  });
  const moved = (from: string, nick: string): PaymentFact => ({
    type: 'session.moved',
    data: { session_id: 's-p1', channel, from, nick },
  });
  const seated = [granted('p1', 'ann')];
  given(seated).when(move('Ann', 'anna'), now).decides(t, moved('Ann', 'anna'));
  given(seated).when(move('bob', 'rob'), now).decides(t, undefined, 'who has none has none');
  given(seated).when(move('ann', 'ANN'), now).decides(t, undefined, 'spelled in another way');
  given(seated)
    .when(move('ann', 'anna', after(-1)), now)
    .decides(t, undefined, 'it was the nick of another then');
  given(seated).when(move('ann', 'anna'), after(60_000)).decides(t, undefined, 'its time is over');
  given([...seated, granted('p2', 'ann', after(60_000))])
    .when(move('ann', 'anna', after(61_000)), after(61_000))
    .decides(
      t,
      { type: 'session.moved', data: { session_id: 's-p2', channel, from: 'ann', nick: 'anna' } },
      'an earlier place of theirs is over, and nobody has ended it yet',
    );
  given([...seated, granted('p2', 'bob')])
    .when(move('ann', 'bob'), now)
    .decides(t, undefined, 'who has one already');
  given([...seated, reserved('p2', 'bob')])
    .when(move('ann', 'bob'), now)
    .decides(t, undefined, 'who is paying');
  const gone = [...seated, moved('ann', 'anna')];
  given(gone).when(move('ann', 'mallory'), now).decides(t, undefined, 'nobody inherits the old nick');
  given(gone).when(reserve('p2', 'ann'), now).decides(t, reserved('p2', 'ann'), 'who pays for it has it');
  given(gone).when(reserve('p2', 'anna'), now).refuses(t, 'session_active');
  given(gone)
    .when({ is: 'end', channel, session_id: 's-p1' }, now)
    .decides(t, { type: 'session.ended', data: { session_id: 's-p1', channel, nick: 'anna' } });
});

t.test('PAY-32 a place goes over to whoever presents its payment', async (t) => {
  const one = { account: null, host: 'a@one' };
  const other = { account: 'ann', host: 'a@two' };
  const claim = (holder: typeof one | typeof other): PlacesCommand => ({
    is: 'claim',
    channel,
    payment: 'p1',
    holder,
  });
  const claimed = (holder: typeof one | typeof other): PaymentFact => ({
    type: 'session.claimed',
    data: { session_id: 's-p1', channel, nick: 'ann', holder },
  });
  const seated = [granted('p1', 'ann')];
  given([]).when(claim(one), now).decides(t, undefined, 'it has bought nothing');
  given(seated).when(claim(one), now).decides(t, claimed(one), 'whose place it is was not known');
  given([...seated, claimed(one)])
    .when(claim({ ...one }), now)
    .decides(t, undefined, 'the same person');
  given([...seated, claimed(one)])
    .when(claim(other), now)
    .decides(t, claimed(other));
  given(seated).when(claim(one), after(60_000)).decides(t, undefined, 'its time is over');
  const many = Array.from({ length: 50 }, (_, n) => claimed(n % 2 === 0 ? other : one));
  given([...seated, ...many.slice(1)])
    .when(claim(other), now)
    .decides(t, claimed(other));
  given([...seated, ...many])
    .when(claim(other), now)
    .decides(t, undefined, 'one payment fills no record');
});
