import type { RefusalCode } from '../../../streams/refusals.js';

/** What a wallet's signature must be like to be taken (ERC-8128, a profile of RFC 9421). */
export const signaturePolicy = {
  /** Name of the signature in its two headers. */
  label: 'eth',
  chainId: 8453,
  algorithm: 'eip191',
  /** Longest time from `created` to `expires`, in seconds. */
  maxValiditySec: 300,
  /** How far a signer's clock may be from ours, in seconds. */
  clockSkewSec: 30,
  /** How long a nonce may be used, in seconds. */
  nonceTtlSec: 300,
  /** How long each of the two headers may be, in characters. */
  maxHeaderLength: 2_048,
} as const;

/** Where nonces are issued. */
export const noncePath = '/auth/erc8128/nonce';
export const nonceAliases = ['/api/v1/auth/erc8128/nonce'] as const;
/** Where the policy can be read. */
export const policyPath = '/auth/erc8128/info';

/** Why a signature may be refused, by name in the catalogue. */
export const signatureFaults = [
  'signature_input_invalid',
  'wallet_invalid',
  'wallet_mismatch',
  'signature_stale',
  'nonce_required',
  'nonce_unknown',
  'nonce_replayed',
  'nonce_expired',
  'components_invalid',
  'class_bound_rejected',
  'content_digest_required',
  'content_digest_mismatch',
  'signature_invalid',
  'alg_unsupported',
  'chain_not_allowed',
] as const satisfies RefusalCode[];

/** A reason for which a signature is refused. */
export type SignatureFault = (typeof signatureFaults)[number];

/** Whether an error's code is a reason for which a signature was refused. */
export function isSignatureFault(code: string): code is SignatureFault {
  return (signatureFaults as readonly string[]).includes(code);
}

/** What a signature must cover; the order is free, and it may cover more. */
export function componentsOf(request: { hasQuery: boolean; hasBody: boolean }): string[] {
  return [
    ...['@method', '@authority', '@path'],
    ...(request.hasQuery ? ['@query'] : []),
    ...(request.hasBody ? ['content-digest'] : []),
  ];
}
