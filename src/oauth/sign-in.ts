import { isHex, verifyMessage } from 'viem';
import { createSiweMessage, parseSiweMessage } from 'viem/siwe';
import { Refusal } from '../../streams/core/index.js';
import { isWalletAddress, walletKey } from '../../streams/identity/index.js';
import type { Nonces } from '../auth/erc8128/nonces.js';
import { signaturePolicy } from '../auth/erc8128/policy.js';
import type { Scope } from '../operations/core/caller.js';
import { destinationOf } from './clients.js';
import type { AuthorizationRequest } from './requests.js';

/** What a person signs a program in with, besides the program's request. */
export interface SignIn {
  address: string;
  chainId: number;
  /** As the service issued it. */
  nonce: string;
  issuedAt: Date;
  scopes: readonly Scope[];
}

/** Where people sign in: the host that wallets compare with that of the page, and the page. */
export interface SignInPlace {
  authority: string;
  page: string;
  /** How long the key is good for, in days. */
  days: number;
}

const ttlMs = signaturePolicy.nonceTtlSec * 1_000;
const skewMs = signaturePolicy.clockSkewSec * 1_000;

/** The text that a wallet signs (EIP-4361). It says which program gets what, and is good for one request of it. */
export function signInText(
  request: AuthorizationRequest,
  { address, chainId, nonce, issuedAt, scopes }: SignIn,
  { authority, page, days }: SignInPlace,
): string {
  const { client, redirectUri, resource, hash } = request;
  // the standard leaves few characters for this line, and wallets do not read others
  const name = client.name.replace(/[^A-Za-z0-9 .,_:/()+-]/g, '').trim() || 'A program';
  const whom = `${name} (not checked), which is sent the answer at ${destinationOf(redirectUri)}`;
  return createSiweMessage({
    address: address as `0x${string}`,
    statement: `Give ${whom}, a key that acts as my nick for ${days} days. It is good for: ${scopes.join(', ')}.`,
    domain: authority,
    uri: page,
    version: '1',
    chainId,
    requestId: hash,
    resources: [resource],
    // letters and digits only
    nonce: Buffer.from(nonce, 'base64url').toString('hex'),
    issuedAt,
    expirationTime: new Date(issuedAt.getTime() + ttlMs),
  });
}

/**
 * The wallet that signed a request's text, in lower case, which uses up the nonce. Throws 401 `sign_in_invalid` and the
 * reasons of nonces, and 503.
 */
export async function signerOf(
  request: AuthorizationRequest,
  given: { message: string; signature: string; scopes: readonly Scope[] },
  place: SignInPlace,
  { nonces, now }: { nonces: Pick<Nonces, 'use'>; now: Date },
): Promise<string> {
  const { message, signature, scopes } = given;
  const {
    address = '0x',
    chainId = 0,
    nonce = '',
    issuedAt = new Date(Number.NaN),
  } = parseSiweMessage(message);
  const age = now.getTime() - issuedAt.getTime();
  // no time at all is not timely either
  const isTimely = age >= -skewMs && age <= ttlMs + skewMs;
  if (!isWalletAddress(address) || !/^[0-9a-f]{48}$/.test(nonce) || !isTimely) throw notSigned();
  const issued = Buffer.from(nonce, 'hex').toString('base64url');
  const known: SignIn = { address, chainId, nonce: issued, issuedAt, scopes };
  if (message !== textOf(request, known, place) || !(await isSigned(address, message, signature)))
    throw notSigned();
  const fault = await nonces.use(issued, `eip4361:${walletKey(address)}`);
  if (fault) throw new Refusal(fault);
  return walletKey(address);
}

function textOf(...args: Parameters<typeof signInText>): string | undefined {
  try {
    return signInText(...args);
  } catch {
    // what it says of itself can be in no such text
    return undefined;
  }
}

async function isSigned(address: `0x${string}`, message: string, signature: string): Promise<boolean> {
  if (!isHex(signature)) return false;
  try {
    return await verifyMessage({ address, message, signature });
  } catch {
    return false;
  }
}

const notSigned = () => new Refusal('sign_in_invalid');
