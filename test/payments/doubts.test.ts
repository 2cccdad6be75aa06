import { decodePaymentResponseHeader } from '@x402/core/http';
import t from 'tap';
import type { Hex, PrivateKeyAccount } from 'viem';
import { withoutChain } from '../support/chain.js';
import { eventually } from '../support/eventually.js';
import { honest, serveFacilitator, type TestFacilitator } from '../support/facilitator.js';
import { startNats } from '../support/nats.js';
import { baseNetwork } from '../support/payment-chain.js';
import { bodyOf, entering, paidChannel, payTo, proofOf, signedProof, startPayments } from './stage.js';
import { startTurnstile } from './turnstile.js';

const skip = withoutChain;
const timeoutMs = 3_000;
const price = 100_000n;
/** What the published facilitator says of an authorization that was used, and of one that was taken back. */
const usedReason = 'invalid_exact_evm_nonce_already_used';

/** Settles, or not, and keeps silent about it. */
const silentAfter =
  (acts: boolean): TestFacilitator['answer'] =>
  async (operation, act) => {
    if (operation !== 'settle') return await act();
    if (acts) await act();
    return undefined;
  };

t.test('settlements of which nobody knows', { skip }, async (t) => {
  const nats = await startNats(t);
  const { chain, facilitator } = await startPayments(t);
  const shared = { natsUrl: nats.url, facilitatorUrl: facilitator.url, timeoutMs };
  const channels = [paidChannel({ name: '#alone', maxSlots: 1, durationSeconds: 10 }), paidChannel()];
  const believing = await startTurnstile(t, { ...shared, channels });
  const looking = await startTurnstile(t, { ...shared, channels, rpcUrl: chain.url });
  const access = (turnstile = believing, channel = 'alpha-test') =>
    `${turnstile.url}/payments/access/${channel}`;
  const present = async (proof: string, nick: string, at = access()) => {
    const response = await fetch(at, entering(nick, { 'payment-signature': proof }));
    return { status: response.status, headers: response.headers, body: await bodyOf(response) };
  };
  const paidBy = async (account: PrivateKeyAccount) => 1_000_000n - (await chain.balance(account.address));
  const lastFacts = async (count: number) => (await believing.facts()).slice(-count).map(({ type }) => type);
  t.afterEach(() => {
    facilitator.answer = honest;
  });

  t.test(
    'PAY-11 settled without a word: the same payment gets its grant and is not charged again',
    async (t) => {
      const account = await chain.payer();
      const proof = await proofOf(account, access());
      facilitator.answer = silentAfter(true);
      const unknown = await present(proof, 'ann');
      t.equal(unknown.status, 502);
      t.match(unknown.body, { code: 'settlement_unknown', hint: /not charged twice/ });
      t.equal(unknown.headers.get('retry-after'), '5');
      t.equal(await paidBy(account), price);
      const other = await present(proof, 'eve');
      t.match(other, { status: 402, body: { code: 'payment_spent' } }, 'nobody else gets it');
      const impatient = await present(await proofOf(account, access()), 'ann');
      t.match(
        impatient,
        { status: 409, body: { code: 'payment_in_progress' } },
        'a second payment is not taken',
      );
      facilitator.answer = honest;
      const granted = await present(proof, 'ann');
      t.match(granted, { status: 200, body: { status: 'granted', nick: 'ann' } });
      t.equal(await paidBy(account), price, 'once');
      t.same((await present(proof, 'ann')).body, granted.body);
      t.same((await believing.facts()).filter(({ type }) => type === 'payment.intended').length, 1);
    },
  );

  t.test('PAY-11 neither settled nor answered: settled by the retry', async (t) => {
    const account = await chain.payer();
    const proof = await proofOf(account, access());
    facilitator.answer = silentAfter(false);
    t.match(await present(proof, 'bob'), { status: 502, body: { code: 'settlement_unknown' } });
    t.match(await present(proof, 'bob'), { status: 502, body: { code: 'settlement_unknown' } }, 'still');
    t.equal(await paidBy(account), 0n);
    facilitator.answer = honest;
    const granted = await present(proof, 'bob');
    t.equal(granted.status, 200);
    t.match(decodePaymentResponseHeader(granted.headers.get('payment-response')!), {
      transaction: /^0x.{64}$/,
    });
    t.equal(await paidBy(account), price);
  });

  t.test('PAY-11 with a chain to look at there is no doubt', async (t) => {
    const account = await chain.payer();
    const proof = await proofOf(account, access(looking));
    facilitator.answer = silentAfter(true);
    const granted = await present(proof, 'carl', access(looking));
    t.equal(granted.status, 200, 'granted at once');
    const { transaction } = decodePaymentResponseHeader(granted.headers.get('payment-response')!);
    const receipt = await chain.settler.getTransactionReceipt({ hash: transaction as Hex });
    t.equal(receipt.status, 'success', 'by the transaction that moved the money');
    t.equal(await paidBy(account), price);
  });

  t.test('PAY-11 an authorization that was taken back buys nothing', async (t) => {
    const account = await chain.payer();
    const payload = await signedProof(account, access(looking));
    const proof = Buffer.from(JSON.stringify(payload)).toString('base64');
    facilitator.answer = silentAfter(false);
    t.match(await present(proof, 'dave', access(looking)), { status: 502 });
    await chain.cancel(account, payload.payload.authorization.nonce as Hex);
    facilitator.answer = honest;
    const refused = await present(proof, 'dave', access(looking));
    t.match(refused, { status: 402, body: { code: 'settlement_failed', error: 'authorization_void' } });
    t.match(await present(proof, 'dave', access(looking)), { status: 402, body: { code: 'payment_spent' } });
    t.equal(await paidBy(account), 0n);
    t.same(await lastFacts(1), ['payment.refused']);
  });

  for (const reason of ['transaction_failed', usedReason])
    t.test(`PAY-11 taken back while it is being settled, it buys nothing: ${reason}`, async (t) => {
      const account = await chain.payer();
      const payload = await signedProof(account, access(looking));
      const proof = Buffer.from(JSON.stringify(payload)).toString('base64');
      facilitator.answer = async (operation, act) => {
        if (operation !== 'settle') {
          const answer = await act();
          const { isValid } = (answer?.body ?? {}) as { isValid?: boolean };
          return isValid === false
            ? { status: 200, body: { isValid: false, invalidReason: usedReason } }
            : answer;
        }
        await chain.cancel(account, payload.payload.authorization.nonce as Hex);
        return failure(reason);
      };
      const refused = await present(proof, 'mallory', access(looking));
      t.match(refused, { status: 402, body: { code: 'settlement_failed', error: reason } });
      t.same(await lastFacts(1), ['payment.refused']);
      t.match(await present(proof, 'mallory', access(looking)), {
        status: 402,
        body: { code: 'payment_spent' },
      });
      t.equal(await paidBy(account), 0n);
    });

  t.test('PAY-11 what was sent before and is refused now may still come', async (t) => {
    const account = await chain.payer();
    const at = access(looking);
    const proof = await proofOf(account, at);
    facilitator.answer = silentAfter(false);
    t.match(await present(proof, 'nina', at), { status: 502, body: { code: 'settlement_unknown' } });
    facilitator.answer = async (operation, act) =>
      operation === 'settle' ? failure('insufficient_funds') : await act();
    t.match(await present(proof, 'nina', at), { status: 502, body: { code: 'settlement_unknown' } });
    facilitator.answer = honest;
    t.match(await present(proof, 'nina', at), { status: 200, body: { status: 'granted' } });
    t.equal(await paidBy(account), price);
  });

  for (const [nick, reason, transaction] of [
    ['olga', 'settle_exact_evm_transaction_confirmation_timed_out', ''],
    ['olaf', 'invalid_exact_evm_transaction_failed', `0x${'cd'.repeat(32)}`],
  ] as const)
    t.test(`PAY-11 what was sent and not seen yet is no refusal: ${reason}`, async (t) => {
      const account = await chain.payer();
      const at = access(looking);
      const proof = await proofOf(account, at);
      facilitator.answer = async (operation, act) =>
        operation === 'settle' ? failure(reason, transaction) : await act();
      t.match(await present(proof, nick, at), { status: 502, body: { code: 'settlement_unknown' } });
      facilitator.answer = honest;
      t.match(await present(proof, nick, at), { status: 200, body: { status: 'granted' } });
      t.equal(await paidBy(account), price);
    });

  t.test('PAY-11 nobody ends a payment in doubt, or takes its session, with another signature', async (t) => {
    const account = await chain.payer();
    const at = access(looking);
    const signed = await signedProof(account, at);
    const encoded = (payload: object) => Buffer.from(JSON.stringify(payload)).toString('base64');
    const forged = encoded({ ...signed, payload: { ...signed.payload, signature: `0x${'1b'.repeat(65)}` } });
    const other = /exactly as before/;
    facilitator.answer = silentAfter(false);
    t.match(await present(encoded(signed), 'pia', at), { status: 502 });
    facilitator.answer = honest;
    const refused = { status: 402, body: { code: 'payment_invalid', error: other } };
    t.match(await present(forged, 'pia', at), refused);
    t.match(await present(encoded(signed), 'pia', at), { status: 200, body: { status: 'granted' } });
    t.match(await present(forged, 'pia', at), refused);
    t.equal(await paidBy(account), price);
  });

  t.test('PAY-11 somebody else settles it meanwhile: that is no refusal', async (t) => {
    const account = await chain.payer();
    const proof = await proofOf(account, access(looking));
    facilitator.answer = async (operation, act) => {
      const answer = await act();
      return operation === 'settle' ? failure(usedReason) : answer;
    };
    t.match(await present(proof, 'mona', access(looking)), { status: 200, body: { status: 'granted' } });
    t.equal(await paidBy(account), price);
  });

  t.test('PAY-11 what cannot be known stays unknown, and is no second charge', async (t) => {
    const account = await chain.payer();
    const proof = await proofOf(account, access());
    facilitator.answer = silentAfter(true);
    await present(proof, 'erin');
    facilitator.answer = async (operation, act) =>
      operation === 'settle' ? failure('insufficient_funds') : await act();
    t.match(await present(proof, 'erin'), { status: 502, body: { code: 'settlement_unknown' } });
    facilitator.answer = honest;
    t.match(await present(proof, 'erin'), { status: 200 });
    t.equal(await paidBy(account), price);
  });

  t.test('PAY-07 a settlement that fails frees the place', async (t) => {
    const account = await chain.payer();
    const at = access(believing, 'alone');
    const proof = await proofOf(account, at);
    facilitator.answer = async (operation, act) =>
      operation === 'settle' ? failure('insufficient_funds') : await act();
    const failed = await present(proof, 'fred', at);
    t.match(failed, {
      status: 402,
      body: { status: 402, code: 'settlement_failed', error: 'insufficient_funds' },
    });
    t.match(decodePaymentResponseHeader(failed.headers.get('payment-response')!), {
      success: false,
      errorReason: 'insufficient_funds',
      network: baseNetwork,
      transaction: '',
    });
    t.ok(failed.headers.get('payment-required'));
    t.same(await lastFacts(3), ['slot.reserved', 'payment.intended', 'payment.refused']);
    facilitator.answer = honest;
    t.match(await present(proof, 'fred', at), {
      status: 402,
      body: { code: 'payment_spent', error: /insufficient/ },
    });
    const settled = await present(await proofOf(await chain.payer(), at), 'gina', at);
    t.equal(settled.status, 200, 'somebody else has it');

    const full = await present(await proofOf(account, at), 'fred', at);
    t.match(full, { status: 503, body: { error: 'The channel is full', code: 'channel_full' } });
    t.ok(Number(full.headers.get('retry-after')) >= 1);
    t.equal(await paidBy(account), 0n);
    t.equal((await fetch(at, entering('fred'))).status, 402, 'a price may be asked all the same');
    await eventually('the session to be over', async () => {
      const { activeSlots } = await bodyOf(await fetch(`${believing.url}/payments/channels/alone`));
      return activeSlots === 0;
    });
    const again = await present(await proofOf(account, at), 'fred', at);
    t.equal(again.status, 200, 'its time is over, whoever has to put it out');
    t.equal(await paidBy(account), price);
  });

  t.test('PAY-11 a payment that is pending keeps its place', async (t) => {
    const at = access(believing, 'alone');
    await eventually('a free place', async () => {
      const { activeSlots } = await bodyOf(await fetch(`${believing.url}/payments/channels/alone`));
      return activeSlots === 0;
    });
    const account = await chain.payer();
    const proof = await proofOf(account, at);
    facilitator.answer = async (operation, act) =>
      operation === 'settle' ? failure('settlement_pending', `0x${'ab'.repeat(32)}`) : await act();
    t.match(await present(proof, 'hugo', at), { status: 502, body: { code: 'settlement_unknown' } });
    facilitator.answer = honest;
    const other = await chain.payer();
    t.match(await present(await proofOf(other, at), 'ines', at), { status: 503 });
    t.equal(await paidBy(other), 0n);
    t.equal((await present(proof, 'hugo', at)).status, 200);
    t.equal(await paidBy(account), price);
  });

  t.test('PAY-11 whoever settled has died: another process goes on', async (t) => {
    const account = await chain.payer();
    const proof = await proofOf(account, access());
    let settled = () => {};
    const moved = new Promise<void>((resolve) => {
      settled = resolve;
    });
    const held = await holding(facilitator, settled);
    const dying = present(proof, 'jane');
    await moved;
    facilitator.answer = honest;
    const granted = await present(proof, 'jane', access(looking));
    t.equal(granted.status, 200);
    held.letGo();
    const late = await dying;
    t.same([late.status, late.body], [200, granted.body], 'and if it had not died, it says the same');
    t.equal(await paidBy(account), price);
  });

  t.test('PAY-12 a facilitator that is away', async (t) => {
    const account = await chain.payer();
    const proof = await proofOf(account, access());
    const unreachable = { status: 502, body: { code: 'facilitator_unreachable' } };
    const before = await lastFacts(1_000);
    facilitator.answer = async (operation, act) =>
      operation === 'verify' ? { status: 500, body: 'broken' } : await act();
    t.match(await present(proof, 'kate'), unreachable, 'broken at verifying');
    t.same(await lastFacts(1_000), before, 'nothing is recorded');
    facilitator.answer = async (_, act) => {
      const answer = await act();
      setImmediate(() => facilitator.stop());
      return answer;
    };
    // once it has verified it is gone: nothing was sent, nothing was paid
    t.match(await present(proof, 'kate'), unreachable, 'gone before settling');
    t.same(await lastFacts(3), ['slot.reserved', 'payment.intended', 'slot.released']);
    t.match(await present(proof, 'leo'), { status: 402, body: { code: 'payment_spent' } }, 'it was for kate');
    t.match(await present(proof, 'kate'), { status: 502 }, 'it can be presented as often as one likes');
    t.equal((await fetch(access(), entering('kate'))).status, 402, 'what it supports is known for minutes');
    const fresh = await startTurnstile(t, { ...shared, channels });
    const asked = await fetch(access(fresh), entering('kate'));
    t.match({ status: asked.status, body: await bodyOf(asked) }, unreachable, 'but not to who starts now');
    t.match(await present(proof, '', access(fresh)), { status: 400 }, 'what is wrong is told without it');
    facilitator.answer = honest;
    await facilitator.start();
    t.equal((await present(proof, 'kate')).status, 200);
    t.equal(await paidBy(account), price);
  });
});

t.test('PAY-12 payments that are not configured', async (t) => {
  const nats = await startNats(t);
  const kinds = [{ x402Version: 2, scheme: 'exact', network: 'eip155:1' }];
  const facilitator = await serveFacilitator(t, async () => ({ status: 200, body: { kinds } }));
  for (const options of [
    { facilitatorUrl: '' },
    { facilitatorUrl: facilitator.url },
    { facilitatorUrl: facilitator.url, payTo: '' },
  ]) {
    const { url } = await startTurnstile(t, { natsUrl: nats.url, ...options });
    const response = await fetch(`${url}/payments/access/alpha-test`, entering('ann'));
    t.equal(response.status, 503);
    t.match(await bodyOf(response), { code: 'payments_not_configured' });
    t.match(await bodyOf(await fetch(`${url}/payments/channels`)), {
      channels: [{ name: '#alpha-test', price: '0.10' }],
    });
  }
  t.notOk(facilitator.count('settle'));
  t.ok(payTo);
});

function failure(errorReason: string, transaction = '') {
  return { status: 200, body: { success: false, errorReason, transaction, network: baseNetwork } };
}

/** Has the facilitator settle and then keep its answer until it is let go. */
async function holding(facilitator: TestFacilitator, settled: () => void): Promise<{ letGo(): void }> {
  let letGo = () => {};
  const free = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  facilitator.answer = async (operation, act) => {
    const answer = await act();
    if (operation !== 'settle') return answer;
    settled();
    await free;
    return answer;
  };
  return { letGo };
}
