import { formatUnits } from 'viem';
import { z } from 'zod';
import { decimals } from '../../../workers/payments/networks.js';
import { RelayError } from '../../client/error.js';
import { Failed } from '../core/failure.js';
import { printable, type Terminal } from '../core/terminal.js';
import type { IrcViewer } from './irc-viewer.js';
import type { DemoPayments } from './payments-setup.js';
import type { DemoTarget } from './target.js';

/** How long a payment may take, and then the way in, in milliseconds. */
const payMs = 30_000;
const enterMs = 15_000;
/** The balance of the demo's payer, in the token's smallest unit: a dollar. */
const purse = 1_000_000n;

const Price = z.object({
  accepts: z.array(z.looseObject({ network: z.string(), amount: z.string(), payTo: z.string() })),
});
const Grant = z.looseObject({ status: z.literal('granted'), channel: z.string(), expiresAt: z.string() });

/** What the demo showed of paid channels; `left_out` says why nothing was paid. */
export interface PaymentsResult {
  price?: z.output<typeof Price>['accepts'];
  grant?: z.output<typeof Grant>;
  tx_hash?: string;
  /** In units of the currency, of the payer and of the recipient, after the payment. */
  balances?: { payer: string; recipient: string };
  left_out?: string;
}

/**
 * Somebody pays for a channel and is brought in. This uses the demo's own chain and no real money. Throws
 * `Failed`.
 */
export async function showPayments(
  { service, payments }: DemoTarget,
  viewer: IrcViewer,
  terminal: Terminal,
): Promise<PaymentsResult> {
  const say = (text: string) => terminal.out(printable(text));
  const leave = (left_out: string, mend?: string) => {
    say(`left out: ${left_out}${mend ? `. "${mend}" brings it` : ''}`);
    return { left_out };
  };
  if (payments && 'why' in payments) return leave(payments.why, payments.mend);
  const { channels } = await service.api.get('/payments/channels');
  const [channel] = channels;
  if (!channel)
    return leave('this service has no paid channels (PAID_CHANNELS, see docs/guides/sell-a-channel.md)');
  const path = `/payments/access/${encodeURIComponent(channel.name.slice(1))}`;
  const asked = await service.send('POST', path, JSON.stringify({ nick: viewer.nick }));
  if (asked.status === 503) return leave(`payments for ${channel.name} are not configured on this service`);
  if (asked.status !== 402) throw new RelayError(asked, asked.body);
  const { accepts } = Price.parse(asked.body);
  say(`POST ${path}  402: ${channel.price} ${channel.currency} for ${channel.name}`);
  for (const { network, amount, payTo } of accepts) say(`  ${amount} on ${network} to ${payTo}`);
  if (!payments)
    return { price: accepts, ...leave('this service runs already, and its payments are real ones') };
  return { price: accepts, ...(await pay({ service, payments }, path, channel.name, viewer, say)) };
}

async function pay(
  { service, payments }: { service: DemoTarget['service']; payments: DemoPayments },
  path: string,
  channel: string,
  viewer: IrcViewer,
  say: (text: string) => void,
): Promise<PaymentsResult> {
  const { chain, payTo } = payments;
  const account = await chain.payer(purse);
  const brought = viewer.comesInto(channel, payMs + enterMs);
  brought.catch(() => undefined);
  const response = await payments.paying(account, payMs)(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ nick: viewer.nick }),
  });
  const text = await response.text();
  if (response.status !== 200)
    throw new Failed(`a payment bought nothing (${response.status})`, 'not_granted', printable(text));
  const grant = Grant.parse(JSON.parse(text));
  await brought.catch((error: Error) => {
    throw new Failed(error.message, 'not_admitted');
  });
  const params = { path: { nick: viewer.nick } };
  const { sessions } = await service.api.get('/payments/sessions/{nick}', { params });
  const [payer, recipient] = await Promise.all(
    [account.address, payTo].map(async (of) => formatUnits(await chain.balance(of), decimals)),
  );
  if (Number(recipient) <= 0) throw new Failed('a payment moved no money', 'not_paid');
  const tx_hash = sessions[0]?.tx_hash ?? '';
  say(`the same with a signed payment  200: in ${grant.channel} until ${grant.expiresAt}`);
  say(`  transaction ${tx_hash} on a local chain`);
  say(`  ${viewer.nick} has ${payer} left of 1, the recipient has ${recipient}`);
  return { grant, tx_hash, balances: { payer: payer!, recipient: recipient! } };
}
