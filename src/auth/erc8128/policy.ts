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
} as const;

/** Where nonces are issued. */
export const noncePath = '/auth/erc8128/nonce';
export const nonceAliases = ['/api/v1/auth/erc8128/nonce'] as const;
/** Where the policy can be read. */
export const policyPath = '/auth/erc8128/info';

/** Why a signature was refused: stable codes, and what they mean. */
export const signatureFaults = {
  signature_input_invalid:
    'Signature and Signature-Input must both be there, readable, and have the label eth',
  wallet_invalid: 'The keyid must be erc8128:<chain id>:<0x address>',
  wallet_mismatch: 'The signature is not one of the wallet in the keyid over this request',
  signature_stale: 'The signature is from another time, or is to hold for more than 300 seconds',
  nonce_required: 'The signature has no nonce',
  nonce_unknown: 'The nonce was not issued here',
  nonce_replayed: 'The nonce has been used',
  nonce_expired: 'The nonce is older than 300 seconds',
  components_invalid: 'The signature does not cover what it must, or covers what this request does not have',
  class_bound_rejected: 'The signature is for a class of requests; it must be for this one',
  content_digest_required: 'The signature covers content-digest, and the request has no Content-Digest',
  content_digest_mismatch: 'Content-Digest is not the SHA-256 digest of the body',
  signature_invalid: 'The signature is not one that a wallet makes',
  alg_unsupported: 'The signature must be made with eip191 (personal_sign)',
  chain_not_allowed: 'The wallet must be one of chain 8453',
} as const;

/** A reason for which a signature is refused. */
export type SignatureFault = keyof typeof signatureFaults;

/** Whether an error's code is a reason for which a signature was refused. */
export function isSignatureFault(code: string): code is SignatureFault {
  return Object.hasOwn(signatureFaults, code);
}

/** What a signature must cover; the order is free, and it may cover more. */
export function componentsOf(request: { hasQuery: boolean; hasBody: boolean }): string[] {
  return [
    ...['@method', '@authority', '@path'],
    ...(request.hasQuery ? ['@query'] : []),
    ...(request.hasBody ? ['content-digest'] : []),
  ];
}
