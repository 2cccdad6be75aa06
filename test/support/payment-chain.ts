import { readFileSync } from 'node:fs';
import {
  type Abi,
  type Address,
  createTestClient,
  createWalletClient,
  type Hex,
  http,
  type PrivateKeyAccount,
  publicActions,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import { paymentToken } from '../../src/cli/demo/chain.js';
import { startAnvil } from './chain.js';
import type { ServerProcess, Teardown } from './server-process.js';

const { deployedBytecode } = JSON.parse(readFileSync(paymentToken.bytecodeFile, 'utf8')) as {
  deployedBytecode: Hex;
};

/** Where the dollar token is on the real chain: clients pay with no other one. */
export const usdc: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
/** CAIP-2 of the chain. */
export const baseNetwork = 'eip155:8453';

/** Two of the accounts that the chain gives means to: who hands out money, and who settles. */
const mintKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const settlerKey = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';

/** A chain with the number of Base and a dollar token in its real place. */
export interface PaymentChain extends ServerProcess {
  readonly url: string;
  /** Who settles: one transaction after another. */
  readonly settler: ReturnType<typeof clientOn>;
  /** Somebody who has so many of the token's smallest units; somebody new where no key is given. */
  payer(amount?: bigint, key?: Hex): Promise<PrivateKeyAccount>;
  balance(of: Address): Promise<bigint>;
  /** Lets so many seconds pass on the chain. */
  pass(seconds: number): Promise<void>;
  /** Has somebody take an authorization back before it is used. */
  cancel(payer: PrivateKeyAccount, nonce: Hex): Promise<void>;
}

function clientOn(url: string, key: Hex) {
  return createWalletClient({
    account: privateKeyToAccount(key),
    chain: base,
    transport: http(url),
    pollingInterval: 20,
  }).extend(publicActions);
}

/** Starts the chain; `authorizations` on it can be used, checked and taken back like on the real one. */
export async function startPaymentChain(t: Teardown): Promise<PaymentChain> {
  const server = await startAnvil(t, ['--chain-id', String(base.id)]);
  const url = `http://127.0.0.1:${server.port}`;
  const mint = clientOn(url, mintKey);
  const forge = createTestClient({ mode: 'anvil', chain: base, transport: http(url) });
  await forge.setCode({ address: usdc, bytecode: deployedBytecode });
  const token = { address: usdc, abi: paymentToken.abi as Abi } as const;
  let last: Promise<unknown> = Promise.resolve();
  /** Each transaction has the next number of its account. */
  const write = (functionName: string, args: readonly unknown[]): Promise<unknown> => {
    const send = async () => {
      const hash = await mint.writeContract({ ...token, functionName, args });
      return await mint.waitForTransactionReceipt({ hash });
    };
    last = last.then(send, send);
    return last;
  };
  return Object.defineProperties(server as PaymentChain, {
    url: { value: url },
    settler: { value: clientOn(url, settlerKey) },
    payer: {
      value: async (amount = 1_000_000n, key = generatePrivateKey()) => {
        const account = privateKeyToAccount(key);
        await write('mint', [account.address, amount]);
        return account;
      },
    },
    balance: {
      value: async (of: Address) =>
        await mint.readContract({ ...token, functionName: 'balanceOf', args: [of] }),
    },
    pass: {
      value: async (seconds: number) => {
        await forge.increaseTime({ seconds });
        await forge.mine({ blocks: 1 });
      },
    },
    cancel: {
      value: async (payer: PrivateKeyAccount, nonce: Hex) => {
        const signature = await payer.signTypedData({
          domain: { name: 'USD Coin', version: '2', chainId: base.id, verifyingContract: usdc },
          types: {
            CancelAuthorization: [
              { name: 'authorizer', type: 'address' },
              { name: 'nonce', type: 'bytes32' },
            ],
          },
          primaryType: 'CancelAuthorization',
          message: { authorizer: payer.address, nonce },
        });
        const [r, s] = [`0x${signature.slice(2, 66)}`, `0x${signature.slice(66, 130)}`];
        const args = [payer.address, nonce, Number(`0x${signature.slice(130)}`), r, s];
        await write('cancelAuthorization', args);
      },
    },
  });
}
