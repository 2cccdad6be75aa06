import { createHash } from 'node:crypto';
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import t from 'tap';
import { eventually } from '../support/eventually.js';
import { type FacilitatorAnswer, honest, serveFacilitator } from '../support/facilitator.js';
import { startNats } from '../support/nats.js';
import { bodyOf, encoded, entering, paidChannel, payTo } from './stage.js';
import { startTurnstile } from './turnstile.js';

const solana = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const solanaPayTo = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const feePayers = [
  '4fYNw3dojWmQ4dXtSGE9epjRGy9pFSx62YypT7avPYvA',
  '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV',
];

interface Asked {
  paymentPayload?: { x402Version: number; payload: { transaction: string } };
  paymentRequirements?: { extra: { feePayer: string } };
}

/** What a facilitator does on Solana, by the published scheme, with a ledger in place of a chain. */
function ledger() {
  const landed: string[] = [];
  let asked = 0;
  const verify = ({ paymentPayload, paymentRequirements }: Asked) => {
    const { feePayer } = paymentRequirements!.extra;
    const transaction = Buffer.from(paymentPayload!.payload.transaction, 'base64');
    const message = transaction.subarray(1 + 64 * transaction[0]!).toString();
    if (!feePayers.includes(feePayer)) return { reason: 'fee_payer_not_managed_by_facilitator', message };
    if (!message.startsWith(feePayer))
      return { reason: 'transaction_simulation_failed: wrong signer', message };
    if (landed.includes(message))
      return {
        reason: 'transaction_simulation_failed: This transaction has already been processed',
        message,
      };
    return { reason: undefined, message };
  };
  const act = async (operation: string, body: Asked): Promise<FacilitatorAnswer> => {
    if (operation === 'supported') {
      // another of its accounts each time, as the published one
      const extra = { feePayer: feePayers[asked++ % feePayers.length] };
      const kinds = [
        { x402Version: 2, scheme: 'exact', network: 'eip155:8453' },
        { x402Version: 2, scheme: 'exact', network: solana, extra },
      ];
      return { status: 200, body: { kinds, extensions: [], signers: {} } };
    }
    const { reason: invalidReason, message } = verify(body);
    const payer = 'payer';
    if (operation === 'verify')
      return { status: 200, body: { isValid: invalidReason === undefined, invalidReason, payer } };
    if (invalidReason !== undefined) {
      const failed = { success: false, errorReason: invalidReason, transaction: '', network: solana, payer };
      return { status: 200, body: failed };
    }
    landed.push(message);
    const transaction = createHash('sha256').update(message).digest('hex');
    return { status: 200, body: { success: true, transaction, network: solana, payer } };
  };
  return { landed, act };
}

t.test('payments on Solana, passed on to a facilitator', async (t) => {
  const nats = await startNats(t);
  const { landed, act } = ledger();
  const facilitator = await serveFacilitator(t, (operation, body) => act(operation, body as Asked));
  const turnstile = await startTurnstile(t, {
    natsUrl: nats.url,
    facilitatorUrl: facilitator.url,
    timeoutMs: 3_000,
    payTo: `${solana}=${solanaPayTo},eip155:8453=${payTo}`,
    channels: [paidChannel({ networks: [solana, 'eip155:8453'] })],
  });
  const access = `${turnstile.url}/payments/access/alpha-test`;
  const offered = async () => {
    const { accepts } = decodePaymentRequiredHeader(
      (await fetch(access, entering('ann'))).headers.get('payment-required')!,
    );
    return accepts;
  };
  /** What a client makes of an offer: the place of the fee payer's signature is empty, and what is signed begins with the fee payer. */
  const signed = async (text: string, signature = 0) => {
    const accepted = (await offered()).at(-1)!;
    const message = `${accepted.extra.feePayer} ${text}`;
    const transaction = Buffer.concat([Buffer.from([1]), Buffer.alloc(64, signature), Buffer.from(message)]);
    return { x402Version: 2, accepted, payload: { transaction: transaction.toString('base64') } };
  };
  const present = async (proof: unknown, nick: string) => {
    const response = await fetch(access, entering(nick, { 'payment-signature': encoded(proof) }));
    return { status: response.status, headers: response.headers, body: await bodyOf(response) };
  };
  t.afterEach(() => {
    facilitator.answer = honest;
  });

  t.test('PAY-03 Solana comes last, with who pays the fees there', async (t) => {
    const accepts = await offered();
    t.same(
      accepts.map(({ network }) => network),
      ['eip155:8453', solana],
    );
    t.match(accepts.at(-1), {
      scheme: 'exact',
      amount: '100000',
      payTo: solanaPayTo,
      maxTimeoutSeconds: 300,
      asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
      extra: { feePayer: feePayers[0] },
    });
  });

  t.test('PAY-20 verified, settled and granted once, known by what was signed', async (t) => {
    const proof = await signed('one');
    const granted = await present(proof, 'ann');
    t.match(granted, { status: 200, body: { status: 'granted', nick: 'ann' } });
    const { transaction, network } = decodePaymentResponseHeader(granted.headers.get('payment-response')!);
    t.same([transaction.length, network], [64, solana]);
    t.match(facilitator.seen.findLast(({ operation }) => operation === 'settle')?.body, {
      x402Version: 2,
      paymentPayload: { payload: proof.payload, accepted: { network: solana } },
      paymentRequirements: { network: solana, payTo: solanaPayTo, extra: { feePayer: feePayers[0] } },
    });
    t.same((await present(proof, 'ann')).body, granted.body, 'the same grant');
    const resigned = await signed('one', 7);
    t.same(
      (await present(resigned, 'ann')).body,
      granted.body,
      'whatever stands for the fee payer’s signature',
    );
    t.match(await present(proof, 'eve'), { status: 402, body: { code: 'payment_spent' } });
    t.same([landed.length, facilitator.count('settle')], [1, 1]);
    const sessions = await bodyOf(await fetch(`${turnstile.url}/payments/sessions/ann`));
    t.match(sessions, { sessions: [{ network: solana, tx_hash: transaction, payer: 'payer' }] });
  });

  t.test('PAY-20 whom the payer was told to name as fee payer counts, whoever is named now', async (t) => {
    const proof = await signed('two');
    const other = { ...proof.accepted, extra: { ...proof.accepted.extra, feePayer: feePayers[1] } };
    const message = Buffer.concat([Buffer.from([1]), Buffer.alloc(64), Buffer.from(`${feePayers[1]} two`)]);
    const renamed = { ...proof, accepted: other, payload: { transaction: message.toString('base64') } };
    t.equal((await present(renamed, 'bob')).status, 200);
    const stranger = { ...other, extra: { feePayer: solanaPayTo } };
    t.match(await present({ ...renamed, accepted: stranger }, 'carl'), { status: 402 });
    const unmanaged = { ...(await signed('three')), accepted: stranger };
    t.match(await present(unmanaged, 'carl'), {
      status: 402,
      body: { code: 'payment_invalid', error: 'fee_payer_not_managed_by_facilitator' },
    });
  });

  t.test('PAY-20 settled without a word: the retry gets its grant', async (t) => {
    const proof = await signed('four');
    facilitator.answer = async (operation, settle) => {
      const answer = await settle();
      return operation === 'settle' ? undefined : answer;
    };
    t.match(await present(proof, 'dora'), { status: 502, body: { code: 'settlement_unknown' } });
    facilitator.answer = honest;
    const before = landed.length;
    t.match(await present(proof, 'dora'), { status: 200, body: { nick: 'dora' } });
    t.equal(landed.length, before, 'moved once');
  });

  t.test('PAY-20 sent and not confirmed in time is no refusal', async (t) => {
    const proof = await signed('five');
    facilitator.answer = async (operation, settle) => {
      if (operation !== 'settle') return await settle();
      const failed = { success: false, errorReason: 'transaction_failed', transaction: '', network: solana };
      return { status: 200, body: failed };
    };
    t.match(await present(proof, 'emil'), { status: 502, body: { code: 'settlement_unknown' } });
    facilitator.answer = async (operation, settle) =>
      operation === 'settle'
        ? { status: 200, body: { success: false, errorReason: 'duplicate_settlement', network: solana } }
        : await settle();
    t.match(await present(proof, 'emil'), { status: 502 }, 'nor is one that is still under way a payment');
    facilitator.answer = honest;
    t.equal((await present(proof, 'emil')).status, 200);
    await eventually(
      'one movement',
      () => landed.filter((message) => message.endsWith(' five')).length === 1,
    );
  });
});
