import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { getAddress, type PrivateKeyAccount } from 'viem';
import { startFacilitator, type TestFacilitator } from '../support/facilitator.js';
import { type PaymentChain, startPaymentChain } from '../support/payment-chain.js';
import type { Teardown } from '../support/server-process.js';
import { temporaryDirectory } from '../support/sql.js';

/** Where payments go in tests. */
export const payTo = getAddress('0x00000000000000000000000000000000000f00d5');

/** A paid channel as an operator writes it down. */
export const paidChannel = (fields: Record<string, unknown> = {}) => ({
  name: '#alpha-test',
  price: '0.10',
  durationSeconds: 1_800,
  maxSlots: 20,
  description: 'For tests',
  ...fields,
});

/** Writes the operator's file and gives back its path. */
export async function channelsFile(t: Teardown, channels: unknown): Promise<string> {
  const path = join(await temporaryDirectory(t), 'paid-channels.json');
  await writeFile(path, typeof channels === 'string' ? channels : JSON.stringify(channels));
  return path;
}

/** A chain and whoever settles on it. */
export async function startPayments(
  t: Teardown,
): Promise<{ chain: PaymentChain; facilitator: TestFacilitator }> {
  const chain = await startPaymentChain(t);
  return { chain, facilitator: await startFacilitator(t, chain) };
}

/** A fetch that pays what it is asked for, as the published client does. */
export function payingFetch(account: PrivateKeyAccount, through: typeof fetch = fetch): typeof fetch {
  return wrapFetchWithPaymentFromConfig(through, {
    schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(account) }],
  }) as typeof fetch;
}

/** The same, and the proofs that it has sent. */
export function recordingFetch(account: PrivateKeyAccount): { pay: typeof fetch; proofs: string[] } {
  const proofs: string[] = [];
  const pay = payingFetch(account, async (input, init) => {
    const request = new Request(input, init);
    const proof = request.headers.get('payment-signature');
    if (proof) proofs.push(proof);
    return await fetch(request);
  });
  return { pay, proofs };
}

/** The JSON of an answer. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape, looked at by tests
export const bodyOf = async (response: Response): Promise<any> => await response.json();

/** The request that enters a channel. */
export const entering = (nick: string, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ nick }),
  signal: AbortSignal.timeout(30_000),
});

/** A payment as version 2 sends it. */
export interface Payload {
  accepted: Record<string, unknown>;
  payload: { signature: string; authorization: Record<string, string> & { from: string; to: string } };
}

/** A payload as a header. */
export const encoded = (payload: unknown) => Buffer.from(JSON.stringify(payload)).toString('base64');

/** The header that a client would send to pay, kept from being sent. */
export async function proofOf(account: PrivateKeyAccount, access: string): Promise<string> {
  const proofs: string[] = [];
  const pay = payingFetch(account, async (input, init) => {
    const request = new Request(input, init);
    const proof = request.headers.get('payment-signature');
    if (!proof) return await fetch(request);
    proofs.push(proof);
    return Response.json({});
  });
  await pay(access, entering('nobody'));
  return proofs[0]!;
}

/** The same, read. */
export async function signedProof(account: PrivateKeyAccount, access: string): Promise<Payload> {
  return JSON.parse(Buffer.from(await proofOf(account, access), 'base64').toString()) as Payload;
}
