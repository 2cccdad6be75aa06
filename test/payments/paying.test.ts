import { wrapAxiosWithPaymentFromConfig } from '@x402/axios';
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import axios from 'axios';
import t from 'tap';
import { wrapFetchWithPayment } from 'x402-fetch';
import { withoutChain } from '../support/chain.js';
import { startNats } from '../support/nats.js';
import { baseNetwork, usdc } from '../support/payment-chain.js';
import {
  bodyOf,
  encoded,
  entering,
  type Payload,
  paidChannel,
  payingFetch,
  payTo,
  proofOf,
  recordingFetch,
  signedProof,
  startPayments,
} from './stage.js';
import { startTurnstile } from './turnstile.js';

const skip = withoutChain;

t.test('real clients pay on a real chain', { skip }, async (t) => {
  const nats = await startNats(t);
  const { chain, facilitator } = await startPayments(t);
  const turnstile = await startTurnstile(t, {
    natsUrl: nats.url,
    facilitatorUrl: facilitator.url,
    channels: [paidChannel(), paidChannel({ name: '#second-room' })],
  });
  const access = `${turnstile.url}/payments/access/alpha-test`;
  let paid = 0n;
  const cameIn = async () => {
    paid += 100_000n;
    return await chain.balance(payTo);
  };

  t.test('PAY-04 what is to be paid', async (t) => {
    const response = await fetch(access, entering('nobody-special'));
    t.equal(response.status, 402);
    t.equal(response.headers.get('cache-control'), 'no-store');
    const { status, code, ...body } = await bodyOf(response);
    t.same([status, code], [402, 'payment_required']);
    t.same(decodePaymentRequiredHeader(response.headers.get('payment-required')!), body);
    t.same(body, {
      x402Version: 2,
      error: 'Payment required',
      resource: {
        url: 'https://relay.example/payments/access/alpha-test',
        description: 'For tests',
        mimeType: 'application/json',
      },
      accepts: [
        {
          scheme: 'exact',
          network: baseNetwork,
          amount: '100000',
          asset: usdc,
          payTo,
          maxTimeoutSeconds: 300,
          extra: { name: 'USD Coin', version: '2' },
        },
      ],
    });
    const v1 = await bodyOf(await fetch(`${access}?x402Version=1`, { method: 'POST' }));
    t.match(v1, {
      x402Version: 1,
      error: 'Payment required',
      accepts: [
        {
          scheme: 'exact',
          network: 'base',
          maxAmountRequired: '100000',
          asset: usdc,
          payTo,
          resource: 'https://relay.example/payments/access/alpha-test',
          maxTimeoutSeconds: 300,
        },
      ],
    });
  });

  t.test('PAY-01 PAY-10 @x402/fetch, and its proof presented again', async (t) => {
    const account = await chain.payer();
    const { pay, proofs } = recordingFetch(account);
    const before = Date.now();
    const response = await pay(access, entering('ann'));
    t.equal(response.status, 200);
    const grant = await bodyOf(response);
    t.match(grant, {
      status: 'granted',
      channel: '#alpha-test',
      nick: 'ann',
      durationSeconds: 1_800,
      sessionId: /^.{10,}$/,
      expiresAt: /^\d{4}-.*Z$/,
    });
    const from = Date.parse(grant.expiresAt) - 1_800_000;
    t.ok(from > before - 2_000 && from < Date.now() + 2_000, grant.expiresAt);
    const settled = decodePaymentResponseHeader(response.headers.get('payment-response')!);
    t.match(settled, {
      success: true,
      network: baseNetwork,
      payer: account.address,
      transaction: /^0x.{64}$/,
    });
    t.equal(await cameIn(), paid);
    t.equal(await chain.balance(account.address), 900_000n);

    const sessions = await bodyOf(await fetch(`${turnstile.url}/payments/sessions/ANN`));
    t.match(sessions, {
      nick: 'ann',
      sessions: [{ session_id: grant.sessionId, expires_at: grant.expiresAt }],
    });
    t.same(Object.keys(sessions.sessions[0]).sort(), [
      ...['amount', 'channel', 'currency', 'duration_seconds', 'expires_at', 'network', 'nick', 'payer'],
      ...['session_id', 'started_at', 'tx_hash'],
    ]);
    t.match(sessions.sessions[0], {
      channel: '#alpha-test',
      nick: 'ann',
      amount: '0.10',
      currency: 'USDC',
      duration_seconds: 1_800,
      network: baseNetwork,
      payer: account.address,
      tx_hash: settled.transaction,
    });

    const proof = { 'payment-signature': proofs[0]! };
    const again = await fetch(access, entering('Ann', proof));
    t.equal(again.status, 200);
    t.same(await bodyOf(again), grant, 'the same grant');
    t.match(decodePaymentResponseHeader(again.headers.get('payment-response')!), {
      success: true,
      transaction: settled.transaction,
    });
    t.same(turnstile.admitted, ['ann'], 'and is brought in again');
    for (const [path, nick] of [
      [access, 'eve'],
      [`${turnstile.url}/payments/access/second-room`, 'ann'],
      [`${turnstile.url}/payments/access/second-room`, 'eve'],
    ] as const) {
      const stolen = await fetch(path, entering(nick, proof));
      t.equal(stolen.status, 402, `${nick} at ${path}`);
      t.match(await bodyOf(stolen), { code: 'payment_spent', accepts: [{}] });
    }
    t.equal(await chain.balance(payTo), paid, 'nothing moved');
    t.equal(facilitator.count('settle'), 1);

    const { pay: payMore } = recordingFetch(account);
    const more = await payMore(access, entering('ann'));
    t.equal(more.status, 409, 'no extension before the end');
    t.match(await bodyOf(more), { code: 'session_active', hint: /cannot be extended/ });
    t.equal(await chain.balance(payTo), paid);
  });

  t.test('PAY-01 @x402/axios', async (t) => {
    const account = await chain.payer();
    const client = wrapAxiosWithPaymentFromConfig(axios.create(), {
      schemes: [{ network: baseNetwork, client: new ExactEvmScheme(account) as never }],
    });
    const response = await client.post(access, { nick: 'bob' });
    t.equal(response.status, 200);
    t.match(response.data, { status: 'granted', nick: 'bob' });
    t.match(decodePaymentResponseHeader(response.headers['payment-response']), { success: true });
    t.equal(await cameIn(), paid);
  });

  t.test('PAY-01 x402-fetch, of version 1', async (t) => {
    const account = await chain.payer();
    const pay = wrapFetchWithPayment(fetch, account as never);
    const response = await pay(`${access}?x402Version=1`, entering('carl'));
    t.equal(response.status, 200);
    t.match(await bodyOf(response), { status: 'granted', nick: 'carl' });
    for (const header of ['x-payment-response', 'payment-response'])
      t.match(decodePaymentResponseHeader(response.headers.get(header)!), {
        success: true,
        network: 'base',
        payer: account.address,
      });
    t.match(facilitator.seen.at(-1)?.body, { x402Version: 1, paymentPayload: { network: 'base' } });
    t.equal(await cameIn(), paid);
  });

  t.test('PAY-05 forms of proofs that clients in the wild send', async (t) => {
    const forms: Record<string, (payload: Payload) => unknown> = {
      'version 1 with a CAIP-2 network and no 0x': ({ payload }) => ({
        x402Version: 1,
        scheme: 'exact',
        network: baseNetwork,
        payload: { ...payload, signature: payload.signature.slice(2) },
      }),
      'flat version 2': ({ payload }) => ({
        x402Version: 2,
        scheme: 'exact',
        network: baseNetwork,
        payload,
      }),
      'version 1 with a named network': ({ payload }) => ({
        x402Version: 1,
        scheme: 'exact',
        network: 'base',
        payload,
      }),
      'addresses in lower case, numbers as numbers': ({ payload, accepted }) => {
        const { from, to, value, validAfter, validBefore, nonce } = payload.authorization;
        const [after, before] = [Number(validAfter), Number(validBefore)];
        const authorization = {
          from: from.toLowerCase(),
          to: to.toLowerCase(),
          value: Number(value),
          nonce,
          validAfter: after,
          validBefore: before,
        };
        const asset = (accepted.asset as string).toLowerCase();
        return { x402Version: 2, accepted: { ...accepted, asset }, payload: { ...payload, authorization } };
      },
    };
    for (const [index, [name, form]] of Object.entries(forms).entries()) {
      const account = await chain.payer();
      const signed = await signedProof(account, access);
      const header = index % 2 === 0 ? 'x-payment' : 'PAYMENT-SIGNATURE';
      const response = await fetch(access, entering(`wild${index}`, { [header]: encoded(form(signed)) }));
      t.equal(response.status, 200, `${name}: ${await response.clone().text()}`);
      t.equal(await cameIn(), paid, name);
    }
    const proof = await proofOf(await chain.payer(), access);
    const both = await fetch(access, entering('wild9', { 'payment-signature': proof, 'x-payment': '!' }));
    t.equal(both.status, 200, 'PAYMENT-SIGNATURE goes before X-PAYMENT');
    t.equal(await cameIn(), paid);
  });

  t.test('PAY-06 proofs that pay for nothing of ours', async (t) => {
    const account = await chain.payer();
    const { accepted, payload } = await signedProof(account, access);
    const authorization = (fields: Record<string, string>) => ({
      x402Version: 2,
      accepted,
      payload: { ...payload, authorization: { ...payload.authorization, ...fields } },
    });
    const other = '0x000000000000000000000000000000000000dEaD';
    const flat = { x402Version: 2, scheme: 'exact', network: baseNetwork, payload };
    for (const [name, proof] of Object.entries({
      'another recipient': authorization({ to: other }),
      'another value': authorization({ value: '1' }),
      'another amount': { x402Version: 2, accepted: { ...accepted, amount: '1' }, payload },
      'another asset': { x402Version: 2, accepted: { ...accepted, asset: other }, payload },
      'another network': { ...flat, network: 'eip155:137' },
      'another scheme': { ...flat, scheme: 'upto' },
      'a named network of version 2': { ...flat, network: 'base' },
      'no authorization': { ...flat, payload: { signature: payload.signature } },
    })) {
      const response = await fetch(access, entering('dave', { 'payment-signature': encoded(proof) }));
      t.equal(response.status, 402, name);
      t.match(await bodyOf(response), { code: 'payment_mismatch', accepts: [{ payTo }] }, name);
    }
    for (const malformed of [
      '!',
      'bnVsbA==',
      encoded([]),
      encoded({ x402Version: 3 }),
      encoded({ ...flat, accepted: {} }),
    ]) {
      const response = await fetch(access, entering('dave', { 'x-payment': malformed }));
      t.equal(response.status, 400, malformed);
      t.match(await bodyOf(response), { code: 'payment_header_invalid', hint: /base64/ });
    }
    t.equal(await chain.balance(account.address), 1_000_000n);
  });

  t.test('PAY-07 payments that are not valid', async (t) => {
    const account = await chain.payer();
    const { accepted, payload } = await signedProof(account, access);
    const forged = { ...payload.authorization, from: (await chain.payer()).address };
    const before = facilitator.count('settle');
    const recorded = (await turnstile.facts()).length;
    const unsigned = {
      'payment-signature': encoded({
        x402Version: 2,
        accepted,
        payload: { ...payload, authorization: forged },
      }),
    };
    const response = await fetch(access, entering('dave', unsigned));
    t.equal(response.status, 402);
    t.match(await bodyOf(response), { code: 'payment_invalid', error: /signature/, status: 402 });
    t.notOk(response.headers.get('payment-response'), 'nothing was settled');
    const poor = await chain.payer(50_000n);
    const refused = await payingFetch(poor)(access, entering('dave'));
    t.equal(refused.status, 402);
    t.match(await bodyOf(refused), { code: 'payment_invalid', error: /^invalid_exact_evm/ });
    t.equal(facilitator.count('settle'), before);
    t.equal(await chain.balance(poor.address), 50_000n);
    t.equal((await turnstile.facts()).length, recorded, 'nobody has signed it, and it is on no record');

    await t.test('are refused here when their time is over', async (t) => {
      const asked = facilitator.seen.length;
      const validBefore = String(Math.floor(Date.now() / 1_000) - 1);
      const authorization = { ...payload.authorization, validBefore };
      const old = encoded({ x402Version: 2, accepted, payload: { ...payload, authorization } });
      const response = await fetch(access, entering('dave', { 'payment-signature': old }));
      t.equal(response.status, 402);
      t.match(await bodyOf(response), {
        code: 'payment_invalid',
        error: 'invalid_exact_evm_payload_authorization_valid_before',
        status: 402,
        accepts: [{ payTo }],
      });
      t.notOk(response.headers.get('payment-response'), 'nothing was settled');
      t.same(facilitator.seen.slice(asked), [], 'and the facilitator was not asked');
      t.equal((await turnstile.facts()).length, recorded);
    });

    await t.test('keep nobody out whom they name', async (t) => {
      let held = () => {};
      const isHeld = new Promise<void>((resolve) => {
        facilitator.answer = async (_, act) => {
          facilitator.answer = async (_, act) => await act();
          await new Promise<void>((go) => {
            held = go;
            resolve();
          });
          return await act();
        };
      });
      const waiting = fetch(access, entering('dave', unsigned));
      await isHeld;
      t.equal((await payingFetch(account)(access, entering('dave'))).status, 200, 'dave pays meanwhile');
      await cameIn();
      held();
      t.equal((await waiting).status, 402);
    });
  });

  t.test('PAY-36 who is banned is charged nothing, before the ban is over', async (t) => {
    turnstile.banned.add('mallory');
    const proof = await proofOf(await chain.payer(), access);
    const tries = async () => await fetch(access, entering('mallory', { 'x-payment': proof }));
    const before = await chain.balance(payTo);
    const refused = await tries();
    t.equal(refused.status, 403);
    t.match(await bodyOf(refused), { code: 'nick_banned' });
    t.equal(await chain.balance(payTo), before);
    turnstile.banned.clear();
    t.equal((await tries()).status, 200);
    t.equal(await chain.balance(payTo), before + 100_000n);
    turnstile.banned.add('mallory');
    t.equal((await tries()).status, 200, 'a session that is paid for is told');
    turnstile.banned.clear();
  });
});
