import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pino } from 'pino';
import {
  type Address,
  type Chain,
  createTestClient,
  createWalletClient,
  type Hex,
  type HttpTransport,
  http,
  type PrivateKeyAccount,
  type PublicActions,
  parseAbi,
  parseEther,
  publicActions,
  type WalletClient,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import { networkOf } from '../../../workers/payments/networks.js';
import { projectDir } from '../../servers/binaries.js';
import { superviseChild } from '../../servers/child.js';

/** Where the demo's chain says to be: clients pay with the token of no other one. */
const network = networkOf(`eip155:${base.id}`)!;

/** The contract in `contracts/payment-token.sol`: what is called of it, and where its code is. */
export const paymentToken = {
  abi: parseAbi([
    'function mint(address to, uint256 value)',
    'function balanceOf(address) view returns (uint256)',
    'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  ]),
  bytecodeFile: join(projectDir, 'src', 'cli', 'demo', 'contracts', 'payment-token.json'),
};

/** Reads and writes on a chain, under one account. */
export type ChainClient = WalletClient<HttpTransport, Chain, PrivateKeyAccount> &
  PublicActions<HttpTransport, Chain, PrivateKeyAccount>;

/** A chain of its own with the number of Base, and a token of ours where the dollar token is there. */
export interface DemoChain {
  /** CAIP-2. */
  readonly network: string;
  /** Whoever brings payments to it. */
  readonly settler: ChainClient;
  /** Somebody new who has so many of the token's smallest units. */
  payer(amount: bigint): Promise<PrivateKeyAccount>;
  /** Asks how much an address has, in the token's smallest unit. */
  balance(of: Address): Promise<bigint>;
  stop(): Promise<void>;
}

/** The program of the optional package `@foundry-rs/anvil`, which has one for each platform; `undefined` where it is missing. */
export function findAnvil(): string | undefined {
  const cpu = process.arch === 'x64' ? 'amd64' : process.arch;
  try {
    const { resolve } = createRequire(import.meta.url);
    const path = resolve(`@foundry-rs/anvil-${process.platform}-${cpu}/bin/anvil`);
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Starts the program on loopback, with its files under `dataDir`. Throws when it does not answer. */
export async function startDemoChain(program: string, dataDir: string): Promise<DemoChain> {
  const dir = join(dataDir, 'anvil');
  const settings = join(dir, 'settings.json');
  const child = await superviseChild({
    name: 'anvil',
    dir,
    host: '127.0.0.1',
    port: 0,
    command: program,
    ownArgument: settings,
    args: (port) => [
      ...['--port', String(port), '--chain-id', String(base.id), '--silent', '--config-out', settings],
    ],
    fingerprint: program,
    answers: async (port) => {
      const client = createTestClient({ mode: 'anvil', chain: base, transport: http(rpcOf(port)) });
      return await client
        .extend(publicActions)
        .getChainId()
        .then(Boolean, () => false);
    },
    startTimeoutMs: 20_000,
    stopGraceMs: 3_000,
    log: pino({ level: 'silent' }),
  });
  try {
    return { ...(await deployToken(rpcOf(child.port))), network: network.id, stop: () => child.stop() };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

async function deployToken(url: string): Promise<Omit<DemoChain, 'network' | 'stop'>> {
  const { deployedBytecode } = JSON.parse(readFileSync(paymentToken.bytecodeFile, 'utf8')) as {
    deployedBytecode: Hex;
  };
  const token = { address: network.asset as Address, abi: paymentToken.abi };
  const settler = clientOn(url);
  const forge = createTestClient({ mode: 'anvil', chain: base, transport: http(url) });
  await forge.setCode({ address: token.address, bytecode: deployedBytecode });
  await forge.setBalance({ address: settler.account.address, value: parseEther('10') });
  return {
    settler,
    payer: async (amount) => {
      const account = privateKeyToAccount(generatePrivateKey());
      const args = [account.address, amount] as const;
      const hash = await settler.writeContract({ ...token, functionName: 'mint', args });
      await settler.waitForTransactionReceipt({ hash });
      return account;
    },
    balance: (of) => settler.readContract({ ...token, functionName: 'balanceOf', args: [of] }),
  };
}

function clientOn(url: string): ChainClient {
  const account = privateKeyToAccount(generatePrivateKey());
  const at = { chain: base as Chain, transport: http(url), pollingInterval: 50 };
  return createWalletClient({ account, ...at }).extend(publicActions);
}

const rpcOf = (port: number) => `http://127.0.0.1:${port}`;
