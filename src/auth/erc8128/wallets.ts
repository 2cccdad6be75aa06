import {
  createVerifierClient,
  parseKeyId,
  type VerifierClient,
  type VerifyFailReason,
  type VerifyMessageArgs,
  type VerifyResult,
} from '@slicekit/erc8128';
import type { FastifyRequest } from 'fastify';
import { verifyMessage } from 'viem';
import { Refusal } from '../../../streams/core/index.js';
import { showsSignature } from '../challenges.js';
import type { Nonces } from './nonces.js';
import { type SignatureFault, signaturePolicy } from './policy.js';
import { type DescribedSignature, signatureOf } from './signature-input.js';

/** Who signed a request. */
export interface Wallet {
  /** The address of the wallet, in lower case. */
  address: `0x${string}`;
  keyid: string;
}

/** What signatures are checked with. */
export interface WalletsOptions {
  /** The address under which others reach the API: they sign its host, whatever `Host` says. */
  publicUrl: string;
  nonces: Pick<Nonces, 'use'>;
  /** Now, in seconds since 1970. */
  now?: () => number;
}

/** A request as it was signed. */
export type SignedRequest = Pick<FastifyRequest, 'method' | 'url' | 'headers'>;

/** The code for callers of every reason of the verifier. The store tells those of nonces apart. */
const faultOf: Record<VerifyFailReason, SignatureFault> = {
  missing_headers: 'signature_input_invalid',
  label_not_found: 'signature_input_invalid',
  bad_signature_input: 'signature_input_invalid',
  bad_signature: 'wallet_mismatch',
  bad_keyid: 'wallet_invalid',
  bad_time: 'signature_stale',
  not_yet_valid: 'signature_stale',
  expired: 'signature_stale',
  validity_too_long: 'signature_stale',
  nonce_required: 'nonce_required',
  replayable_not_allowed: 'nonce_required',
  replayable_invalidation_required: 'nonce_required',
  replayable_not_before: 'nonce_required',
  replayable_invalidated: 'nonce_required',
  class_bound_not_allowed: 'class_bound_rejected',
  not_request_bound: 'components_invalid',
  nonce_window_too_long: 'signature_stale',
  replay: 'nonce_replayed',
  digest_mismatch: 'content_digest_mismatch',
  digest_required: 'content_digest_required',
  alg_not_allowed: 'alg_unsupported',
  bad_signature_bytes: 'signature_invalid',
  bad_signature_check: 'signature_invalid',
};

/** Tells whose wallet signed a request. A signature proves a wallet, and opens nothing by itself. */
export class Wallets {
  /** The host that signatures must be for. */
  readonly authority: string;
  readonly #base: string;
  readonly #nonces: Pick<Nonces, 'use'>;
  readonly #now: () => number;

  constructor({ publicUrl, nonces, now }: WalletsOptions) {
    const { origin, pathname, host } = new URL(publicUrl);
    this.authority = host;
    // the path before our own paths is part of what they sign
    this.#base = origin + pathname.replace(/\/+$/, '');
    this.#nonces = nonces;
    this.#now = now ?? (() => Math.floor(Date.now() / 1_000));
  }

  /** Whether a request has a signature: then only that decides, whatever else it carries. */
  presented(request: Pick<FastifyRequest, 'headers'>): boolean {
    return showsSignature(request);
  }

  /**
   * The wallet that signed a request with this body. Uses up its nonce. Throws a 401 whose code is the reason
   * (`SignatureFault`), and 503 `nonce_store_unavailable`. A refused signature does not use up the nonce.
   */
  async verify(request: SignedRequest, rawBody: Buffer = Buffer.alloc(0)): Promise<Wallet> {
    const described = describedBy(request);
    if (!described) throw this.#refusal('signature_input_invalid');
    const early = faultOfParameters(described);
    if (early) throw this.#refusal(early);
    let nonceEnd: { fault: SignatureFault } | { error: unknown } | undefined;
    const verifier = this.#verifier(async (nonce, keyid) => {
      try {
        const fault = await this.#nonces.use(nonce, keyid);
        if (fault) nonceEnd = { fault };
        return fault === undefined;
      } catch (error) {
        nonceEnd = { error }; // the verifier would call it a bad signature
        return false;
      }
    });
    let result: VerifyResult;
    try {
      result = await verifier.verifyRequest({ request: this.#asSigned(request, rawBody) });
    } catch {
      // it covers a header that is missing, or an invalid name
      throw this.#refusal('components_invalid');
    }
    if (nonceEnd && 'error' in nonceEnd) throw nonceEnd.error;
    if (nonceEnd) throw this.#refusal(nonceEnd.fault);
    if (!result.ok) {
      const ofClass = result.reason === 'not_request_bound' && isForManyRequests(described);
      throw this.#refusal(ofClass ? 'class_bound_rejected' : faultOf[result.reason]);
    }
    if (result.chainId !== signaturePolicy.chainId) throw this.#refusal('chain_not_allowed');
    return { address: result.address, keyid: result.params.keyid };
  }

  #verifier(use: (nonce: string, keyid: string) => Promise<boolean>): VerifierClient {
    return createVerifierClient({
      verifyMessage: async (signed) => (await verifyMessage(signed)) || (await signedEmptyQuery(signed)),
      nonceStore: {
        consume: (key) => {
          const [nonce = '', keyid = ''] = key.split(' ');
          return use(nonce, keyid);
        },
      },
      defaults: {
        label: signaturePolicy.label,
        strictLabel: true,
        // one signature, one nonce: of several signatures the first decides
        maxSignatureVerifications: 1,
        maxValiditySec: signaturePolicy.maxValiditySec,
        clockSkewSec: signaturePolicy.clockSkewSec,
        replayable: false,
        nonceKey: (keyid, nonce) => `${nonce} ${keyid}`,
        now: this.#now,
      },
    });
  }

  /** The request under the address that callers know. */
  #asSigned({ method, url, headers }: SignedRequest, body: Buffer): Request {
    const given = new Headers();
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) given.set(name, Array.isArray(value) ? value.join(', ') : value);
    }
    const hasBody = body.length > 0 && method !== 'GET' && method !== 'HEAD';
    return new Request(this.#base + url, { method, headers: given, ...(hasBody ? { body } : {}) });
  }

  #refusal(fault: SignatureFault): Refusal {
    const hint = `The signed @authority must be ${this.authority}`;
    return new Refusal(fault, undefined, fault === 'wallet_mismatch' ? { hint } : {});
  }
}

/** The line of a signature base for a query that is not there: as the verifier writes it, and as RFC 9421 has it (2.2.7). */
const emptyQuery = { ours: '\n"@query": \n', ofRfc: '\n"@query": ?\n' };

/** Whether a wallet signed this base with `?` for the query that is not there. */
async function signedEmptyQuery({ message, ...signed }: VerifyMessageArgs): Promise<boolean> {
  const base = `\n${Buffer.from(message.raw.slice(2), 'hex')}`;
  if (!base.includes(emptyQuery.ours)) return false;
  const raw = Buffer.from(base.replace(emptyQuery.ours, emptyQuery.ofRfc).slice(1));
  return await verifyMessage({ ...signed, message: { raw } });
}

/** What a request says about its signature. Headers that are too long are not read: anybody may send them. */
function describedBy({ headers }: SignedRequest): DescribedSignature | undefined {
  const [input, signature] = [headers['signature-input'], headers.signature].map((one) => String(one ?? ''));
  const isTooLong = Math.max(input!.length, signature!.length) > signaturePolicy.maxHeaderLength;
  return isTooLong ? undefined : signatureOf(input!);
}

/**
 * Faults that show before anything is computed. Other chains and ways to sign would look like wrong
 * signatures.
 */
function faultOfParameters({ label, parameters }: DescribedSignature): SignatureFault | undefined {
  if (label !== signaturePolicy.label) return 'signature_input_invalid';
  const alg = parameters.get('alg');
  if (alg !== undefined && alg !== signaturePolicy.algorithm) return 'alg_unsupported';
  const key = parseKeyId(parameters.get('keyid') ?? '');
  return key && key.chainId !== signaturePolicy.chainId ? 'chain_not_allowed' : undefined;
}

function isForManyRequests({ components }: DescribedSignature): boolean {
  return !components.includes('@method') || !components.includes('@path');
}
