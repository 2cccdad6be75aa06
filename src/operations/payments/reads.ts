import { z } from 'zod';
import { liveSessions } from '../../../projections/payments/queries.js';
import { casefold } from '../../../streams/irc-grammar.js';
import type { Facilitator } from '../../../workers/payments/facilitator.js';
import { Time } from '../core/description.js';
import { Nick } from '../core/names.js';
import { defineOperation } from '../core/operation.js';
import {
  ChannelName,
  ContractChannel,
  channelNamed,
  channelViews,
  PaidChannel,
  paidChannelExample,
} from './paid-channel.js';
import type { PaymentsParts } from './parts.js';
import { unresolvedIn } from './unresolved.js';

const PaidChannels = z.object({ channels: z.array(PaidChannel) });
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
/** The same as any gateway of the contract tells of it. */
const ContractSession = Session.pick({ channel: true, nick: true, expires_at: true })
  .extend({ tx_hash: z.string().nullable() })
  .loose();
const session = {
  ...{ session_id: 'ses-1', channel: '#alpha-test', nick: 'alice', duration_seconds: 1_800 },
  ...{ started_at: '2026-01-31T12:00:00.000Z', expires_at: '2026-01-31T12:30:00.000Z' },
  ...{ tx_hash: `0x${'ab'.repeat(32)}`, network: 'eip155:8453', amount: '0.10', currency: 'USDC' },
  payer: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
};
const Unresolved = z.object({
  payment: z.string(),
  state: z.enum(['unknown', 'owed']).describe('owed: settled, and its session has no place yet'),
  channel: z.string(),
  nick: z.string(),
  payer: z.string(),
  network: z.string(),
  amount: z.string().describe('In the smallest unit of the token'),
  nonce: z.string().nullable(),
  tx_hash: z.string().nullable(),
  reason: z.string().nullable().describe('Why it waits'),
  intended_at: Time,
});
const unresolved = {
  ...{ payment: 'qO3vXk2r0bT9yS6mN1cF8uHw5eJ4aLzD7gPxVtRkYiE', state: 'owed', channel: '#alpha-test' },
  ...{ nick: 'alice', payer: session.payer, network: 'eip155:8453', amount: '100000' },
  ...{ nonce: `0x${'3f'.repeat(32)}`, tx_hash: session.tx_hash, reason: 'channel_full' },
  intended_at: '2026-01-31T12:00:00.000Z',
};

/** The channels that cost something. */
export const listPaidChannels = defineOperation({
  id: 'listPaidChannels',
  tag: 'Paid channels',
  summary: 'The paid channels',
  answers: {
    200: {
      says: 'With their prices and free slots',
      body: { schema: PaidChannels, example: { channels: [paidChannelExample] } },
    },
  },
  http: { method: 'get', path: '/payments/channels' },
  tool: {
    name: 'svc_list_paid_channels',
    title: 'List paid channels',
    description:
      'The channels that cost something, with price, currency, network, length of a session and free slots. Access is bought with POST /payments/access/{channel} and the x402 protocol, which pays in one of 5 stablecoins across 13 chains.',
    output: z.looseObject({ channels: z.array(ContractChannel) }),
    walletReadable: true,
  },
  remote: { service: 'turnstile', method: 'get', path: '/api/channels' },
  run: async (_input, _caller, parts: PaymentsParts) => ({
    channels: parts.payments.channels.map(await channelViews(parts)),
  }),
});

/** One of them. */
export const getPaidChannel = defineOperation({
  id: 'getPaidChannel',
  tag: 'Paid channels',
  summary: 'A paid channel',
  input: z.object({ channel: ChannelName }),
  example: { channel: 'lobby' },
  answers: { 200: { says: 'The channel', body: { schema: PaidChannel, example: paidChannelExample } } },
  refusals: { not_found: 'No such paid channel' },
  http: { method: 'get', path: '/payments/channels/{channel}' },
  tool: {
    name: 'svc_get_paid_channel',
    title: 'Price and slots of a paid channel',
    description: 'One paid channel: what a session costs, how long it lasts and how many slots are taken.',
    output: ContractChannel,
    walletReadable: true,
  },
  remote: { service: 'turnstile', method: 'get', path: '/api/channels/{channel}' },
  run: async ({ channel }, _caller, parts: PaymentsParts) => {
    const found = channelNamed(channel, parts);
    return (await channelViews(parts))(found);
  },
});

/** What a nick has paid for. */
export const listSessions = defineOperation({
  id: 'listSessions',
  tag: 'Paid channels',
  summary: 'What a nick has paid for and may use now',
  input: z.object({ nick: Nick }),
  example: { nick: 'alice' },
  answers: {
    200: {
      says: 'Those that end first at the beginning',
      body: {
        schema: z.object({ nick: z.string(), sessions: z.array(Session) }),
        example: { nick: 'alice', sessions: [session] },
      },
    },
  },
  refusals: { validation_failed: 'That is no nick' },
  http: { method: 'get', path: '/payments/sessions/{nick}' },
  tool: {
    name: 'svc_get_sessions',
    title: 'Paid sessions of a nick',
    description:
      'The sessions in paid channels that a nick has now, with their end and the transaction that paid.',
    output: z.looseObject({ nick: z.string(), sessions: z.array(ContractSession) }),
  },
  remote: { service: 'turnstile', method: 'get', path: '/api/sessions/{nick}' },
  run: async (input, _caller, { log, payments: { rows } }: PaymentsParts) => {
    const nick = casefold(input.nick);
    return { nick, sessions: await rows.read((sql, schema) => liveSessions(sql, schema, log.now(), nick)) };
  },
});

/** What somebody may have to look after. */
export const listUnresolvedPayments = defineOperation({
  id: 'listUnresolvedPayments',
  tag: 'Operations',
  summary: 'Payments of which it is not known whether they are settled, or that wait for a place',
  access: 'key',
  answers: {
    200: {
      says: 'Oldest first, at most 500; what resolves by itself goes away by itself',
      body: { schema: z.object({ payments: z.array(Unresolved) }), example: { payments: [unresolved] } },
    },
  },
  http: { method: 'get', path: '/ops/payments' },
  run: async (_input, _caller, { log, readModels }: PaymentsParts) => ({
    payments: await unresolvedIn(readModels, log.now()),
  }),
});

/** How the payment gateway is. */
export const getPaymentsHealth = defineOperation({
  id: 'getPaymentsHealth',
  remote: { service: 'turnstile', method: 'get', path: '/health' },
  run: async (_input, _caller, { startedAt, payments: { channels, facilitator } }: PaymentsParts) => {
    const reachable = facilitator && channels.length > 0 ? await facilitator.reachable() : false;
    const isDegraded = channels.length > 0 && !reachable;
    return {
      status: isDegraded ? 'degraded' : 'ok',
      ...(isDegraded ? { reason: troubleOf(facilitator) } : {}),
      facilitator: { url: facilitator?.place ?? null, reachable },
      channels: channels.length,
      uptime: Math.round((Date.now() - startedAt.getTime()) / 1000),
    };
  },
});

/** Why nothing can be paid. */
function troubleOf(facilitator: Facilitator | undefined): string {
  return facilitator
    ? `the payment facilitator ${facilitator.place} does not answer as one`
    : 'channels cost something and X402_FACILITATOR_URL is not set';
}
