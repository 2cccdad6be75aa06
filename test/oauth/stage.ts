import { createHash, randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import type { PrivateKeyAccount } from 'viem/accounts';
import { keysStage } from '../keys/stage.js';
import type { TestNats } from '../support/nats.js';
import { freePort } from '../support/ports.js';

/** What the page shows, as its script gets it. */
export interface Shown {
  error?: string;
  client?: string;
  destination?: string;
  back?: string;
  request: Record<string, string>;
  scopes: string[];
  resource: string;
}
/** An address of a program on this machine, which nothing listens on. */
export const callback = 'http://127.0.0.1:4321/callback';

/** The service under its own address, wallets with nicks, a program, and a person who lets it in as the page does. */
export async function oauthStage(t: Test, environment: Record<string, string> = {}, server?: TestNats) {
  const port = String(await freePort());
  const url = environment.PUBLIC_URL ?? `http://127.0.0.1:${port}`;
  const stage = await keysStage(t, { PORT: port, PUBLIC_URL: url, ...environment }, server);
  const { ask, app } = stage;

  const register = async (more: object = {}) =>
    await ask('POST', '/oauth/register', { client_name: 'Desktop', redirect_uris: [callback], ...more });
  /** A request of a program that has registered, and its secret. */
  const asked = async (more: Record<string, string | undefined> = {}, client: object = {}) => {
    const verifier = randomBytes(32).toString('base64url');
    const given: Record<string, string | undefined> = {
      response_type: 'code',
      client_id: (await register(client)).body.client_id,
      redirect_uri: callback,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state: 'x 1&y',
      ...more,
    };
    const left = Object.entries(given).filter((one): one is [string, string] => one[1] !== undefined);
    return { request: Object.fromEntries(left), verifier };
  };
  /** The page for a request, and what it shows. */
  const page = async (request: Record<string, string> | string) => {
    const path = typeof request === 'string' ? request : `/oauth/authorize?${new URLSearchParams(request)}`;
    const answer = await fetch(new URL(path, app.url), { headers: { accept: 'text/html,*/*;q=0.8' } });
    const html = await answer.text();
    const data = /data-page="([^"]*)"/.exec(html)?.[1] ?? '';
    const shown = JSON.parse(data.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))) as Shown;
    return { status: answer.status, headers: answer.headers, html, shown };
  };
  /** What a wallet is asked to sign for a request, and its signature. */
  const signedText = async (account: PrivateKeyAccount, request: object, scopes: string[]) => {
    const { nonce } = (await ask('GET', '/auth/erc8128/nonce')).body;
    const wanted = { request, scopes, address: account.address, chain_id: 1, nonce };
    const { message } = (await ask('POST', '/oauth/message', wanted)).body;
    return { message, signature: await account.signMessage({ message }) };
  };
  /** A person says yes with a wallet, or with a key; resolves with the answer. */
  const yes = async (request: object, by: PrivateKeyAccount | { key: string }, scopes = ['read']) =>
    'key' in by
      ? await ask('POST', '/oauth/authorize', { request, scopes }, { 'x-api-key': by.key })
      : await ask('POST', '/oauth/authorize', {
          request,
          scopes,
          ...(await signedText(by, request, scopes)),
        });
  const parametersOf = (redirect: string) => Object.fromEntries(new URL(redirect).searchParams);
  const token = async (fields: Record<string, string | undefined> | string) => {
    const given = typeof fields === 'string' ? fields : JSON.parse(JSON.stringify(fields));
    const answer = await fetch(`${app.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(given),
    });
    const body = (await answer.json()) as Record<string, unknown>;
    return { status: answer.status, headers: answer.headers, body };
  };
  /** What a program sends for the code of an answer to its request. */
  const exchangeOf = (
    { request, verifier }: Awaited<ReturnType<typeof asked>>,
    answer: { body: { redirect_to: string } },
  ) => ({
    grant_type: 'authorization_code',
    code: parametersOf(answer.body.redirect_to).code,
    client_id: request.client_id,
    redirect_uri: request.redirect_uri,
    code_verifier: verifier,
  });
  /** A key as a program gets it. */
  const keyOf = async (by: PrivateKeyAccount | { key: string }, client: object = {}, scopes = ['read']) => {
    const one = await asked({}, client);
    const answer = await yes(one.request, by, scopes);
    if (answer.status !== 200) throw new Error(`nobody was let in: ${JSON.stringify(answer.body)}`);
    return (await token(exchangeOf(one, answer))).body.access_token as string;
  };
  return {
    ...stage,
    url,
    register,
    asked,
    page,
    signedText,
    yes,
    parametersOf,
    token,
    exchangeOf,
    keyOf,
  };
}
