import { z } from 'zod';
import { ownScopes } from '../operations/core/caller.js';
import { type Description, ErrorBody } from '../operations/core/description.js';
import { places } from '../pages/discovery/doors.js';
import { programKeyDays, TokenParameters } from './authorization.js';
import { Registration } from './clients.js';
import { TextWanted, Yes } from './http.js';
import { RequestParameters } from './requests.js';

const tag = 'Authentication';
const id = 'WyJEZXNrdG9wIiwiaHR0cDovLzEyNy4wLjAuMS9jIl0';
const page = {
  type: ['text/html'],
  body: { schema: z.string(), example: '<!doctype html>' },
};
const ofRequests = { oauth_request_invalid: true, invalid_client: true, invalid_redirect_uri: true } as const;

/** The routes of OAuth, where it is switched on. */
export const oauthDescriptions: Description[] = [
  {
    id: 'registerClient',
    method: 'post',
    path: places.register,
    tag,
    summary: 'Register a program that people let in (RFC 7591)',
    description: 'Nothing is stored: `client_id` is what the program says of itself.',
    body: { schema: Registration },
    answers: {
      201: {
        says: 'The program',
        body: {
          schema: z.looseObject({
            client_id: z.string(),
            client_id_issued_at: z.int(),
            redirect_uris: z.array(z.string()),
            client_name: z.string().optional(),
            grant_types: z.array(z.string()),
            response_types: z.array(z.string()),
            token_endpoint_auth_method: z.string(),
            scope: z.string(),
          }),
          example: {
            client_id: id,
            client_id_issued_at: 1_769_860_800,
            client_name: 'Desktop client',
            redirect_uris: ['http://127.0.0.1/callback'],
            grant_types: ['authorization_code'],
            response_types: ['code'],
            token_endpoint_auth_method: 'none',
            scope: ownScopes.join(' '),
          },
        },
      },
    },
    refusals: { invalid_client_metadata: true, invalid_redirect_uri: true },
  },
  {
    id: 'authorizeClient',
    method: 'get',
    path: places.authorize,
    tag,
    summary: 'The page on which a person lets a program in (OAuth 2.1, with PKCE)',
    description: 'Nobody is sent anywhere before a click, also where the request is wrong.',
    query: RequestParameters,
    answers: {
      200: { says: 'The page', ...page },
      400: {
        says: 'The same page, which says what is wrong with the request; programs that are not browsers get an error as usual',
        type: ['text/html', 'application/json'],
        body: { schema: z.union([z.string(), ErrorBody]), example: page.body.example },
      },
    },
  },
  {
    id: 'writeSignInText',
    method: 'post',
    path: places.signInText,
    tag,
    summary: 'The text that a wallet signs to let a program in (EIP-4361)',
    description:
      'For the page where a person signs in. The text names the program, its address and the scopes.',
    body: { schema: TextWanted },
    answers: {
      200: {
        says: 'Sign it with personal_sign',
        body: {
          schema: z.object({ message: z.string() }),
          example: { message: 'relay.example wants you to sign in with your Ethereum account:' },
        },
      },
    },
    refusals: { ...ofRequests, invalid_target: true, other_origin: true },
  },
  {
    id: 'approveClient',
    method: 'post',
    path: places.authorize,
    tag,
    summary: 'Let a program in',
    description: 'For the page. Signed by a verified wallet (level 2), or with an agent key as `X-Api-Key`.',
    body: { schema: Yes },
    answers: {
      200: {
        says: 'Where the person is sent back to, with a code',
        body: {
          schema: z.object({ redirect_to: z.string() }),
          example: {
            redirect_to: 'http://127.0.0.1:4321/callback?code=Qk1v0c8y&iss=https%3A%2F%2Frelay.example',
          },
        },
      },
    },
    refusals: {
      ...ofRequests,
      invalid_target: true,
      other_origin: true,
      sign_in_invalid: true,
      sign_in_missing: true,
      nonce_unknown: true,
      nonce_replayed: true,
      nonce_expired: true,
      nonce_store_unavailable: true,
      nick_not_linked: true,
      wallet_not_verified: true,
      nickname_reserved: true,
      too_many_keys: true,
      operators_key_not_taken: true,
      key_of_a_key: true,
      scope_missing: true,
      upstream_unreachable: true,
      api_key_invalid: true,
      api_key_expired: true,
      api_key_void: true,
    },
  },
  {
    id: 'issueToken',
    method: 'post',
    path: places.token,
    tag,
    summary: 'Turn a code into a key',
    description: `The token is an agent key, good for ${programKeyDays} days at most; there is no refresh token. A code is good for a minute, once.`,
    body: { schema: TokenParameters, type: 'application/x-www-form-urlencoded' },
    answers: {
      200: {
        says: 'The key, which is shown this once and stored nowhere',
        body: {
          schema: z.object({
            access_token: z.string(),
            token_type: z.literal('Bearer'),
            expires_in: z.int(),
            scope: z.string(),
          }),
          example: {
            access_token: 'rak_k3mf7q2xa4bc_4s2n0Zq7mXbT1kVw8yLdRf5uHcJ3eGaP6oNiS9tDzBQ',
            token_type: 'Bearer',
            expires_in: 7_776_000,
            scope: 'read speak',
          },
        },
      },
    },
    errors: { 415: 'The body is no form' },
    refusals: {
      oauth_request_invalid: true,
      invalid_client: true,
      invalid_grant: true,
      unsupported_grant_type: true,
      invalid_target: true,
    },
  },
];
