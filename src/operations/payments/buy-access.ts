import { z } from 'zod';
import { Refusal, Unavailable } from '../../../streams/core/index.js';
import { accessTo, offersFor } from '../../../workers/payments/offers.js';
import type { PaidChannel } from '../../../workers/payments/paid-channel.js';
import { matchProof, type Presented, readProof } from '../../../workers/payments/proof.js';
import { parseInput } from '../core/call.js';
import { Nick, nickname, Time, text } from '../core/fields.js';
import { defineOperation } from '../core/operation.js';
import { answerGrant, answerUnpaid, type PaymentAnswer, type Till } from './answers.js';
import { ChannelName, channelNamed, soldChannel } from './paid-channel.js';
import type { PaymentsParts } from './parts.js';

/** How long it may take elsewhere, in milliseconds: the facilitator is asked twice there. */
const accessMs = 30_000;
const answerHeaders = ['payment-required', 'payment-response', 'x-payment-response', 'cache-control'];

const Grant = z.object({
  status: z.literal('granted'),
  channel: soldChannel,
  nick: nickname,
  expiresAt: Time.meta({ example: '2026-01-31T12:30:00.000Z' }),
  durationSeconds: z.number().meta({ example: 1_800 }),
  sessionId: text('ses-1'),
});
const PaymentRequired = z
  .looseObject({
    x402Version: z.int(),
    accepts: z.array(z.looseObject({ scheme: z.string(), network: z.string(), payTo: z.string() })),
    error: z.string().optional(),
  })
  .meta({
    id: 'PaymentRequired',
    example: {
      x402Version: 2,
      status: 402,
      error: 'Payment required',
      accepts: [
        {
          scheme: 'exact',
          network: 'eip155:8453',
          amount: '100000',
          maxTimeoutSeconds: 300,
          asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
          payTo: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
          extra: { name: 'USD Coin', version: '2' },
        },
      ],
    },
  });
const Body = z.object({ nick: Nick });

/** The way into a paid channel: its price, or the session that a payment has bought. */
export const buyAccess = defineOperation('buyAccess', {
  tag: 'Paid channels',
  summary: 'Buy access to a channel',
  description:
    'Without a payment the answer is the price (402). Sign one of `accepts`, and send the same request again with the proof in PAYMENT-SIGNATURE or X-PAYMENT. The same proof again answers the same grant and costs nothing.',
  input: z.object({
    channel: ChannelName,
    x402Version: z
      .string()
      .optional()
      .describe('Version of x402 of the prices without a payment: 1, or else 2'),
    // a caller who asks for the price need not name a nick
    nick: z.unknown().optional(),
    paymentSignature: z.string().optional(),
    xPayment: z.string().optional(),
  }),
  answers: {
    200: {
      says: 'Paid, and on the way into the channel',
      headers: { 'PAYMENT-RESPONSE': 'The settlement, base64 JSON' },
      body: { schema: Grant },
    },
    402: {
      says: 'What it costs, or why the payment does not do',
      headers: { 'PAYMENT-REQUIRED': 'The same, base64 JSON' },
      body: { schema: PaymentRequired },
    },
  },
  refusals: {
    paid_channel_not_found: true,
    payment_header_invalid: true,
    nick_not_on_irc: true,
    nick_banned: true,
    nickname_reserved: 'The nick is one of a bot or of a service, or could be taken for one',
    payment_in_progress: true,
    session_active: true,
    channel_full: true,
    irc_unavailable: true,
    facilitator_unreachable: true,
    settlement_unknown: true,
    payments_not_configured: true,
    rate_limited: 'Too many payments of this wallet, or from this address, were not settled',
  },
  http: {
    method: 'post',
    path: '/payments/access/{channel}',
    query: ['x402Version'],
    headers: { paymentSignature: 'payment-signature', xPayment: 'x-payment' },
    status: ({ status }) => status,
    headersOf: ({ headers }) => headers,
    view: ({ body }) => body,
    describe: { access: 'payment', headers: {}, body: { schema: Body } },
  },
  remote: {
    service: 'turnstile',
    method: 'post',
    path: '/api/access/{channel}',
    query: ['x402Version'],
    headers: { paymentSignature: 'payment-signature', xPayment: 'x-payment' },
    view: ({ body }) => body,
    read: ({ status, headers, body }) =>
      status === 200 || status === 402
        ? { status, headers: Object.fromEntries(answerHeaders.flatMap((name) => named(headers, name))), body }
        : undefined,
    timeoutMs: accessMs,
  },
  run: async (input, { address }, parts: PaymentsParts): Promise<PaymentAnswer> => {
    const channel = channelNamed(input.channel, parts);
    // the first one counts
    const header = input.paymentSignature ?? input.xPayment;
    const version = input.x402Version === '1' ? 1 : 2;
    if (header === undefined)
      return answerUnpaid(await tillOf(channel, version, parts), new Refusal('payment_required'));
    const presented = readProof(header);
    const { nick } = parseInput(Body, { nick: input.nick });
    const till = await tillOf(channel, version, parts);
    return await enter({ channel, nick, till, presented, address }, parts);
  },
});

function named(headers: Headers, name: string): [string, string][] {
  const value = headers.get(name);
  return value === null ? [] : [[name, value]];
}

async function tillOf(channel: PaidChannel, version: 1 | 2, { payments }: PaymentsParts): Promise<Till> {
  const { facilitator, payTo, publicUrl } = payments;
  const offers = facilitator ? offersFor(channel, payTo, await facilitator.supported()) : [];
  if (offers.length === 0) throw new Unavailable('payments_not_configured');
  return { version, offers, resource: accessTo(publicUrl, channel.name, channel.description) };
}

interface Entering {
  channel: PaidChannel;
  nick: string;
  till: Till;
  presented: Presented;
  /** The IP address of the client; `undefined` if it is not known. */
  address: string | undefined;
}

async function enter(entering: Entering, { payments, logger }: PaymentsParts): Promise<PaymentAnswer> {
  const { channel, nick, till, presented, address } = entering;
  // nobody removes them from a channel, so no time in it would end
  if (payments.isKept(nick)) throw new Refusal('nickname_reserved');
  const holder = await payments.holderOf(nick);
  if (!holder) throw new Refusal('nick_not_on_irc');
  const proof = matchProof(presented, till.offers);
  if (!proof || !payments.access) return answerUnpaid(till, new Refusal('payment_mismatch'));
  const entered = await payments.access
    .enter({ channel, nick, holder, proof, resource: till.resource, address })
    .catch((refusal: Refusal) => {
      // a used payment gets a new offer too
      if (refusal.code !== 'payment_spent') throw refusal;
      return { is: 'spent' as const, refusal };
    });
  if (entered.is === 'spent') return answerUnpaid(till, entered.refusal, { proof });
  if (entered.is === 'invalid')
    return answerUnpaid(till, new Refusal('payment_invalid', entered.reason), { proof });
  if (entered.is === 'refused') {
    const { reason, transaction } = entered;
    return answerUnpaid(till, new Refusal('settlement_failed', reason), { proof, transaction });
  }
  const { session, isNew } = entered;
  if (!isNew) {
    // a payer who lost the connection comes back in with the earlier payment
    payments
      .admit({ channel: channel.name, nick: session.nick, holder })
      .catch((error: Error) =>
        logger.info({ channel: channel.name, error: error.message }, 'not admitted again'),
      );
  }
  return answerGrant(session, proof);
}
