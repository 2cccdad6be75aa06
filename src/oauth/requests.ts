import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '../../streams/core/index.js';
import { ownScopes, type Scope } from '../operations/core/caller.js';
import { type Client, clientOf, mayReturnTo } from './clients.js';

/** What a program asks for when it sends a person here. */
export interface AuthorizationRequest {
  client: Client;
  redirectUri: string;
  /** SHA-256 of the secret that the program shows when it takes its code to the token endpoint, in base64url. */
  challenge: string;
  scopes: Scope[];
  state: string | undefined;
  resource: string;
  /** Tells this request from every other one. */
  hash: string;
}

const parameter = (says: string, example: string) => z.string().optional().describe(says).meta({ example });
const challengeExample = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** The parameters of a request, as they are sent; what is wrong with them is told on the page. */
export const RequestParameters = z.object({
  response_type: parameter('`code`', 'code'),
  client_id: parameter(
    'As `POST /oauth/register` answered it',
    'WyJEZXNrdG9wIiwiaHR0cDovLzEyNy4wLjAuMS9jIl0',
  ),
  redirect_uri: parameter('One of the program’s own; any port on its own machine', 'http://127.0.0.1:4321/c'),
  code_challenge: parameter('PKCE (RFC 7636)', challengeExample),
  code_challenge_method: parameter('`S256`', 'S256'),
  scope: parameter('With spaces between them; what is not known is passed over', 'read speak'),
  state: parameter('Comes back as it is', 'x1'),
  resource: parameter('RFC 8707: the tools, or the API', 'https://relay.example/mcp'),
});
export type RequestParameters = z.output<typeof RequestParameters>;

const longestState = 1_024;

/** Where the answer to a request goes, which is known before the rest of it is right. Throws 400. */
export function returnOf({ client_id: id, redirect_uri: redirectUri }: RequestParameters): {
  client: Client;
  redirectUri: string;
} {
  if (id === undefined) throw new Refusal('oauth_request_invalid', 'client_id is missing');
  const client = clientOf(id);
  if (redirectUri === undefined) throw new Refusal('oauth_request_invalid', 'redirect_uri is missing');
  if (!mayReturnTo(client, redirectUri))
    throw new Refusal('invalid_redirect_uri', 'The program did not register this redirect_uri');
  return { client, redirectUri };
}

/** A request whose every part is right. `resources` has those that there are, the usual one first. Throws 400. */
export function requestOf(given: RequestParameters, resources: readonly string[]): AuthorizationRequest {
  const { client, redirectUri } = returnOf(given);
  const wrong = (text: string) => new Refusal('oauth_request_invalid', text);
  const { response_type, code_challenge: challenge = '', code_challenge_method: method, state } = given;
  if (response_type !== 'code') throw wrong('response_type must be code');
  if (!/^[\w-]{43}$/.test(challenge)) throw wrong('code_challenge must be there: PKCE is needed');
  if (method !== 'S256') throw wrong('code_challenge_method must be S256');
  if ((state?.length ?? 0) > longestState) throw wrong(`state may have ${longestState} characters`);
  const resource = resourceOf(given.resource, resources);
  const scopes = scopesOf(given.scope);
  const said = JSON.stringify([client.id, redirectUri, challenge, state ?? null, resource]);
  const hash = createHash('sha256').update(said).digest('base64url');
  return { client, redirectUri, challenge, scopes, state, resource, hash };
}

/** A resource of this service; the usual one where none is named. Throws 400 `invalid_target`. */
export function resourceOf(given: string | undefined, resources: readonly string[]): string {
  if (given === undefined) return resources[0]!;
  const found = resources.find((one) => one === given || `${one}/` === given);
  if (found === undefined) throw new Refusal('invalid_target');
  return found;
}

/** Clients ask for scopes of others too, such as `openid`: what is not known is passed over. */
function scopesOf(text = ''): Scope[] {
  const wanted = text.split(' ');
  const known = ownScopes.filter((scope) => wanted.includes(scope));
  return known.length > 0 ? known : [...ownScopes];
}
