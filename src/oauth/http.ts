import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Refusal } from '../../streams/core/index.js';
import { isWalletAddress } from '../../streams/identity/index.js';
import type { ApiKeys } from '../auth/api-keys.js';
import { parseInput } from '../operations/core/call.js';
import { ownScopes } from '../operations/core/caller.js';
import { addressForm, walletAddress } from '../operations/core/fields.js';
import { places } from '../pages/discovery/doors.js';
import { wantsHtml } from '../pages/front-routes.js';
import { type Authorization, programKeyDays, TokenParameters } from './authorization.js';
import { destinationOf, registered, withParameters } from './clients.js';
import { type AuthorizePage, authorizePages } from './page.js';
import { RequestParameters, returnOf } from './requests.js';

/** What the routes of OAuth work with. */
export interface OAuthOptions {
  authorization: Authorization;
  keys: ApiKeys;
  /** The address of the service, without a slash at its end. */
  publicUrl: string;
}

const Scopes = z
  .array(z.enum(ownScopes))
  .min(1)
  .describe('What the person says yes to')
  .meta({ example: ['read', 'speak'] });
const address = walletAddress
  .refine(isWalletAddress, 'must be 0x and 40 hexadecimal digits')
  .meta({ form: addressForm });

/** What the page asks a text to sign for. */
export const TextWanted = z.object({
  request: RequestParameters,
  scopes: Scopes,
  address,
  chain_id: z.int().min(1).meta({ example: 8453 }),
  nonce: z
    .string()
    .regex(/^[\w-]{32}$/)
    .describe('From `GET /auth/erc8128/nonce`')
    .meta({ example: 'mZ3kQ0b9s8V1xYfJ2cTnRw4eUaLd7hGi' }),
});

/** What the page sends when a person says yes. */
export const Yes = z.object({
  request: RequestParameters,
  scopes: Scopes,
  message: z
    .string()
    .max(8_192)
    .optional()
    .describe('The text that the wallet signed; none with an agent key'),
  signature: z
    .string()
    .max(1_024)
    .optional()
    .meta({ example: `0x${'ab'.repeat(65)}` }),
});

/** Lets programs in: registration, the page on which people say yes, and the key that comes of it. */
export async function oauthRoutes(app: FastifyInstance, options: OAuthOptions): Promise<void> {
  const { authorization, keys, publicUrl } = options;
  const { origin } = new URL(publicUrl);
  const rendered = authorizePages();

  app.get(places.authorize, { exposeHeadRoute: false }, async (request, reply) => {
    reply.header('vary', 'accept');
    const { refusal, ...page } = pageOf(request.query, options);
    // who is no browser is told in the form that all errors have
    if (refusal && !wantsHtml(request.headers.accept)) throw refusal;
    const { html, headers } = rendered(page);
    return await reply
      .code(refusal?.status ?? 200)
      .headers(headers)
      .send(html);
  });

  // a page of somebody else has no business here, though nothing that a browser sends by itself would help it
  const onRequest = async ({ headers }: FastifyRequest) => {
    if (headers.origin !== undefined && headers.origin !== origin) throw new Refusal('other_origin');
  };
  app.post(places.signInText, { onRequest }, async (request, reply) => {
    const { request: given, chain_id: chainId, ...asked } = parseInput(TextWanted, request.body);
    reply.header('cache-control', 'no-store');
    return { message: authorization.textFor(given, { ...asked, chainId }) };
  });
  app.post(places.authorize, { onRequest }, async (request, reply) => {
    const caller = await keys.callerOf(request, reply);
    const { request: given, scopes, message, signature } = parseInput(Yes, request.body);
    const signed = message === undefined || signature === undefined ? undefined : { message, signature };
    reply.header('cache-control', 'no-store');
    return { redirect_to: await authorization.approve(given, { scopes, signed, caller }) };
  });

  await app.register(async (scope) => {
    sayAsOAuth(scope);
    scope.post(places.register, async (request, reply) => {
      const { id, redirectUris } = registered(request.body);
      const { client_name } = request.body as { client_name?: string };
      return await reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({
          client_id: id,
          client_id_issued_at: Math.floor(Date.now() / 1_000),
          redirect_uris: redirectUris,
          ...(client_name === undefined ? {} : { client_name }),
          grant_types: ['authorization_code'],
          response_types: ['code'],
          token_endpoint_auth_method: 'none',
          scope: ownScopes.join(' '),
        });
    });
  });
  await app.register(async (scope) => {
    sayAsOAuth(scope);
    takeForms(scope);
    scope.post(places.token, async (request, reply) => {
      const given = TokenParameters.parse(request.body ?? {});
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
      return await authorization.token(given, request.id);
    });
  });
}

/** The page for a request: one to say yes on, or one that says what is wrong with it. */
function pageOf(
  query: unknown,
  { authorization, publicUrl }: OAuthOptions,
): AuthorizePage & { refusal?: Refusal } {
  try {
    // what is there twice is a list
    const parsed = RequestParameters.safeParse(query);
    if (!parsed.success) throw new Refusal('oauth_request_invalid', 'A parameter is there more than once');
    const given = parsed.data;
    const { client, redirectUri } = returnOf(given);
    const back = (error: string) =>
      withParameters(redirectUri, { error, state: given.state, iss: publicUrl });
    const known = {
      client: client.name,
      destination: destinationOf(redirectUri),
      back: back('access_denied'),
    };
    try {
      const { scopes, resource } = authorization.request(given);
      const asked = { ...known, request: given, resource, days: programKeyDays, redirect: redirectUri };
      return { ...asked, scopes };
    } catch (error) {
      // nobody is sent anywhere unasked: anybody may register any address
      if (!(error instanceof Refusal)) throw error;
      return { ...known, ...faultOf(error), back: back(error.code) };
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return faultOf(error);
  }
}

const faultOf = (refusal: Refusal) => ({ refusal, error: refusal.message });

/** Has errors said as OAuth does (RFC 6749, section 5.2), with what all errors of the service have. */
function sayAsOAuth(scope: FastifyInstance): void {
  scope.addHook('preSerialization', async (_request: FastifyRequest, reply: FastifyReply, body: unknown) => {
    if (reply.statusCode < 400) return body;
    const { error, code } = body as { error: string; code: string };
    return { ...(body as object), error: code, error_description: error };
  });
}

/** Has bodies be forms, each field once. */
function takeForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => {
      const fields = [...new URLSearchParams(body as string)];
      const isOnce = new Set(fields.map(([name]) => name)).size === fields.length;
      if (isOnce) return done(null, Object.fromEntries(fields));
      done(new Refusal('oauth_request_invalid', 'A parameter is there more than once'), undefined);
    },
  );
  scope.addContentTypeParser('*', (_request, _payload, done) =>
    done(new Refusal('unsupported_media_type', 'Send the body as application/x-www-form-urlencoded')),
  );
}
