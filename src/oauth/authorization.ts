import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { agentKeysInUse, keysOfClient } from '../../projections/keys.js';
import { Refusal } from '../../streams/core/index.js';
import { keyDays, keysDecider, maxKeys, keys as stream } from '../../streams/keys/index.js';
import type { NickLink } from '../auth/agent-keys.js';
import type { Nonces } from '../auth/erc8128/nonces.js';
import { provenLevel, unproven } from '../auth/nick-wallets.js';
import { type Caller, ownScopes, type Scope } from '../operations/core/caller.js';
import { earlier, makeKey, tieTo } from '../operations/keys/make.js';
import type { KeysParts } from '../operations/keys/parts.js';
import { clientOf, withParameters } from './clients.js';
import type { Codes, Given, Grant } from './codes.js';
import { type AuthorizationRequest, type RequestParameters, requestOf, resourceOf } from './requests.js';
import { type SignInPlace, signerOf, signInText } from './sign-in.js';

/** What programs are let in with. */
export interface AuthorizationOptions {
  /** The address of the service, without a slash at its end; it is the issuer. */
  publicUrl: string;
  /** The page on which people say yes. */
  page: string;
  /** What keys are for, the usual one first. */
  resources: readonly string[];
  codes: Codes;
  nonces: Pick<Nonces, 'use'>;
  /** The nick of a wallet, and how far both are proven; throws 404 without any. */
  linkOfWallet(address: string): Promise<NickLink & { nick: string }>;
  parts: KeysParts;
}

/** What a person shows, and says yes to. */
export interface Consent {
  scopes: Scope[];
  /** The text that the wallet signed, and its signature; left out by who shows a key. */
  signed: { message: string; signature: string } | undefined;
  /** Who the key that was shown belongs to. */
  caller: Caller;
}

/** What a program sends for its key (RFC 6749, section 4.1.3, with PKCE). */
export const TokenParameters = z.object({
  grant_type: z.string().optional().meta({ example: 'authorization_code' }),
  code: z.string().optional().meta({ example: 'Qk1v0c8yTq2nXb7sWf4mLr9aZe6hUd3jGp5iKo1xNt8' }),
  client_id: z.string().optional().meta({ example: 'WyJEZXNrdG9wIiwiaHR0cDovLzEyNy4wLjAuMS9jIl0' }),
  redirect_uri: z.string().optional().meta({ example: 'http://127.0.0.1:4321/callback' }),
  code_verifier: z.string().optional().meta({ example: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' }),
  resource: z.string().optional().meta({ example: 'https://relay.example/mcp' }),
});
export type TokenParameters = z.output<typeof TokenParameters>;

/** How long a key that a program gets is good for. */
export const programKeyDays = keyDays.usual;
const dayMs = 24 * 3_600_000;

/** Who said yes, and what their key may be at most. */
interface Owner extends Pick<Grant, 'nick' | 'wallet' | 'by' | 'parent'> {
  scopes: readonly Scope[];
  /** When the key has to end, where it ends with another. */
  ends?: Date;
}

/**
 * Lets people give a program a key of their own (OAuth 2.1). Between the steps nothing is kept but a hash of the code, and
 * for a minute what was said yes to.
 */
export class Authorization {
  readonly #options: AuthorizationOptions;
  readonly #place: SignInPlace;

  constructor(options: AuthorizationOptions) {
    this.#options = options;
    const { publicUrl, page } = options;
    this.#place = { authority: new URL(publicUrl).host, page, days: programKeyDays };
  }

  /** What a program asks for. Throws 400. */
  request(given: RequestParameters): AuthorizationRequest {
    return requestOf(given, this.#options.resources);
  }

  /** The text that a wallet is to sign. */
  textFor(
    given: RequestParameters,
    { address, chainId, nonce, scopes }: { address: string; chainId: number; nonce: string; scopes: Scope[] },
  ): string {
    const issuedAt = this.#options.parts.log.now();
    return signInText(this.request(given), { address, chainId, nonce, issuedAt, scopes }, this.#place);
  }

  /** Takes a yes: the address to which the person is sent back, with a code. Throws when no key can be given. */
  async approve(given: RequestParameters, consent: Consent): Promise<string> {
    const { codes, publicUrl, parts } = this.#options;
    const request = this.request(given);
    const owner = await this.#ownerOf(request, consent);
    const scopes = owner.scopes.filter((scope) => consent.scopes.includes(scope));
    if (scopes.length === 0)
      throw new Refusal('scope_missing', 'The key that was shown has none of the scopes that are asked for');
    if (parts.keys.isKept(owner.nick)) throw new Refusal('nickname_reserved');
    await this.#requireRoom(owner, request.client.hash);
    const usual = new Date(parts.log.now().getTime() + programKeyDays * dayMs);
    const { nick, wallet, by, parent, ends = usual } = owner;
    const keyEnds = earlier(ends, usual).toISOString();
    const { redirectUri, challenge, resource, state, client } = request;
    const asked = { clientId: client.id, redirectUri, challenge, resource };
    const code = await codes.make({ ...asked, nick, wallet, scopes, keyEnds, by, parent });
    return withParameters(redirectUri, { code, state, iss: publicUrl });
  }

  /** Turns a code into a key. Throws 400, with a code of OAuth. */
  async token(given: TokenParameters, cause: string) {
    const { codes, parts } = this.#options;
    const { code, client_id: clientId, grant_type: kind, code_verifier: verifier } = given;
    if (kind === undefined) throw new Refusal('oauth_request_invalid', 'grant_type is missing');
    if (kind !== 'authorization_code') throw new Refusal('unsupported_grant_type');
    for (const [name, value] of Object.entries({ code, client_id: clientId, code_verifier: verifier }))
      if (value === undefined) throw new Refusal('oauth_request_invalid', `${name} is missing`);
    const client = clientOf(clientId!);
    const found = await codes.find(code!);
    if (found.is === 'used') return await this.#replayed(code!, cause);
    if (found.is === 'unknown' || !isFor(found.grant, given)) throw new Refusal('invalid_grant');
    const { grant } = found;
    const resource = resourceOf(given.resource, this.#options.resources);
    if (given.resource !== undefined && resource !== grant.resource)
      throw new Refusal('invalid_target', 'The code is for another resource');
    if (!(await found.use())) return await this.#replayed(code!, cause);
    const { nick, wallet, scopes, keyEnds, by: actor, parent } = grant;
    const wanted = { nick, wallet, scopes, expiresAt: new Date(keyEnds), name: `OAuth: ${client.name}` };
    const made = await makeKey(
      parts,
      { ...wanted, client: client.hash, ...(parent === undefined ? {} : { parent }) },
      { actor, cause },
    ).catch((error: unknown) => {
      // all keys in use, or the one that it comes from ended: the person has to see to it
      if (!(error instanceof Refusal)) throw error;
      throw new Refusal('invalid_grant', error.message);
    });
    const gave = { nick, id: made.id };
    if (!(await codes.note(code!, gave))) return await this.#ended(gave, cause);
    const left = Math.floor((Date.parse(made.expires_at) - parts.log.now().getTime()) / 1_000);
    return { access_token: made.key, token_type: 'Bearer', expires_in: left, scope: scopes.join(' ') };
  }

  /** Somebody brings a code a second time: one of the two has stolen it, so the key of it ends, also while it is being made. */
  async #replayed(code: string, cause: string): Promise<never> {
    return await this.#ended(await this.#options.codes.again(code), cause);
  }

  async #ended(gave: Given | undefined, cause: string): Promise<never> {
    const { log, keys } = this.#options.parts;
    if (gave) {
      const command = { is: 'revoke' as const, ...gave };
      const revoke = () => log.handle(stream, keysDecider, command, { by: 'oauth', cause });
      const done = await keys.lock.run(gave.nick, revoke).catch((error: { code?: unknown }) => {
        if (error.code !== 'not_found') throw error;
      });
      if (done) keys.rows.wrote(done.position);
    }
    throw new Refusal('invalid_grant', 'The code was used before');
  }

  async #ownerOf(request: AuthorizationRequest, { caller, signed, scopes }: Consent): Promise<Owner> {
    const { linkOfWallet, nonces, parts } = this.#options;
    if (signed) {
      const now = parts.log.now();
      const wallet = await signerOf(request, { ...signed, scopes }, this.#place, { nonces, now });
      const { nick, level } = await linkOfWallet(wallet);
      if (level < provenLevel) throw unproven(nick, level);
      return { nick, wallet, by: wallet, parent: undefined, scopes: ownScopes };
    }
    if (caller.is === 'key') throw new Refusal('operators_key_not_taken');
    if (caller.is !== 'agent') throw new Refusal('sign_in_missing');
    const { nick, wallet, actor: by } = caller;
    const own = ownScopes.filter((scope) => caller.scopes.includes(scope));
    return { nick, wallet, by, scopes: own, ...(await tieTo(caller, parts)) };
  }

  /** Throws 409 `too_many_keys` where a key would be one too many, and takes the place of none. */
  async #requireRoom({ nick, wallet }: Owner, client: string): Promise<void> {
    const { log, keys } = this.#options.parts;
    const now = log.now();
    const inUse = (await keys.rows.read(agentKeysInUse, { now, nick })).filter(
      (key) => key.wallet === wallet,
    );
    if (inUse.length < maxKeys) return;
    if ((await keys.rows.read(keysOfClient, { now, nick, wallet, client })).length > 0) return;
    const names = inUse.map(({ id, name }) => (name === '' ? id : `${id} (${name})`));
    throw new Refusal('too_many_keys', `${nick} has ${inUse.length} keys in use: ${names.join(', ')}`);
  }
}

/** Whether who brings a code is the program that it was made for, and shows the secret of the request. */
function isFor(
  grant: Grant,
  { client_id: id, redirect_uri: address, code_verifier: verifier = '' }: TokenParameters,
) {
  if (id !== grant.clientId || (address !== undefined && address !== grant.redirectUri)) return false;
  if (!/^[\w.~-]{43,128}$/.test(verifier)) return false;
  const shown = createHash('sha256').update(verifier).digest('base64url');
  return (
    shown.length === grant.challenge.length &&
    timingSafeEqual(Buffer.from(shown), Buffer.from(grant.challenge))
  );
}
