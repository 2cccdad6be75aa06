import { z } from 'zod';
import { type Gateway, path } from '../../mcp/gateway.js';
import { defineTool, resultOf, type Tool } from '../../mcp/tool.js';
import { channel, nick } from '../core/parameters.js';

const PaidChannel = z.looseObject({
  name: z.string(),
  price: z.string().describe('In units of currency'),
  currency: z.string(),
  network: z.string().describe('CAIP-2, e.g. eip155:8453'),
  durationSeconds: z.number(),
  maxSlots: z.int(),
  activeSlots: z.int(),
  description: z.string(),
});
const Session = z.looseObject({
  channel: z.string(),
  nick: z.string(),
  expires_at: z.string().describe('ISO 8601'),
  tx_hash: z.string().nullable(),
});

/** The channels that cost something, and who has paid. */
export function paymentTools(gateway: Gateway): Tool[] {
  return [
    defineTool({
      name: 'svc_list_paid_channels',
      title: 'List paid channels',
      description:
        'The channels that cost something, with price, currency, network, length of a session and free slots. Access is bought with POST /payments/access/{channel} and the x402 protocol, which pays in one of 5 stablecoins across 13 chains.',
      output: z.looseObject({ channels: z.array(PaidChannel) }),
      walletReadable: true,
      run: async (_args, caller) => resultOf(await gateway(caller, { path: '/payments/channels' })),
    }),
    defineTool({
      name: 'svc_get_paid_channel',
      title: 'Price and slots of a paid channel',
      description: 'One paid channel: what a session costs, how long it lasts and how many slots are taken.',
      input: z.object({ channel }),
      output: PaidChannel,
      walletReadable: true,
      run: async (args, caller) =>
        resultOf(await gateway(caller, { path: path`/payments/channels/${args.channel}` })),
    }),
    defineTool({
      name: 'svc_get_sessions',
      title: 'Paid sessions of a nick',
      description:
        'The sessions in paid channels that a nick has now, with their end and the transaction that paid.',
      input: z.object({ nick }),
      output: z.looseObject({ nick: z.string(), sessions: z.array(Session) }),
      run: async (args, caller) =>
        resultOf(await gateway(caller, { path: path`/payments/sessions/${args.nick}` })),
    }),
  ];
}
