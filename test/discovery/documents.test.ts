import { discoverOAuthProtectedResourceMetadata } from '@modelcontextprotocol/sdk/client/auth.js';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import pino from 'pino';
import t from 'tap';
import { readConfig } from '../../src/config/config.js';
import { createServer } from '../../src/http/server.js';
import { Skill } from '../../src/pages/discovery/skill.js';
import { skillTerms } from '../../src/pages/discovery/skill-terms.js';
import { discoveryRoutes } from '../../src/pages/documents-routes.js';
import { skillRoutes } from '../../src/pages/skill-routes.js';
import '../support/contract.js';
import { signatureFaults } from '../../src/auth/erc8128/policy.js';
import { ownScopes } from '../../src/operations/core/caller.js';
import { documentsOf } from '../../src/pages/discovery/documents.js';
import { freePort } from '../support/ports.js';
import { doorsAt, table } from './doors.js';

const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const documents = documentsOf(doorsAt(url));
const withoutOAuth = documentsOf(doorsAt(url, { oauth: false }));
const server = await createServer({ logger: pino({ level: 'silent' }), rateLimit: 600 });
await server.register(discoveryRoutes, { documents });
await server.register(skillRoutes, {
  skill: new Skill({ publicUrl: url, terms: skillTerms(readConfig({})) }),
});
await server.listen({ host: '127.0.0.1', port });
t.teardown(() => server.close());

const json = async (path: string) => {
  const answer = await fetch(url + path);
  t.equal(answer.status, 200, path);
  // biome-ignore lint/suspicious/noExplicitAny: documents of every shape, looked at by tests
  return (await answer.json()) as any;
};

t.test('DISC-01 every document is for everybody, holds for an hour, and is not sent twice', async (t) => {
  const paths = documents.flatMap((one) => one.paths);
  t.same(paths.sort(), [
    '/.well-known/agent-card.json',
    '/.well-known/agent.json',
    '/.well-known/ai-catalog.json',
    '/.well-known/api-catalog',
    '/.well-known/mcp/server-card.json',
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/a2a/v1',
    '/a2a/v1/.well-known/agent-card.json',
    '/auth.md',
    '/auth/erc8128/info',
    '/llms.txt',
    '/mcp/server-card',
    '/producers.md',
  ]);
  for (const path of paths) {
    const answer = await fetch(url + path, { headers: { origin: 'https://elsewhere.example' } });
    t.equal(answer.status, 200, path);
    t.equal(answer.headers.get('access-control-allow-origin'), '*', path);
    t.equal(answer.headers.get('cache-control'), 'public, max-age=3600', path);
    const etag = answer.headers.get('etag') ?? '';
    t.match(etag, /^"[\w-]+"$/, path);
    const body = await answer.text();

    const head = await fetch(url + path, { method: 'HEAD' });
    t.equal(head.status, 200, path);
    t.equal(head.headers.get('etag'), etag, path);
    t.equal(head.headers.get('content-type'), answer.headers.get('content-type'), path);
    t.equal(Number(head.headers.get('content-length')), Buffer.byteLength(body), path);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await fetch(url + path, { headers: { 'if-none-match': known } });
      t.equal(again.status, 304, `${path} ${known}`);
      t.equal(await again.text(), '');
    }
    t.equal((await fetch(url + path, { headers: { 'if-none-match': '"other"' } })).status, 200);
  }
});

t.test('DISC-02 the protected resources, as clients of MCP read them', async (t) => {
  const metadata = await discoverOAuthProtectedResourceMetadata(`${url}/mcp`);
  t.equal(metadata.resource, `${url}/mcp`);
  for (const [path, resource] of [
    ['', url],
    ['/mcp', `${url}/mcp`],
  ] as const) {
    const body = await json(`/.well-known/oauth-protected-resource${path}`);
    t.equal(body.resource, resource);
    t.same(body.authorization_servers, [url]);
    const off = withoutOAuth.find(({ paths }) =>
      paths.includes(`/.well-known/oauth-protected-resource${path}`),
    );
    const { authorization_servers: _, scopes_supported: __, ...without } = body;
    t.same(JSON.parse(off!.text), without, 'there is none, and an empty list would say something else');
    t.same(body.bearer_methods_supported, ['header']);
    t.equal(body.resource_documentation, `${url}/auth.md`);
    const schemes = body['x-authentication-schemes'] as { type: string }[];
    t.same(
      schemes.map(({ type }) => type),
      ['erc8128-wallet-signature', 'api-key', 'x402'],
    );
    t.match(schemes[0], {
      nonce_endpoint: `${url}/auth/erc8128/nonce`,
      policy_url: `${url}/auth/erc8128/info`,
    });
  }
});

t.test('DISC-03 there is no OpenID server, and one of OAuth in one place', async (t) => {
  const offered = withoutOAuth.flatMap(({ paths }) => paths);
  t.notOk(offered.includes('/.well-known/oauth-authorization-server'));
  for (const path of [
    '/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server/mcp',
    '/.well-known/openid-configuration/mcp',
  ])
    t.equal((await fetch(url + path)).status, 404, path);
});

t.test('DISC-04 the card of the tools satisfies its form of today and the one before', async (t) => {
  const card = await json('/mcp/server-card');
  t.same(await json('/.well-known/mcp/server-card.json'), card);
  const answer = await fetch(`${url}/mcp/server-card`);
  t.match(answer.headers.get('content-type'), 'application/mcp-server-card+json');
  t.equal(card.$schema, 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json');
  t.match(card.name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  t.equal(card.version, '1.0.0');
  t.ok(card.description.length >= 1 && card.description.length <= 100);
  t.match(card.remotes, [{ type: 'streamable-http', url: `${url}/mcp` }]);
  t.same(card.remotes[0].supportedProtocolVersions, ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS]);
  t.match(card, {
    serverInfo: { name: 'svc', version: '1.0.0' },
    transport: { type: 'streamable-http', endpoint: '/mcp' },
    capabilities: { tools: {}, resources: {}, prompts: {} },
    authentication: { required: true },
  });
  t.same(
    card.tools.map(({ name }: { name: string }) => name),
    table.list('keyed').map(({ name }) => name),
  );
  const named = (publicUrl: string) => {
    const doors = documentsOf(doorsAt(publicUrl));
    return JSON.parse(doors.find(({ paths }) => paths.includes('/mcp/server-card'))!.text).name;
  };
  t.equal(named('https://api.relay.example'), 'example.relay.api/svc');
  t.equal(named('http://localhost:8100'), 'localhost/svc');
  t.match(named('http://[::1]:8100'), /^[a-zA-Z0-9.-]+\/svc$/);
});

t.test('DISC-05 the catalogs lead to the cards and descriptions', async (t) => {
  const ai = await json('/.well-known/ai-catalog.json');
  t.equal(ai.specVersion, '1.0');
  for (const { identifier, type, url: place } of ai.entries) {
    t.match(identifier, /^urn:air:127\.0\.0\.1:/);
    t.ok(type);
    t.equal((await fetch(place)).status, 200, place);
  }
  t.match(ai.entries, [{ type: 'application/mcp-server-card+json', url: `${url}/mcp/server-card` }]);

  const answer = await fetch(`${url}/.well-known/api-catalog`, { method: 'HEAD' });
  t.equal(answer.headers.get('link'), `<${url}/.well-known/api-catalog>; rel="api-catalog"`);
  t.equal(
    answer.headers.get('content-type'),
    'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  );
  const { linkset } = await json('/.well-known/api-catalog');
  t.same(
    linkset.map(({ anchor }: { anchor: string }) => anchor),
    [url, `${url}/mcp`, `${url}/a2a/v1`],
  );
  const links = linkset.flatMap(({ anchor: _, ...relations }: Record<string, unknown>) =>
    Object.values(relations).flat(),
  ) as { href: string; type: string }[];
  const elsewhere = ['/openapi.json', '/docs', '/health'].map((path) => url + path);
  for (const { href, type } of links) {
    t.ok(type, href);
    if (elsewhere.includes(href)) continue;
    const linked = await fetch(href);
    t.equal(linked.status, 200, href);
    t.equal(linked.headers.get('content-type')?.split(';')[0], type, href);
  }
  for (const place of elsewhere)
    t.ok(
      links.some(({ href }) => href === place),
      place,
    );
});

t.test('DISC-06 policy and guide say the same', async (t) => {
  const policy = await json('/auth/erc8128/info');
  const authority = `127.0.0.1:${port}`;
  t.match(policy, {
    supported: true,
    authority,
    supported_chains: [8453],
    documentation: `${url}/auth.md`,
    signing: { algorithm: 'eip191', label: 'eth', content_digest: 'sha-256' },
    policy: { max_validity_sec: 300, clock_skew_sec: 30, require_request_bound: true, require_nonce: true },
    nonce_endpoint: '/auth/erc8128/nonce',
    nonce_endpoint_aliases: ['/api/v1/auth/erc8128/nonce'],
  });
  t.same(policy.signing.covered_components, ['@method', '@authority', '@path', '@query', 'content-digest']);
  t.same(policy.tiers, {
    keyed: { tools: 57, mutating: 20, moves_money: 6 },
    'wallet-read': { tools: 24, mutating: 0, moves_money: 0 },
  });
  t.same(policy.errors, [...signatureFaults, 'nonce_store_unavailable']);

  const guide = await (await fetch(`${url}/auth.md`)).text();
  for (const reason of [...policy.errors, 'credential_missing', 'api_key_invalid', 'api_key_not_configured'])
    t.match(guide, `\`${reason}\``, reason);
  for (const words of [
    authority,
    '24 tools',
    '57 tools',
    '20 that change something',
    '6 that move value',
    'erc8128:8453:',
  ])
    t.match(guide, words);
  t.notMatch(guide, /undefined|\[object/);
  const [, example = ''] = /sign `POST \/auth\/keys` with `(.*?)`/.exec(guide) ?? [];
  t.same(
    JSON.parse(example),
    { scopes: ownScopes },
    'whoever copies the example may do all that a wallet gives',
  );
});

t.test('DISC-07 a service below a path of its host says so everywhere', async (t) => {
  for (const { text, paths } of documentsOf(doorsAt('https://relay.example/api/'))) {
    const own = text.match(/https:\/\/relay\.example[^"\s`)'|>]*/g) ?? [];
    for (const address of own)
      t.match(address, /^https:\/\/relay\.example\/api(\/[^/]|$)/, `${paths[0]} ${address}`);
    t.notMatch(text, 'localhost');
  }
});
