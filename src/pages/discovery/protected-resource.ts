import { ownScopes } from '../../operations/core/caller.js';
import { type Doors, keyHeaders, paymentHeaders, places } from './doors.js';

/**
 * Protected resource metadata (RFC 9728) of the API, or of its tool server. Without OAuth there is no authorization
 * server and so no member for one. The other credentials are those of the extension.
 */
export function protectedResource(resource: string, name: string, { at, publicUrl, oauth }: Doors) {
  return {
    resource,
    ...(oauth ? { authorization_servers: [publicUrl], scopes_supported: ownScopes } : {}),
    resource_name: name,
    bearer_methods_supported: ['header'],
    resource_documentation: at.authGuide,
    'x-authentication-schemes': [
      {
        type: 'erc8128-wallet-signature',
        tier: 'wallet-read',
        nonce_endpoint: publicUrl + places.nonce,
        policy_url: at.policy,
      },
      { type: 'api-key', tier: 'keyed', headers: keyHeaders, provisioning: 'out-of-band' },
      { type: 'x402', payment_headers: paymentHeaders },
    ],
  };
}
