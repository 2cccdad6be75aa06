import t from 'tap';
import { nobody } from '../../src/operations/core/caller.js';
import { buyAccess } from '../../src/operations/payments/buy-access.js';
import { paymentSubject, payments } from '../../streams/payments/index.js';
import { withoutChain } from '../support/chain.js';
import { startNats } from '../support/nats.js';
import { baseNetwork } from '../support/payment-chain.js';
import { bodyOf, entering, paidChannel, payingFetch, proofOf, startPayments } from './stage.js';
import { startTurnstile } from './turnstile.js';

t.test('PAY-33 payments that look valid and never settle', { skip: withoutChain }, async (t) => {
  const [nats, { chain, facilitator }] = await Promise.all([startNats(t), startPayments(t)]);
  const options = {
    natsUrl: nats.url,
    facilitatorUrl: facilitator.url,
    channels: [paidChannel({ maxSlots: 100 })],
  };
  const [turnstile, other] = await Promise.all([startTurnstile(t, options), startTurnstile(t, options)]);
  const access = `${turnstile.url}/payments/access/alpha-test`;
  // whoever signs has the money when it is verified, and none when it is settled
  facilitator.answer = async (operation, act) =>
    operation === 'settle'
      ? {
          status: 200,
          body: { success: false, errorReason: 'insufficient_funds', transaction: '', network: baseNetwork },
        }
      : await act();
  const stranger = await chain.payer();
  const intents = async () =>
    (await turnstile.facts()).filter(({ type }) => type === 'payment.intended').length;
  const present = async (nick: string, paymentSignature: string, address: string, at = turnstile) =>
    await at.call(buyAccess, { channel: 'alpha-test', nick, paymentSignature }, { ...nobody, address }).then(
      (answer) => (answer as { status: number }).status,
      (error: { status?: number; code?: string }) => `${error.status} ${error.code}`,
    );

  await t.test('from one wallet, under nick after nick', async (t) => {
    const statuses = [];
    for (let n = 0; n < 30; n++) {
      const response = await payingFetch(stranger)(access, entering(`nick${n}`));
      statuses.push(response.status);
      if (response.status === 429) {
        t.ok(Number(response.headers.get('retry-after')) > 0);
        t.match(await bodyOf(response), { code: 'rate_limited' });
      }
    }
    t.same([...new Set(statuses)], [402, 429]);
    t.equal(await intents(), 5, 'that is all that stays on record');
    t.equal(facilitator.count('settle'), 5);
  });

  await t.test('from one address, with wallet after wallet', async (t) => {
    const before = await intents();
    const answers = new Map<unknown, number>();
    for (let n = 0; n < 35; n++) {
      const proof = await proofOf(await chain.payer(), access);
      const answer = await present(`other${n}`, proof, '203.0.113.7');
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
    t.same(
      [...answers],
      [
        [402, 30],
        ['429 rate_limited', 5],
      ],
    );
    t.equal((await intents()) - before, 30);
  });

  await t.test('before another process, and many at once', async (t) => {
    const before = await intents();
    const again = await payingFetch(stranger)(access.replace(turnstile.url, other.url), entering('nick99'));
    t.equal(again.status, 429, 'the wallet has had its hour');
    t.equal(
      await present('other99', await proofOf(await chain.payer(), access), '203.0.113.7', other),
      '429 rate_limited',
    );
    const impatient = await chain.payer();
    const proofs = await Promise.all(Array.from({ length: 30 }, () => proofOf(impatient, access)));
    const answers = await Promise.all(
      proofs.map((proof, n) => present(`many${n}`, proof, '203.0.113.9', n % 2 ? other : turnstile)),
    );
    t.equal(answers.filter((answer) => answer === 402).length, 5, `${answers}`);
    t.equal((await intents()) - before, 5);
    // what is on record already can be presented again, wherever
    const known = answers.indexOf(402);
    t.equal(await present(`many${known}`, proofs[known]!, '203.0.113.9', other), 402);
    t.equal(await present(`many${known}`, proofs[known]!, '203.0.113.9', turnstile), 402);
  });

  await t.test('that settle are not counted', async (t) => {
    facilitator.answer = async (_, act) => await act();
    const regular = await chain.payer();
    for (let n = 0; n < 7; n++)
      t.equal(await present(`regular${n}`, await proofOf(regular, access), '203.0.113.10'), 200);
  });

  await t.test('keep nobody else out', async (t) => {
    facilitator.answer = async (_, act) => await act();
    const honest = await chain.payer();
    const proof = await proofOf(honest, access);
    t.equal(await present('ann', proof, '203.0.113.8'), 200);
    // the wallet's own next payment waits for the hour to end
    t.equal((await payingFetch(stranger)(access, entering('nick0'))).status, 429);
    const granted = (await turnstile.facts()).findLast(({ type }) => type === 'payment.granted');
    t.match(granted, { data: { nick: 'ann' } });
    t.ok(await turnstile.log.last(payments, paymentSubject((granted!.data as { payment: string }).payment)));
  });
});
