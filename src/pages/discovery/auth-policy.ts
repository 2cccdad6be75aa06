import { componentsOf, nonceAliases, signatureFaults } from '../../auth/erc8128/policy.js';
import { type Doors, places } from './doors.js';

/** The policy of wallet signatures, as `GET /auth/erc8128/info` answers it. */
export function authPolicy({ authority, signatures, tiers, at }: Doors) {
  const { algorithm, label, chainId, maxValiditySec, clockSkewSec, nonceTtlSec } = signatures;
  return {
    supported: true,
    version: 'ERC-8128 (draft)',
    authority,
    supported_chains: [chainId],
    signing: {
      algorithm,
      signature_format: 'RFC 9421 signature base, signed with personal_sign (EIP-191); 65 bytes, base64',
      covered_components: componentsOf({ hasQuery: true, hasBody: true }),
      covered_when: { '@query': 'the URL has a query', 'content-digest': 'the request has a body' },
      content_digest: 'sha-256',
      label,
      keyid_format: `erc8128:${chainId}:<address>`,
    },
    policy: {
      max_validity_sec: maxValiditySec,
      clock_skew_sec: clockSkewSec,
      nonce_ttl_sec: nonceTtlSec,
      require_request_bound: true,
      require_nonce: true,
    },
    nonce_endpoint: places.nonce,
    nonce_endpoint_aliases: [...nonceAliases],
    tiers,
    errors: [...signatureFaults, 'nonce_store_unavailable'],
    documentation: at.authGuide,
  };
}
