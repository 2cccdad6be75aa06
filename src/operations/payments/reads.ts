import { z } from 'zod';
import { liveSessions } from '../../../projections/payments/queries.js';
import { casefold } from '../../../streams/irc-grammar.js';
import type { Facilitator } from '../../../workers/payments/facilitator.js';
import { Nick, nickname, Time, text, walletAddress } from '../core/fields.js';
import { healthOf, secondsSince } from '../core/health.js';
import { defineForOperators, operationsOf } from '../core/operation.js';
import {
  ChannelName,
  ContractChannel,
  channelNamed,
  channelViews,
  network,
  PaidChannel,
  soldChannel,
} from './paid-channel.js';
import type { PaymentsParts } from './parts.js';
import { unresolvedIn } from './unresolved.js';

const define = operationsOf({ tag: 'Paid channels' });

const transaction = text(`0x${'ab'.repeat(32)}`);
const PaidChannels = z.object({ channels: z.array(PaidChannel) });
const Session = z
  .object({
    session_id: text('ses-1'),
    channel: soldChannel,
    nick: nickname,
    started_at: Time,
    expires_at: Time.meta({ example: '2026-01-31T12:30:00.000Z' }),
    duration_seconds: z.number().meta({ example: 1_800 }),
    tx_hash: transaction,
    network,
    amount: text('0.10'),
    currency: text('USDC'),
    payer: walletAddress,
  })
  .meta({ id: 'PaymentSession' });
/** The same as any gateway of the contract tells of it. */
const ContractSession = Session.pick({ channel: true, nick: true, expires_at: true })
  .extend({ tx_hash: z.string().nullable() })
  .loose();
const Unresolved = z.object({
  payment: text('qO3vXk2r0bT9yS6mN1cF8uHw5eJ4aLzD7gPxVtRkYiE'),
  state: z
    .enum(['unknown', 'owed'])
    .meta({ description: 'owed: settled, and its session has no place yet', example: 'owed' }),
  channel: soldChannel,
  nick: nickname,
  payer: walletAddress,
  network,
  amount: text('100000').describe('In the smallest unit of the token'),
  nonce: text(`0x${'3f'.repeat(32)}`).nullable(),
  tx_hash: transaction.nullable(),
  reason: text('channel_full').nullable().describe('Why it waits'),
  intended_at: Time,
});

/** The channels that cost something. */
export const listPaidChannels = define('listPaidChannels', {
  summary: 'The paid channels',
  description:
    'With price, currency, networks, length of a session and the places that are taken. `POST /payments/access/{channel}` buys a session.',
  says: 'With their prices and free slots',
  output: PaidChannels,
  http: { method: 'get', path: '/payments/channels' },
  tool: {
    name: 'svc_list_paid_channels',
    title: 'List paid channels',
    description:
      'The channels that cost something, with price, currency, network, length of a session and free slots. Access is bought with POST /payments/access/{channel} and x402.',
    output: z.looseObject({ channels: z.array(ContractChannel) }),
    walletReadable: true,
  },
  remote: { service: 'turnstile', method: 'get', path: '/api/channels' },
  run: async (_input, _caller, parts: PaymentsParts) => ({
    channels: parts.payments.channels.map(await channelViews(parts)),
  }),
});

/** One of them. */
export const getPaidChannel = define('getPaidChannel', {
  summary: 'A paid channel',
  description: 'Its price, how long a session lasts and how many places are taken.',
  input: z.object({ channel: ChannelName }),
  says: 'The channel',
  output: PaidChannel,
  refusals: { paid_channel_not_found: true },
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
export const listSessions = define('listSessions', {
  summary: 'What a nick has paid for and may use now',
  description: 'Sessions that have ended are not among them.',
  input: z.object({ nick: Nick }),
  says: 'Those that end first at the beginning',
  output: z.object({ nick: nickname, sessions: z.array(Session) }),
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
    return { nick, sessions: await rows.read(liveSessions, log.now(), nick) };
  },
});

/** What somebody may have to look after. */
export const listUnresolvedPayments = defineForOperators('listUnresolvedPayments', {
  summary: 'Payments that may or may not be settled, or that wait for a place',
  says: 'Oldest first, at most 500; what resolves by itself goes away by itself',
  output: z.object({ payments: z.array(Unresolved) }),
  http: { method: 'get', path: '/ops/payments' },
  run: async (_input, _caller, { log, readModels }: PaymentsParts) => ({
    payments: await unresolvedIn(readModels, log.now()),
  }),
});

/** How the payment gateway is. */
export const getPaymentsHealth = define('getPaymentsHealth', {
  remote: healthOf('turnstile'),
  run: async (_input, _caller, { startedAt, payments: { channels, facilitator } }: PaymentsParts) => {
    const reachable = facilitator && channels.length > 0 ? await facilitator.reachable() : false;
    const isDegraded = channels.length > 0 && !reachable;
    return {
      status: channels.length === 0 ? 'not_configured' : isDegraded ? 'degraded' : 'ok',
      ...(isDegraded ? { reason: troubleOf(facilitator) } : {}),
      facilitator: { url: facilitator?.place ?? null, reachable },
      channels: channels.length,
      uptime: secondsSince(startedAt),
    };
  },
});

/** Why nothing can be paid. */
function troubleOf(facilitator: Facilitator | undefined): string {
  return facilitator
    ? `the payment facilitator ${facilitator.place} does not answer as one`
    : 'channels cost something and X402_FACILITATOR_URL is not set';
}
