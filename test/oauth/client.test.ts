import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  type OAuthClientInformationMixed,
  OAuthMetadataSchema,
  type OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import t, { type Test } from 'tap';
import { operator } from '../keys/stage.js';
import { openPage, withoutBrowser } from '../support/browser.js';
import { oauthStage } from './stage.js';

/** What a desktop client keeps while it signs a person in. */
class Desktop implements OAuthClientProvider {
  sentTo: URL | undefined;
  kept: OAuthTokens | undefined;
  #information: OAuthClientInformationMixed | undefined;
  #verifier = '';
  constructor(readonly redirectUrl: string) {}
  get clientMetadata() {
    return { client_name: 'Desktop <b>', redirect_uris: [this.redirectUrl] };
  }
  state = () => 'kept as it is';
  clientInformation = () => this.#information;
  saveClientInformation = (information: OAuthClientInformationMixed) => {
    this.#information = information;
  };
  tokens = () => this.kept;
  saveTokens = (tokens: OAuthTokens) => {
    this.kept = tokens;
  };
  redirectToAuthorization = (url: URL) => {
    this.sentTo = url;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
}

/** Connects without anything, which sends the person to the page. */
async function refused(t: Test, url: string, provider: Desktop): Promise<StreamableHTTPClientTransport> {
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: provider });
  await t.rejects(new Client({ name: 'desktop', version: '1' }).connect(transport), {
    message: 'Unauthorized',
  });
  t.ok(provider.sentTo, 'the person is sent to the page');
  return transport;
}

/** Calls a tool with what the client has got. */
async function callsTool(url: string, provider: Desktop) {
  const client = new Client({ name: 'desktop', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: provider }));
  const { tools } = await client.listTools();
  const result = await client.callTool({ name: 'svc_get_stats', arguments: {} });
  await client.close();
  return { tools: tools.map(({ name }) => name), result };
}

t.test('OAUTH-01 the client of the MCP SDK comes in from nothing', async (t) => {
  const stage = await oauthStage(t);
  const { url, ask, proven, page, yes, parametersOf } = stage;
  const { account } = await proven('alice');
  const provider = new Desktop('http://localhost:9999/callback');
  const transport = await refused(t, url, provider);
  t.equal(provider.sentTo!.searchParams.get('resource'), `${url}/mcp`);
  const metadata = (await ask('GET', '/.well-known/oauth-authorization-server')).body;
  t.equal(OAuthMetadataSchema.parse(metadata).issuer, url);

  const { status, shown } = await page(provider.sentTo!.href);
  t.match([status, shown], [200, { client: 'Desktop <b>', destination: 'http://localhost:9999' }]);
  t.same(shown.scopes, ['read', 'speak', 'rate', 'report', 'vote']);
  const answer = await yes(shown.request, account, ['read', 'rate']);
  t.equal(answer.status, 200, JSON.stringify(answer.body));
  const { code, state, iss } = parametersOf(answer.body.redirect_to);
  t.same([state, iss], ['kept as it is', url]);
  await transport.finishAuth(code!);
  t.match(provider.kept, { token_type: 'Bearer', scope: 'read rate', access_token: /^rak_/ });
  const days = provider.kept!.expires_in! / 86_400;
  t.ok(days > 89.9 && days <= 90, `${days} days`);

  const { tools, result } = await callsTool(url, provider);
  t.ok(
    tools.includes('svc_give_feedback') && !tools.includes('svc_say'),
    'the tools of what was said yes to',
  );
  t.notOk(result.isError);
  const { keys } = (await ask('GET', '/auth/keys', undefined, operator)).body;
  t.match(keys, [{ nick: 'alice', name: 'OAuth: Desktop <b>', scopes: ['read', 'rate'], wallet: /^0x/ }]);
  await ask('DELETE', `/auth/keys/${keys[0].id}`, undefined, operator);
  await t.rejects(
    callsTool(url, provider),
    { message: 'Unauthorized' },
    'a key that was revoked signs in anew',
  );
});

t.test(
  'OAUTH-01 a person lets a client in with a wallet in a browser',
  { skip: withoutBrowser },
  async (t) => {
    const { url, proven } = await oauthStage(t);
    const { account } = await proven('bob');
    const came: URL[] = [];
    const listening = createServer((request, response) => {
      came.push(new URL(request.url ?? '', 'http://localhost'));
      response.end('come in');
    });
    await new Promise<void>((done) => listening.listen(0, '127.0.0.1', done));
    t.teardown(() => listening.close());
    const provider = new Desktop(`http://127.0.0.1:${(listening.address() as AddressInfo).port}/callback`);
    const transport = await refused(t, url, provider);

    const { page, problems } = await openPage(t);
    await page.exposeFunction('walletAnswers', async (method: string, params: [`0x${string}`]) => {
      if (method === 'eth_requestAccounts') return [account.address];
      if (method === 'eth_chainId') return '0x2105';
      return await account.signMessage({ message: { raw: params[0] } });
    });
    await page.addInitScript(() => {
      // biome-ignore lint/suspicious/noExplicitAny: what wallets put into pages
      const world = globalThis as any;
      world.ethereum = {
        request: ({ method, params }: { method: string; params: unknown[] }) =>
          world.walletAnswers(method, params),
      };
    });
    await page.goto(provider.sentTo!.href);
    t.equal(await page.locator('h1').textContent(), 'Let “Desktop <b>” in?', 'as text');
    t.equal(await page.locator('main b b').count(), 0);
    await page.locator('input[value=vote]').uncheck();
    await page.locator('#wallet').click();
    await page.waitForURL('**/callback?**');
    t.equal(await page.locator('body').textContent(), 'come in');
    await transport.finishAuth(came[0]!.searchParams.get('code')!);
    t.equal(provider.kept?.scope, 'read speak rate report');
    t.notOk((await callsTool(url, provider)).result.isError);
    t.same(problems, []);

    await page.goto(provider.sentTo!.href);
    await page.locator('#cancel').click();
    await page.waitForURL('**/callback?error=access_denied**');
  },
);
