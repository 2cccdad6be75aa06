import { getAddress, isAddress } from 'viem/utils';

/** A network where payments are accepted, and its US dollar token of six decimals. */
export interface PaymentNetwork {
  /** CAIP-2. */
  id: string;
  name: string;
  /** Its name in clients of protocol version 1, if all of them know it. */
  v1: string | undefined;
  /** Address of the token; the mint on Solana. */
  asset: string;
  /** What is signed: name and version of the token's EIP-712 domain. */
  domain: { name: string; version: string };
}

/** What prices are in. */
export const currency = 'USDC';
/** Decimals of each network's token. */
export const decimals = 6;
/** The network of a channel that does not name another one. */
export const defaultNetwork = 'eip155:8453';

const evm = (
  chain: number,
  name: string,
  asset: string,
  token = 'USD Coin',
  v1?: string,
): PaymentNetwork => ({
  id: `eip155:${chain}`,
  name,
  v1,
  asset,
  domain: { name: token, version: '2' },
});

/** Every network, in the order in which they are offered. */
export const networks: readonly PaymentNetwork[] = [
  evm(8453, 'Base', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USD Coin', 'base'),
  evm(1, 'Ethereum', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'),
  evm(137, 'Polygon', '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'USD Coin', 'polygon'),
  evm(42161, 'Arbitrum', '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'),
  evm(10, 'Optimism', '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'),
  evm(43114, 'Avalanche', '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', 'USD Coin', 'avalanche'),
  evm(42220, 'Celo', '0xcebA9300f2b948710d2653dD7B07f33A8B32118C', 'USDC'),
  evm(999, 'HyperEVM', '0xb88339CB7199b77E23DB6E890353E22632Ba630f', 'USDC'),
  evm(130, 'Unichain', '0x078d782b760474a361dda0af3839290b0ef57ad6', 'USDC'),
  evm(143, 'Monad', '0x754704bc059f8c67012fed69bc8a327a5aafb603', 'USDC'),
  evm(534352, 'Scroll', '0x06eFdBFf2a14a7c8E15944D1F4A48F9F95F663A4'),
  evm(1187947933, 'SKALE Base', '0x85889c8c714505E0c94b30fcfcF64fE3Ac8FCb20', 'Bridged USDC (SKALE Bridge)'),
  {
    id: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    name: 'Solana',
    v1: 'solana',
    asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    domain: { name: 'USD Coin', version: '1' },
  },
];

const byId = new Map(networks.map((network) => [network.id, network]));

/** The network of a CAIP-2 id; `undefined` if payments are not accepted there. */
export function networkOf(id: string): PaymentNetwork | undefined {
  return byId.get(id);
}

/** Whether a network's addresses are Ethereum's. */
export function isEvm(id: string): boolean {
  return id.startsWith('eip155:');
}

/**
 * An address in the usual spelling of its network; `undefined` for anything else, or if its checksum is
 * wrong.
 */
function addressOn(id: string, text: string): string | undefined {
  if (isEvm(id)) return isAddress(text) ? getAddress(text) : undefined;
  return /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text) ? text : undefined;
}

/** A price in the smallest unit of the token: `0.10` is `100000`. */
export function smallestUnits(price: string): string {
  const [whole = '0', part = ''] = price.split('.');
  return BigInt(whole + part.padEnd(decimals, '0')).toString();
}

/**
 * The receivers of payments, by network, from `X402_PAY_TO`. It is one address for all EVM networks, or
 * `network=address` pairs with commas between them. `undefined` if it cannot be read.
 */
export function readPayTo(text: string): ReadonlyMap<string, string> | undefined {
  const payTo = new Map<string, string>();
  if (text === '') return payTo;
  if (!text.includes('=')) {
    const address = addressOn(defaultNetwork, text.trim());
    if (address === undefined) return undefined;
    for (const { id } of networks) if (isEvm(id)) payTo.set(id, address);
    return payTo;
  }
  for (const pair of text.split(',')) {
    const [id = '', given = '', ...rest] = pair.split('=').map((part) => part.trim());
    const address = addressOn(id, given);
    if (rest.length > 0 || !byId.has(id) || address === undefined) return undefined;
    payTo.set(id, address);
  }
  return payTo;
}
