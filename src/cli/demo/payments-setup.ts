import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { x402Facilitator } from '@x402/core/facilitator';
import type { Network, PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { type Address, getAddress, type PrivateKeyAccount } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { boundedFetch } from '../../../workers/core/fetch.js';
import { type DemoChain, findAnvil, startDemoChain } from './chain.js';

/** What a demo needs to have payments in its own service: a chain, a facilitator, and a paid channel. */
export interface DemoPayments {
  /** Settings of a service that takes payments here. */
  settings: Record<string, string>;
  chain: DemoChain;
  /** Where payments go. */
  payTo: Address;
  /** A fetch that pays what it is asked for; each answer has so many milliseconds. */
  paying(account: PrivateKeyAccount, timeoutMs: number): typeof fetch;
  close(): Promise<void>;
}

/** Why a demo goes without payments, and what brings them. */
export interface NoPayments {
  why: string;
  mend?: string;
}

const install = 'npm install --include=dev';
/** The channel that is sold: its price is more than nothing and less than what clients pay without asking. */
const channel = {
  name: '#demo-lounge',
  price: '0.10',
  durationSeconds: 600,
  maxSlots: 5,
  description: 'A room for those who have paid',
};

/** Opens payments with their files under `dataDir`. What is missing for them is no error. */
export async function openDemoPayments(dataDir: string): Promise<DemoPayments | NoPayments> {
  const program = findAnvil();
  const published = await loadPackages();
  if (!published) return { why: 'the x402 packages are not installed', mend: install };
  if (!program) return { why: 'the chain package @foundry-rs/anvil is not installed', mend: install };
  let chain: DemoChain | undefined;
  try {
    chain = await startDemoChain(program, dataDir);
    const { server, url } = await startFacilitator(chain, published);
    const payTo = getAddress(privateKeyToAddress(generatePrivateKey()));
    const paidChannels = join(dataDir, 'paid-channels.json');
    await writeFile(paidChannels, JSON.stringify([channel]));
    return {
      chain,
      payTo,
      settings: {
        X402_FACILITATOR_URL: url,
        X402_PAY_TO: `${chain.network}=${payTo}`,
        PAID_CHANNELS: paidChannels,
      },
      paying: (account, timeoutMs) => {
        const client = new published.client.ExactEvmScheme(account);
        const schemes = [{ network: chain!.network as Network, client }];
        const bounded: typeof fetch = (input, init) => boundedFetch(input, init, { timeoutMs });
        return published.payer.wrapFetchWithPaymentFromConfig(bounded, { schemes }) as typeof fetch;
      },
      close: async () => {
        server.closeAllConnections();
        server.close();
        await chain?.stop();
      },
    };
  } catch (error) {
    await chain?.stop();
    return { why: `the local chain did not start: ${(error as Error).message}` };
  }
}

/** The published packages, which a service that takes payments does without: `undefined` where one is missing. */
async function loadPackages() {
  try {
    const [evm, facilitator, client, payer] = await Promise.all([
      import('@x402/evm'),
      import('@x402/evm/exact/facilitator'),
      import('@x402/evm/exact/client'),
      import('@x402/fetch'),
    ]);
    return { evm, facilitator, client, payer };
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

type Packages = NonNullable<Awaited<ReturnType<typeof loadPackages>>>;

/** A facilitator, from the published packages, that settles on the chain: one payment after another. */
async function startFacilitator(
  { settler, network }: DemoChain,
  { evm, facilitator: exact }: Packages,
): Promise<{ server: Server; url: string }> {
  const signer = evm.toFacilitatorEvmSigner({
    address: settler.account.address,
    readContract: (call) => settler.readContract(call as never) as Promise<unknown>,
    verifyTypedData: (call) => settler.verifyTypedData(call as never),
    writeContract: (call) => settler.writeContract(call as never),
    sendTransaction: (call) => settler.sendTransaction(call as never),
    waitForTransactionReceipt: (call) => settler.waitForTransactionReceipt(call),
    getCode: (call) => settler.getCode(call),
  });
  const facilitator = new x402Facilitator();
  exact.registerExactEvmScheme(facilitator, { signer, networks: network as Network });
  const answer = async (path: string, text: string): Promise<unknown> => {
    if (path === '/supported') return facilitator.getSupported();
    const { paymentPayload, paymentRequirements } = JSON.parse(text) as {
      paymentPayload: PaymentPayload;
      paymentRequirements: PaymentRequirements;
    };
    return await facilitator[path === '/settle' ? 'settle' : 'verify'](paymentPayload, paymentRequirements);
  };
  const server = createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = await answer(request.url ?? '', Buffer.concat(chunks).toString());
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    } catch (error) {
      response.writeHead(500).end(String((error as Error).message));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
