import { z } from 'zod';
import { activeSlots } from '../../../projections/payments/queries.js';
import { Refusal } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import type { PaidChannel as Channel } from '../../../workers/payments/paid-channel.js';
import type { PaymentsParts } from './parts.js';

/** The name of a paid channel as callers give it. */
export const ChannelName = z.string().describe('Channel, case-insensitive; a leading # is optional');

/** A paid channel as callers see it. */
export const PaidChannel = z
  .object({
    name: z.string(),
    price: z.string().describe('In units of currency'),
    currency: z.string(),
    network: z.string().describe('CAIP-2, the first of networks'),
    networks: z.array(z.string()),
    durationSeconds: z.number(),
    maxSlots: z.int(),
    activeSlots: z.int(),
    description: z.string(),
  })
  .meta({ id: 'PaidChannel' });

/** The same as any gateway of the contract tells of it. */
export const ContractChannel = PaidChannel.omit({ networks: true }).loose();

/** One for readers of the description. */
export const paidChannelExample = {
  ...{ name: '#alpha-test', price: '0.10', currency: 'USDC' },
  ...{ network: 'eip155:8453', networks: ['eip155:8453'] },
  ...{ durationSeconds: 1_800, maxSlots: 20, activeSlots: 3, description: 'Early signals' },
};

/** The paid channel of a name, with or without its `#`. Throws `not_found`. */
export function channelNamed(name: string, { payments }: PaymentsParts): Channel {
  const wanted = casefold(`#${name.replace(/^#/, '')}`);
  const channel = payments.channels.find(({ name }) => name === wanted);
  if (!channel) throw new Refusal('not_found', 'Paid channel not found');
  return channel;
}

/** Makes what callers see of paid channels, with the slots that are taken now. */
export async function channelViews({ log, payments: { rows } }: PaymentsParts) {
  const slots = await rows.read((sql, schema) => activeSlots(sql, schema, log.now()));
  return ({ name, price, currency, networks, durationSeconds, maxSlots, description }: Channel) => ({
    ...{ name, price, currency, network: networks[0]!, networks, durationSeconds, maxSlots },
    ...{ activeSlots: slots.get(name) ?? 0, description },
  });
}
