import t from 'tap';
import { payments, placesDecider } from '../../streams/payments/index.js';
import { withoutChain } from '../support/chain.js';
import { eventually } from '../support/eventually.js';
import { honest, type TestFacilitator } from '../support/facilitator.js';
import { startNats } from '../support/nats.js';
import { bodyOf, entering, paidChannel, proofOf, startPayments } from './stage.js';
import { startTurnstile } from './turnstile.js';

const skip = withoutChain;
const price = 100_000n;
const pauses = { firstMs: 3_500, longestMs: 1_000, owedMs: 200 };

/** Settles, or not, and keeps silent about it. */
const silentAfter =
  (acts: boolean): TestFacilitator['answer'] =>
  async (operation, act) => {
    if (operation !== 'settle') return await act();
    if (acts) await act();
    return undefined;
  };

t.test('payments in doubt that nobody presents again', { skip }, async (t) => {
  const nats = await startNats(t);
  const { chain, facilitator } = await startPayments(t);
  const shared = { natsUrl: nats.url, facilitatorUrl: facilitator.url, timeoutMs: 3_000 };
  const channels = [
    paidChannel({ name: '#alone', maxSlots: 1, durationSeconds: 10 }),
    paidChannel({ name: '#lone', maxSlots: 1 }),
    paidChannel(),
  ];
  // the doors look at no chain, as if whoever opened them had died before it could
  const door = await startTurnstile(t, { ...shared, channels });
  const office = await startTurnstile(t, { ...shared, channels, rpcUrl: chain.url });
  const access = (channel = 'alpha-test') => `${door.url}/payments/access/${channel}`;
  const present = async (proof: string, nick: string, at = access()) => {
    const response = await fetch(at, entering(nick, { 'payment-signature': proof }));
    return { status: response.status, body: await bodyOf(response) };
  };
  const factsOf = async (nick: string) =>
    (await door.facts()).filter(({ data }) => 'nick' in data && data.nick === nick);
  const outcome = async (nick: string, type: string) =>
    await eventually(`${type} of ${nick}`, async () =>
      (await factsOf(nick)).find((fact) => fact.type === type),
    );
  const unresolved = async () =>
    (await bodyOf(await fetch(`${office.url}/ops/payments`))).payments as Record<string, unknown>[];
  const doubtful = async (nick: string, channel: string, settles: boolean) => {
    const account = await chain.payer();
    const proof = await proofOf(account, access(channel));
    facilitator.answer = silentAfter(settles);
    t.match(await present(proof, nick, access(channel)), {
      status: 502,
      body: { code: 'settlement_unknown' },
    });
    facilitator.answer = honest;
    return { account, proof, paid: async () => 1_000_000n - (await chain.balance(account.address)) };
  };
  t.afterEach(() => {
    facilitator.answer = honest;
  });

  t.test('PAY-18 what is on the chain is granted, once, however many look', async (t) => {
    const ann = await doubtful('ann', 'alpha-test', true);
    t.equal(await ann.paid(), price);
    const workedFrom = Date.now();
    const workers = [office.resolve(pauses), office.resolve(pauses)];
    const granted = await outcome('ann', 'payment.granted');
    t.match(granted, {
      by: 'resolve-payments',
      data: { channel: '#alpha-test', amount: '0.10', duration_seconds: 1_800, tx_hash: /^0x.{64}$/ },
    });
    const { started_at } = granted!.data as { started_at: string };
    const startedAt = Date.parse(started_at);
    t.ok(startedAt > workedFrom - 2_000 && startedAt < granted!.at.getTime() + 2_000, 'its time begins then');
    const again = await present(ann.proof, 'ann');
    t.match(again, {
      status: 200,
      body: { sessionId: (granted!.data as { session_id: string }).session_id },
    });
    t.equal((await factsOf('ann')).filter(({ type }) => type === 'payment.granted').length, 1);
    t.equal(await ann.paid(), price, 'charged once');
    await Promise.all(workers.map((worker) => worker.stop()));
  });

  t.test('PAY-18 a worker that starts later finds it, and the payer is as fast as it', async (t) => {
    const bob = await doubtful('bob', 'alpha-test', true);
    const worker = office.resolve({ ...pauses, firstMs: 0 });
    const [retried] = await Promise.all([present(bob.proof, 'bob'), outcome('bob', 'payment.granted')]);
    t.equal(retried.status, 200);
    t.equal((await factsOf('bob')).filter(({ type }) => type === 'payment.granted').length, 1);
    t.equal(await bob.paid(), price);
    await worker.stop();
  });

  t.test('PAY-18 without a chain the facilitator is asked, and moves nothing', async (t) => {
    const carl = await doubtful('carl', 'alpha-test', true);
    const dora = await doubtful('dora', 'alpha-test', false);
    const settled = facilitator.count('settle');
    const asked: unknown[] = [];
    facilitator.answer = async (operation, act) => {
      const answer = await act();
      const { isValid } = (answer?.body ?? {}) as { isValid?: boolean };
      if (operation === 'verify') asked.push(isValid);
      // where the contract is missing that it asks many things at once with, it only knows that it does not work
      return operation === 'verify' && !isValid
        ? {
            status: 200,
            body: { isValid: false, invalidReason: 'invalid_exact_evm_nonce_already_used' },
          }
        : answer;
    };
    const worker = door.resolve(pauses);
    t.match(await outcome('carl', 'payment.granted'), { data: { tx_hash: '' } });
    await eventually('a second look at what is not settled', () => asked.filter(Boolean).length >= 2);
    t.same(await factsOf('dora').then((facts) => facts.at(-1)?.type), 'slot.reserved', 'still nobody knows');
    await worker.stop();
    t.equal(facilitator.count('settle'), settled, 'nothing was settled for those who did not ask');
    t.same([await carl.paid(), await dora.paid()], [price, 0n]);
    facilitator.answer = honest;
    t.equal((await present(dora.proof, 'dora')).status, 200);
  });

  t.test('PAY-18 what was taken back is refused, and frees its place', async (t) => {
    const { account, proof } = await doubtful('emil', 'lone', false);
    const payload = JSON.parse(Buffer.from(proof, 'base64').toString());
    await chain.cancel(account, payload.payload.authorization.nonce);
    const worker = office.resolve(pauses);
    t.match(await outcome('emil', 'payment.refused'), { data: { reason: 'authorization_void' } });
    await worker.stop();
    const next = await chain.payer();
    t.equal((await present(await proofOf(next, access('lone')), 'fred', access('lone'))).status, 200);
    t.match(await present(proof, 'emil', access('lone')), { status: 402, body: { code: 'payment_spent' } });
  });

  t.test('PAY-19 settled, and its place was given away: owed, seen, and granted before others', async (t) => {
    const gina = await doubtful('gina', 'alone', true);
    const { data } = (await factsOf('gina')).find(({ type }) => type === 'payment.intended')!;
    const { payment } = data as { payment: string };
    // its time has run out, and somebody else was faster
    const release = { is: 'release' as const, channel: '#alone', payment, reason: 'test' };
    await door.log.handle(payments, placesDecider, release, { by: 'test' });
    const faster = await proofOf(await chain.payer(), access('alone'));
    const session = await present(faster, 'hugo', access('alone'));
    t.equal(session.status, 200);
    const worker = office.resolve(pauses);
    t.match(await outcome('gina', 'payment.owed'), {
      data: { reason: 'channel_full', tx_hash: /^0x.{64}$/ },
    });
    const [listed] = (await eventually('the list of operators', async () => {
      const found = (await unresolved()).filter(({ nick }) => nick === 'gina');
      return found.length > 0 ? found : undefined;
    }))!;
    t.match(listed, { state: 'owed', reason: 'channel_full', channel: '#alone', amount: '100000' });
    // until gina is in nobody else is: the session that took the place comes first
    const rival = await chain.payer();
    const proof = await proofOf(rival, access('alone'));
    let turnedAway = 0;
    await eventually('the session that is owed', async () => {
      const { status, body } = await present(proof, 'ines', access('alone'));
      if (status === 503) turnedAway++;
      else t.fail(`${status} ${JSON.stringify(body)}`);
      return (await factsOf('gina')).some(({ type }) => type === 'payment.granted');
    });
    await worker.stop();
    t.ok(turnedAway > 0);
    const granted = (await factsOf('gina')).find(({ type }) => type === 'payment.granted')!;
    t.ok(granted.at.getTime() >= Date.parse(session.body.expiresAt), 'never two at once in one place');
    t.equal(1_000_000n - (await chain.balance(rival.address)), 0n);
    t.equal(await gina.paid(), price);
    t.notOk((await unresolved()).some(({ nick }) => nick === 'gina'));
  });

  // the last one: the chain is ahead of everybody's clock from here on
  t.test('PAY-18 what can no more be settled is refused, by the time of the chain', async (t) => {
    const { paid } = await doubtful('kate', 'alpha-test', false);
    await chain.pass(330);
    const told: unknown[] = [];
    const worker = office.resolve(pauses, told);
    await eventually('two looks', () => told.length >= 2);
    t.match(told[0], { is: 'unused', at: Number });
    t.notOk(
      (await factsOf('kate')).some(({ type }) => type === 'payment.refused'),
      'within the margin',
    );
    await chain.pass(60);
    t.match(await outcome('kate', 'payment.refused'), { data: { reason: 'authorization_expired' } });
    t.equal(await paid(), 0n);
    await worker.stop();
  });
});
