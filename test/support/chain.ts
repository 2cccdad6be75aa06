import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Abi, type Address, createWalletClient, type Hex, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { freePort } from './ports.js';
import { type ServerProcess, startServerProcess, type Teardown } from './server-process.js';

const program = findAnvil();

/** Why tests with a chain have to be left out, or `false`; the program comes with the npm packages of most platforms. */
export const withoutChain = program === undefined && 'anvil, a local chain, is not there for this platform';

/** Somebody who acts on the chain. */
export interface Agent {
  address: Address;
  /** Registers one more agent and gives back its id. */
  register(): Promise<number>;
  transfer(agentId: number, to: Address): Promise<void>;
  setAgentWallet(agentId: number, wallet: Address): Promise<void>;
  burn(agentId: number): Promise<void>;
}

/** A chain of its own with a registry of agents on it; `kill` and `pause` are an endpoint that is away. */
export interface TestChain extends ServerProcess {
  readonly url: string;
  readonly registry: Address;
  /** An account with means: 0 to 9. */
  agent(index: number): Agent;
  /** The private key of such an account. */
  keyOf(index: number): Hex;
}

const artefact = JSON.parse(readFileSync('test/support/contracts/agent-registry.json', 'utf8')) as {
  abi: Abi;
  bytecode: Hex;
};

/** The keys of the accounts that anvil gives means to, which everybody knows. */
const keys: Hex[] = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6',
];

/** Starts an empty chain; `options` are more of the program's own. */
export async function startAnvil(t: Teardown, options: string[] = []): Promise<ServerProcess> {
  return await startServerProcess(t, {
    name: 'anvil',
    command: program!,
    choosePort: freePort,
    args: (_dir, port) => ['--port', String(port), '--silent', ...options],
    answers: async (port) => (await blockNumber(port)) !== undefined,
  });
}

/** Starts a chain and puts a registry on it. */
export async function startChain(t: Teardown): Promise<TestChain> {
  const server = await startAnvil(t);
  const url = `http://127.0.0.1:${server.port}`;
  const clientOf = (index: number) =>
    createWalletClient({
      account: privateKeyToAccount(keys[index]!),
      chain: foundry,
      transport: http(url),
      pollingInterval: 20,
    }).extend(publicActions);
  const deployer = clientOf(0);
  const deployed = await deployer.deployContract(artefact);
  const registry = (await deployer.waitForTransactionReceipt({ hash: deployed })).contractAddress!;

  function agent(index: number): Agent {
    const client = clientOf(index);
    const call = async (functionName: string, ...args: unknown[]) => {
      const hash = await client.writeContract({ address: registry, abi: artefact.abi, functionName, args });
      return await client.waitForTransactionReceipt({ hash });
    };
    return {
      address: client.account.address,
      register: async () => Number((await call('register', 'https://agent.example')).logs[0]!.topics[1]),
      transfer: async (agentId, to) => void (await call('transfer', agentId, to)),
      setAgentWallet: async (agentId, wallet) => void (await call('setAgentWallet', agentId, wallet)),
      burn: async (agentId) => void (await call('burn', agentId)),
    };
  }
  return Object.defineProperties(server as TestChain, {
    url: { value: url },
    registry: { value: registry },
    agent: { value: agent },
    keyOf: { value: (index: number) => keys[index] },
  });
}

async function blockNumber(port: number): Promise<unknown> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber' }),
    });
    return ((await response.json()) as { result?: unknown }).result;
  } catch {
    return undefined;
  }
}

/** The program is in a package of its own for each platform. */
function findAnvil(): string | undefined {
  const cpu = process.arch === 'x64' ? 'amd64' : process.arch;
  try {
    const { resolve } = createRequire(import.meta.url);
    const path = resolve(`@foundry-rs/anvil-${process.platform}-${cpu}/bin/anvil`);
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
