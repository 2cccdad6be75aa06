import t from 'tap';
import { askOf, untilKept } from '../channels/stage.js';
import { withoutChain } from '../support/chain.js';
import { eventually } from '../support/eventually.js';
import { honest } from '../support/facilitator.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { startService } from '../support/service.js';
import { bodyOf, channelsFile, entering, paidChannel, payTo, proofOf, startPayments } from './stage.js';

// each on servers of its own, and most of it is waiting
t.jobs = 2;

const skip = withoutChain;

t.test('PAY-11 PAY-14 killed between settlement and grant', { skip }, async (t) => {
  const [nats, ircd, { chain, facilitator }] = await Promise.all([
    startNats(t),
    startIrcd(t),
    startPayments(t),
  ]);
  const service = await startService(
    t,
    { nats, ircd },
    {
      X402_FACILITATOR_URL: facilitator.url,
      X402_PAY_TO: payTo,
      PAID_CHANNELS: await channelsFile(t, [paidChannel({ maxSlots: 1, durationSeconds: 90 })]),
    },
  );
  await untilKept(service.url);
  const ann = await observe(ircd.port, { nick: 'ann' });
  t.teardown(() => ann.stop());
  await ann.ask();
  const access = `${service.url}/payments/access/alpha-test`;
  const account = await chain.payer();
  const proof = { 'payment-signature': await proofOf(account, access) };
  const present = async () => {
    const response = await fetch(access, entering('ann', proof));
    return { status: response.status, body: await bodyOf(response) };
  };

  // the money has moved, the service does not know, and never will
  facilitator.answer = async (operation, act) => {
    const answer = await act();
    if (operation !== 'settle') return answer;
    await service.kill('SIGKILL');
    return undefined;
  };
  await t.rejects(present(), 'nobody is left to answer');
  facilitator.answer = honest;
  t.equal(await chain.balance(account.address), 900_000n);
  await service.start();
  await untilKept(service.url);
  const granted = await present();
  t.match(granted, { status: 200, body: { status: 'granted', nick: 'ann' } });
  t.equal(await chain.balance(account.address), 900_000n, 'charged once');
  t.equal(await chain.balance(payTo), 100_000n);

  const isIn = () => {
    const moves = ann.raw.filter((line) => / (JOIN|PART) :?#alpha-test/.test(line));
    return / JOIN /.test(moves.at(-1) ?? '');
  };
  await eventually('ann to be in', isIn);
  await service.kill('SIGKILL');
  await service.start();
  await untilKept(service.url);
  t.same((await present()).body, granted.body, 'the grant outlives another crash');
  await eventually('ann to be out', () => !isIn(), 180_000);
  const late = Date.now() - Date.parse(granted.body.expiresAt);
  t.ok(late >= 0, `out ${late} ms after the end`);
  await eventually('the end to be recorded', async () => {
    const { activeSlots } = (await askOf(service.url, 'GET', '/payments/channels/alpha-test')).body;
    return activeSlots === 0;
  });
  t.match(await present(), { status: 402, body: { code: 'payment_spent' } }, 'bought one session, ever');
  t.equal(await chain.balance(account.address), 900_000n);
});

t.test('PAY-18 killed between settlement and grant, and nobody asks again', { skip }, async (t) => {
  const [nats, ircd, { chain, facilitator }] = await Promise.all([
    startNats(t),
    startIrcd(t),
    startPayments(t),
  ]);
  const service = await startService(
    t,
    { nats, ircd },
    {
      X402_FACILITATOR_URL: facilitator.url,
      X402_PAY_TO: payTo,
      CHAIN_RPC_URL: chain.url,
      PAID_CHANNELS: await channelsFile(t, [paidChannel()]),
    },
  );
  await untilKept(service.url);
  const ann = await observe(ircd.port, { nick: 'ann' });
  t.teardown(() => ann.stop());
  await ann.ask();
  const account = await chain.payer();
  const access = `${service.url}/payments/access/alpha-test`;
  const proof = { 'payment-signature': await proofOf(account, access) };
  facilitator.answer = async (operation, act) => {
    const answer = await act();
    if (operation !== 'settle') return answer;
    await service.kill('SIGKILL');
    return undefined;
  };
  await t.rejects(fetch(access, entering('ann', proof)), 'nobody is left to answer');
  facilitator.answer = honest;
  await service.start();
  const session = await eventually(
    'a session that nobody asked for again',
    async () => {
      const { body } = await askOf(service.url, 'GET', '/payments/sessions/ann');
      return (body.sessions as Record<string, unknown>[] | undefined)?.[0];
    },
    90_000,
  );
  t.match(session, { channel: '#alpha-test', payer: account.address, tx_hash: /^0x.{64}$/ });
  await eventually('ann to be in', () => ann.raw.some((line) => / JOIN :?#alpha-test/.test(line)));
  t.equal(facilitator.count('settle'), 1, 'nothing else was settled');
  t.equal(await chain.balance(account.address), 900_000n, 'charged once');
  t.same((await askOf(service.url, 'GET', '/ops/payments')).body, { payments: [] });
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  t.match(metrics, 'relay_payments_unresolved{state="unknown"} 0');
  t.match(metrics, 'relay_payments_unresolved{state="owed"} 0');
});
