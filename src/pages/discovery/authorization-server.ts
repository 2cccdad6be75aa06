import { ownScopes } from '../../operations/core/caller.js';
import type { Doors } from './doors.js';

/** Metadata of the authorization server (RFC 8414), which gives programs agent keys of people who say yes. */
export function authorizationServer({ at, publicUrl }: Doors) {
  return {
    issuer: publicUrl,
    authorization_endpoint: at.authorize,
    token_endpoint: at.token,
    registration_endpoint: at.register,
    scopes_supported: ownScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: at.authGuide,
  };
}
