/** A client that pays for a channel. Usage: npx tsx examples/paying-client.ts CHANNEL NICK */
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

const { RELAY_URL = 'http://127.0.0.1:8100', WALLET_KEY = '' } = process.env;
const [channel = 'alpha', nick = 'ann'] = process.argv.slice(2);

/** The most that this client pays, in the smallest units of USDC: 1 dollar. */
const most = 1_000_000n;

if (!/^0x[\da-f]{64}$/i.test(WALLET_KEY)) {
  console.error('Set WALLET_KEY to the private key of the wallet that pays: 0x and 64 hexadecimal digits');
  process.exit(1);
}
const wallet = privateKeyToAccount(WALLET_KEY as `0x${string}`);
const pay = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(wallet) }],
  policies: [(_version, ways) => ways.filter(({ amount }) => BigInt(amount) <= most)],
});

// The first answer is a 402 with the ways to pay. The client signs one, and asks again.
const response = await pay(`${RELAY_URL}/payments/access/${channel}`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ nick }),
});
const answer = (await response.json()) as Record<string, unknown>;
if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(answer)}`);
console.log(`${wallet.address} paid: ${nick} may be in ${answer.channel} until ${answer.expiresAt}`);
