import { z } from 'zod';
import { activeSlots } from '../../../projections/payments/queries.js';
import { Refusal } from '../../../streams/core/index.js';
import { channelKey } from '../../../streams/irc-grammar.js';
import type { PaidChannel as Channel } from '../../../workers/payments/paid-channel.js';
import { text } from '../core/fields.js';
import type { PaymentsParts } from './parts.js';

/** The name of a paid channel as callers give it. */
export const ChannelName = z
  .string()
  .meta({ description: 'Channel, case-insensitive; a leading # is optional', example: 'lobby' });

/** Its name in answers. */
export const soldChannel = text('#alpha-test');
/** A blockchain in answers, by its CAIP-2 id. */
export const network = text('eip155:8453');

/** A paid channel as callers see it. */
export const PaidChannel = z
  .object({
    name: soldChannel,
    price: text('0.10').describe('In units of currency'),
    currency: text('USDC'),
    network: network.describe('CAIP-2, the first of networks'),
    networks: z.array(network),
    durationSeconds: z.number().meta({ example: 1_800 }),
    maxSlots: z.int().meta({ example: 20 }),
    activeSlots: z.int().meta({ example: 3 }),
    description: text('Early signals'),
  })
  .meta({ id: 'PaidChannel' });

/** The same as any gateway of the contract tells of it. */
export const ContractChannel = PaidChannel.omit({ networks: true }).loose();

/** The paid channel of a name, with or without its `#`. Throws `not_found`. */
export function channelNamed(name: string, { payments }: PaymentsParts): Channel {
  const wanted = channelKey(name);
  const channel = payments.channels.find(({ name }) => name === wanted);
  if (!channel) throw new Refusal('paid_channel_not_found');
  return channel;
}

/** Makes what callers see of paid channels, with the slots that are taken now. */
export async function channelViews({ log, payments: { rows } }: PaymentsParts) {
  const slots = await rows.read(activeSlots, log.now());
  return ({ name, price, currency, networks, durationSeconds, maxSlots, description }: Channel) => ({
    name,
    price,
    currency,
    network: networks[0]!,
    networks,
    durationSeconds,
    maxSlots,
    activeSlots: slots.get(name) ?? 0,
    description,
  });
}
