import { z } from 'zod';
import { channelParam, type Description, nickParam, Time } from '../../openapi/description.js';
import { AccessBody, AccessQuery } from './service.js';

const PaidChannel = z
  .object({
    name: z.string(),
    price: z.string(),
    currency: z.string(),
    network: z.string().describe('CAIP-2, the first of networks'),
    networks: z.array(z.string()),
    durationSeconds: z.number(),
    maxSlots: z.int(),
    activeSlots: z.int(),
    description: z.string(),
  })
  .meta({ id: 'PaidChannel' });
const paidChannel = {
  name: '#alpha-test',
  price: '0.10',
  currency: 'USDC',
  network: 'eip155:8453',
  networks: ['eip155:8453'],
  durationSeconds: 1_800,
  maxSlots: 20,
  activeSlots: 3,
  description: 'Early signals',
};
const Session = z
  .object({
    session_id: z.string(),
    channel: z.string(),
    nick: z.string(),
    started_at: Time,
    expires_at: Time,
    duration_seconds: z.number(),
    tx_hash: z.string(),
    network: z.string(),
    amount: z.string(),
    currency: z.string(),
    payer: z.string(),
  })
  .meta({ id: 'PaymentSession' });
const session = {
  session_id: 'ses-1',
  channel: '#alpha-test',
  nick: 'alice',
  started_at: '2026-01-31T12:00:00.000Z',
  expires_at: '2026-01-31T12:30:00.000Z',
  duration_seconds: 1_800,
  tx_hash: `0x${'ab'.repeat(32)}`,
  network: 'eip155:8453',
  amount: '0.10',
  currency: 'USDC',
  payer: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
};
const PaymentRequired = z
  .looseObject({
    x402Version: z.int(),
    accepts: z.array(z.looseObject({ scheme: z.string(), network: z.string(), payTo: z.string() })),
    error: z.string().optional(),
  })
  .meta({ id: 'PaymentRequired' });
const unknown = { 404: 'No such paid channel' };

/** Channels that cost something. */
export const paymentOperations: Description[] = [
  {
    id: 'listPaidChannels',
    method: 'get',
    path: '/payments/channels',
    tag: 'Paid channels',
    summary: 'The paid channels',
    answers: {
      200: {
        says: 'With their prices and free slots',
        body: { schema: z.object({ channels: z.array(PaidChannel) }), example: { channels: [paidChannel] } },
      },
    },
  },
  {
    id: 'getPaidChannel',
    method: 'get',
    path: '/payments/channels/{channel}',
    tag: 'Paid channels',
    summary: 'A paid channel',
    params: { channel: channelParam },
    answers: { 200: { says: 'The channel', body: { schema: PaidChannel, example: paidChannel } } },
    errors: unknown,
  },
  {
    id: 'listSessions',
    method: 'get',
    path: '/payments/sessions/{nick}',
    tag: 'Paid channels',
    summary: 'What a nick has paid for and may use now',
    params: { nick: nickParam },
    answers: {
      200: {
        says: 'Those that end first at the beginning',
        body: {
          schema: z.object({ nick: z.string(), sessions: z.array(Session) }),
          example: { nick: 'alice', sessions: [session] },
        },
      },
    },
    errors: { 400: 'That is no nick' },
  },
  {
    id: 'buyAccess',
    method: 'post',
    path: '/payments/access/{channel}',
    tag: 'Paid channels',
    access: 'payment',
    summary: 'Buy access to a channel',
    description:
      'Without a payment the answer is the price (402). Sign one of `accepts`, and send the same request again with the proof in PAYMENT-SIGNATURE or X-PAYMENT. The same proof again answers the same grant and costs nothing.',
    params: { channel: channelParam },
    query: AccessQuery,
    body: { schema: AccessBody, example: { nick: 'alice' } },
    answers: {
      200: {
        says: 'Paid, and on the way into the channel',
        headers: { 'PAYMENT-RESPONSE': 'The settlement, base64 JSON' },
        body: {
          schema: z.object({
            status: z.literal('granted'),
            channel: z.string(),
            nick: z.string(),
            expiresAt: Time,
            durationSeconds: z.number(),
            sessionId: z.string(),
          }),
          example: {
            status: 'granted',
            channel: '#alpha-test',
            nick: 'alice',
            expiresAt: session.expires_at,
            durationSeconds: 1_800,
            sessionId: 'ses-1',
          },
        },
      },
      402: {
        says: 'What it costs, or why the payment does not do',
        headers: { 'PAYMENT-REQUIRED': 'The same, base64 JSON' },
        body: {
          schema: PaymentRequired,
          example: {
            x402Version: 2,
            status: 402,
            error: 'Payment required',
            accepts: [
              {
                scheme: 'exact',
                network: 'eip155:8453',
                amount: '100000',
                asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
                payTo: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
                maxTimeoutSeconds: 300,
                extra: { name: 'USD Coin', version: '2' },
              },
            ],
          },
        },
      },
    },
    errors: {
      ...unknown,
      400: 'The proof cannot be read, or the nick is none or not on IRC',
      409: 'The nick has a session in this channel already',
      502: 'The facilitator is unreachable, or did not say what became of the payment: repeat the same proof',
      503: 'The channel is full, payments are not configured, or a part is away',
    },
  },
];
