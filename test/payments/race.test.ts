import t from 'tap';
import { paymentSubject } from '../../streams/payments/index.js';
import { withoutChain } from '../support/chain.js';
import { startNats } from '../support/nats.js';
import { bodyOf, entering, paidChannel, payingFetch, payTo, proofOf, startPayments } from './stage.js';
import { startTurnstile } from './turnstile.js';

const skip = withoutChain;
const price = 100_000n;

t.test('many at once, before two processes', { skip }, async (t) => {
  const nats = await startNats(t);
  const { chain, facilitator } = await startPayments(t);
  const shared = { natsUrl: nats.url, facilitatorUrl: facilitator.url };
  const channels = [paidChannel({ name: '#five', maxSlots: 5 }), paidChannel({ maxSlots: 100 })];
  const doors = await Promise.all([1, 2].map(() => startTurnstile(t, { ...shared, channels })));
  const at = (n: number, channel: string) => `${doors[n % 2]!.url}/payments/access/${channel}`;

  t.test('PAY-08 fifty payers for five places: five pay, forty-five pay nothing', async (t) => {
    const payers = await Promise.all(Array.from({ length: 50 }, () => chain.payer()));
    const answers = await Promise.all(
      payers.map(async (account, n) => await payingFetch(account)(at(n, 'five'), entering(`payer${n}`))),
    );
    const statuses = answers.map(({ status }) => status);
    t.equal(statuses.filter((status) => status === 200).length, 5);
    t.equal(statuses.filter((status) => status === 503).length, 45);
    for (const [n, account] of payers.entries()) {
      const spent = 1_000_000n - (await chain.balance(account.address));
      t.equal(spent, statuses[n] === 200 ? price : 0n);
    }
    t.equal(await chain.balance(payTo), 5n * price);
    t.equal(facilitator.count('settle'), 5, 'nothing else was ever to be settled');
    const full = answers.find(({ status }) => status === 503)!;
    t.match(await bodyOf(full), { error: 'The channel is full', code: 'channel_full' });
    const { activeSlots, maxSlots } = await bodyOf(await fetch(`${doors[0]!.url}/payments/channels/five`));
    t.same([activeSlots, maxSlots], [5, 5]);
  });

  t.test('PAY-10 one payment, a hundred times at once: one session, one charge', async (t) => {
    const account = await chain.payer();
    const proof = { 'payment-signature': await proofOf(account, at(0, 'alpha-test')) };
    const present = async (n: number) => {
      const response = await fetch(at(n, 'alpha-test'), entering('ann', proof));
      return { status: response.status, body: await bodyOf(response) };
    };
    const wave = await Promise.all(Array.from({ length: 100 }, (_, n) => present(n)));
    // two processes that settle the same at the same moment may not know at first which of them did
    for (const { status, body } of wave)
      t.ok(status === 200 || body.code === 'settlement_unknown', `${status} ${JSON.stringify(body)}`);
    const last = await Promise.all([present(0), present(1)]);
    const sessions = new Set([...wave, ...last].flatMap(({ body }) => body.sessionId ?? []));
    t.same(
      last.map(({ status }) => status),
      [200, 200],
    );
    t.equal(sessions.size, 1);
    t.equal(1_000_000n - (await chain.balance(account.address)), price);
  });

  t.test('PAY-10 one payment for twenty nicks and two channels: one of them gets it', async (t) => {
    const account = await chain.payer();
    const proof = { 'payment-signature': await proofOf(account, at(0, 'alpha-test')) };
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const channel = n % 3 === 0 ? 'five' : 'alpha-test';
        const response = await fetch(at(n, channel), entering(`thief${n}`, proof));
        return { status: response.status, body: await bodyOf(response) };
      }),
    );
    const granted = answers.filter(({ status }) => status === 200);
    t.ok(granted.length <= 1, `${granted.length} grants`);
    for (const { status, body } of answers)
      t.ok([200, 402, 503].includes(status) || body.code === 'settlement_unknown', `${status} ${body.code}`);
    const facts = await doors[0]!.facts();
    const bought = facts.filter(
      (fact) => fact.type === 'payment.granted' && fact.data.nick.startsWith('thief'),
    );
    t.equal(bought.length, granted.length);
    t.equal(1_000_000n - (await chain.balance(account.address)), price);
    const payment = facts.findLast((fact) => fact.type === 'payment.intended')!;
    t.equal(payment.subject, paymentSubject(payment.data.payment));
  });

  t.test('PAY-09 ten payments of one nick at once: one is taken', async (t) => {
    const payers = await Promise.all(Array.from({ length: 10 }, () => chain.payer()));
    const before = await chain.balance(payTo);
    const answers = await Promise.all(
      payers.map(async (account, n) => {
        const response = await payingFetch(account)(at(n, 'alpha-test'), entering(n % 2 ? 'Olga' : 'olga'));
        return { status: response.status, body: await bodyOf(response) };
      }),
    );
    t.equal(answers.filter(({ status }) => status === 200).length, 1);
    for (const { status, body } of answers.filter(({ status }) => status !== 200))
      t.match({ status, code: body.code }, { status: 409, code: /^(session_active|payment_in_progress)$/ });
    t.equal((await chain.balance(payTo)) - before, price);
  });
});
