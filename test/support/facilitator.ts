import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator';
import { sendJson } from './marketplace.js';
import { baseNetwork, type PaymentChain } from './payment-chain.js';
import type { Teardown } from './server-process.js';

/** What a facilitator is asked to do. */
export type Operation = 'supported' | 'verify' | 'settle';

/** An answer; `undefined` keeps silent for ever. */
export type FacilitatorAnswer = { status: number; body: unknown } | undefined;

/** A real facilitator, from the published packages, that settles on a chain. */
export interface TestFacilitator {
  readonly url: string;
  /** What it was asked, in order. */
  readonly seen: { operation: Operation; body: Record<string, unknown> }[];
  /** How it answers; `act` does its usual work. A test replaces this to make it late or lie. */
  answer(operation: Operation, act: () => Promise<FacilitatorAnswer>): Promise<FacilitatorAnswer>;
  count(operation: Operation): number;
  /** Ends it; `start` brings it back at the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** How it answers where no test says otherwise. */
export const honest: TestFacilitator['answer'] = (_operation, act) => act();

interface Asked {
  paymentPayload: PaymentPayload;
  paymentRequirements: PaymentRequirements;
}

/** Starts a facilitator for the chain. */
export async function startFacilitator(t: Teardown, chain: PaymentChain): Promise<TestFacilitator> {
  const { settler } = chain;
  // its account sends one transaction after another: each has the next number
  let sending: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(send: () => Promise<T>): Promise<T> => {
    const sent = sending.then(send, send);
    sending = sent;
    return sent;
  };
  const signer = toFacilitatorEvmSigner({
    address: settler.account.address,
    readContract: (call) => settler.readContract(call as never) as Promise<unknown>,
    verifyTypedData: (call) => settler.verifyTypedData(call as never),
    writeContract: (call) => inTurn(() => settler.writeContract(call as never)),
    sendTransaction: (call) => inTurn(() => settler.sendTransaction(call as never)),
    waitForTransactionReceipt: (call) => settler.waitForTransactionReceipt(call),
    getCode: (call) => settler.getCode(call),
  });
  const facilitator = new x402Facilitator();
  registerExactEvmScheme(facilitator, { signer, networks: baseNetwork });
  const act = async (operation: Operation, body: Asked): Promise<FacilitatorAnswer> => {
    if (operation === 'supported') return { status: 200, body: facilitator.getSupported() };
    return { status: 200, body: await facilitator[operation](body.paymentPayload, body.paymentRequirements) };
  };
  return await serveFacilitator(t, (operation, body) => act(operation, body as unknown as Asked));
}

/** Starts a facilitator that does what a test says, without a chain. */
export async function serveFacilitator(
  t: Teardown,
  act: (operation: Operation, body: Record<string, unknown>) => Promise<FacilitatorAnswer>,
): Promise<TestFacilitator> {
  let server: Server | undefined;
  let port = 0;
  const test: TestFacilitator & { url: string } = {
    url: '',
    seen: [],
    answer: honest,
    count: (operation) => test.seen.filter((asked) => asked.operation === operation).length,
    start: async () => {
      server = createServer(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const operation = (request.url ?? '').slice(1) as Operation;
        const text = Buffer.concat(chunks).toString();
        const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
        test.seen.push({ operation, body });
        const answer = await test.answer(operation, () => act(operation, body));
        if (answer) sendJson(response, answer.status, answer.body);
      });
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      ({ port } = server.address() as AddressInfo);
      test.url = `http://127.0.0.1:${port}`;
    },
    stop: async () => {
      const ended = new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
      server?.closeAllConnections();
      await ended;
      server = undefined;
    },
  };
  t.teardown(() => test.stop());
  await test.start();
  return test;
}
