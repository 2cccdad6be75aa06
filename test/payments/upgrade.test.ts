import t from 'tap';
import { withoutChain } from '../support/chain.js';
import { eventually } from '../support/eventually.js';
import { honest } from '../support/facilitator.js';
import { startNats } from '../support/nats.js';
import { bodyOf, entering, paidChannel, proofOf, startPayments } from './stage.js';
import { startTurnstile } from './turnstile.js';

const price = 100_000n;

t.test('PAY-10 while one of two processes is of an earlier version', { skip: withoutChain }, async (t) => {
  const nats = await startNats(t);
  const { chain, facilitator } = await startPayments(t);
  const shared = {
    natsUrl: nats.url,
    facilitatorUrl: facilitator.url,
    timeoutMs: 3_000,
    channels: [paidChannel({ maxSlots: 50 })],
  };
  const earlier = await startTurnstile(t, { ...shared, isOfEarlierVersion: true });
  const present = await startTurnstile(t, { ...shared, rpcUrl: chain.url });
  const doors = [earlier, present];
  const access = `${present.url}/payments/access/alpha-test`;
  const show = async (door: { url: string }, nick: string, proof: string) => {
    const asked = entering(nick, { 'payment-signature': proof });
    const response = await fetch(`${door.url}/payments/access/alpha-test`, asked);
    return { status: response.status, body: await bodyOf(response) };
  };
  const granted = async () => (await present.facts()).filter(({ type }) => type === 'payment.granted');
  t.afterEach(() => {
    facilitator.answer = honest;
  });

  await t.test('one payment, many times before both: one session, one charge', async (t) => {
    const account = await chain.payer();
    const proof = await proofOf(account, access);
    const wave = await Promise.all(Array.from({ length: 30 }, (_, n) => show(doors[n % 2]!, 'ann', proof)));
    for (const { status, body } of wave)
      t.ok(status === 200 || body.code === 'settlement_unknown', `${status} ${body.code}`);
    const last = await Promise.all(doors.map((door) => show(door, 'ann', proof)));
    t.same(
      last.map(({ status }) => status),
      [200, 200],
    );
    t.equal(new Set([...wave, ...last].flatMap(({ body }) => body.sessionId ?? [])).size, 1);
    t.equal((await granted()).length, 1);
    t.equal(1_000_000n - (await chain.balance(account.address)), price);
  });

  await t.test('begun by one, ended by the other, in both directions', async (t) => {
    for (const [first, second] of [doors, doors.toReversed()] as [typeof earlier, typeof earlier][]) {
      const account = await chain.payer();
      const proof = await proofOf(account, access);
      const nick = first === earlier ? 'bob' : 'carol';
      // the money has moved, and nobody says so
      facilitator.answer = async (operation, act) => {
        const answer = await act();
        return operation === 'settle' ? undefined : answer;
      };
      const before = (await granted()).length;
      const begun = await show(first, nick, proof);
      facilitator.answer = honest;
      t.ok(begun.status === 200 || begun.body.code === 'settlement_unknown', `${begun.status}`);
      const ended = await show(second, nick, proof);
      t.match(ended, { status: 200, body: { status: 'granted', nick, durationSeconds: 1_800 } });
      t.same((await show(first, nick, proof)).body, ended.body);
      t.equal((await granted()).length, before + 1, 'granted once');
      t.equal(1_000_000n - (await chain.balance(account.address)), price, 'charged once');
    }
  });

  await t.test('begun by the earlier one, and nobody asks again', async (t) => {
    const intent = (await earlier.facts()).find(
      (fact) => fact.type === 'payment.intended' && fact.data.nick === 'bob',
    );
    t.match(intent?.data, { terms: null, proof: null, holder: null }, 'as that version has written it');
    const account = await chain.payer();
    const proof = await proofOf(account, access);
    const before = (await granted()).length;
    facilitator.answer = async (operation, act) => {
      const answer = await act();
      return operation === 'settle' ? undefined : answer;
    };
    t.match(await show(earlier, 'dave', proof), { status: 502, body: { code: 'settlement_unknown' } });
    facilitator.answer = honest;
    // both versions have such a worker for a while
    for (const door of doors) door.resolve({ firstMs: 50, longestMs: 200, owedMs: 200 });
    await eventually('the session', async () => (await granted()).length > before);
    const again = await show(present, 'dave', proof);
    t.match(again, { status: 200, body: { nick: 'dave' } });
    t.equal((await granted()).length, before + 1);
    t.equal(1_000_000n - (await chain.balance(account.address)), price);
  });
});
