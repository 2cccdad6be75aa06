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
  const turnstile = await startTurnstile(t, {
    natsUrl: nats.url,
    facilitatorUrl: facilitator.url,
    channels: [paidChannel({ maxSlots: 50 })],
  });
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
  const present = async (nick: string, paymentSignature: string, address: string) =>
    await turnstile
      .call(buyAccess, { channel: 'alpha-test', nick, paymentSignature }, { ...nobody, address })
      .then(
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

  await t.test('keep nobody else out', async (t) => {
    facilitator.answer = async (_, act) => await act();
    const honest = await chain.payer();
    const proof = await proofOf(honest, access);
    t.equal(await present('ann', proof, '203.0.113.8'), 200);
    // the wallet's own next payment waits for the hour to end
    t.equal((await payingFetch(stranger)(access, entering('nick0'))).status, 429);
    const [granted] = (await turnstile.facts()).filter(({ type }) => type === 'payment.granted');
    t.match(granted, { data: { nick: 'ann' } });
    t.ok(await turnstile.log.last(payments, paymentSubject((granted!.data as { payment: string }).payment)));
  });
});
