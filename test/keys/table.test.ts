import t from 'tap';
import { descriptions } from '../../src/openapi/index.js';
import { scopes } from '../../src/operations/core/caller.js';
import type { Description } from '../../src/operations/core/description.js';
import { ownNickMember } from '../../src/operations/core/rights.js';
import { operations } from '../../src/operations/index.js';
import type { Answer } from '../channels/stage.js';
import { keysStage, operator } from './stage.js';

/** Codes about the credential, or about the nick that the caller acts as. */
const ofCredentials = [
  ...['api_key_required', 'api_key_invalid', 'api_key_expired', 'api_key_void', 'api_keys_not_configured'],
  ...['scope_missing', 'not_your_nick', 'wallet_not_of_nick'],
];

/** What a caller is told about its credential: the code of the refusal, or `undefined` if it may call. */
const verdict = ({ status, body }: Pick<Answer, 'status' | 'body'>): string | undefined => {
  const code = (body as { code?: string } | null)?.code;
  return (status === 401 || status === 403) && ofCredentials.includes(code ?? '') ? code : undefined;
};

/** A route with the request that its description gives as its example. */
function routeOf(description: Description) {
  const { id, method, path, params = {}, body, access = 'open', scope } = description;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name]!.example)),
  );
  const given = method === 'get' ? undefined : (body?.example as Record<string, unknown> | undefined);
  const as = ownNickMember(operations.find((operation) => operation.id === id)!.access);
  // the nick that the example acts as: alice, if it names any
  const acts =
    as !== undefined && (given?.[as] ?? (path.includes(`{${as}}`) ? 'alice' : undefined)) === 'alice';
  const needsKey = access.startsWith('key');
  return { id, access, scope, acts, needsKey, request: [method.toUpperCase(), filled, given] as const };
}

t.test('KEY-10 every operation answers each caller as its description promises', async (t) => {
  const { app, ask, signed, given, proven, tool } = await keysStage(t, {
    KEY_RATE_LIMIT: '0',
    NICK_RATE_LIMIT: '0',
  });
  /** Like `ask`, whatever the answer is made of. */
  const send = async (
    method: string,
    path: string,
    body: object | undefined,
    headers: Record<string, string> = {},
  ): Promise<Pick<Answer, 'status' | 'body'>> => {
    const json = body ? { 'content-type': 'application/json' } : undefined;
    const init = {
      method,
      headers: { ...json, ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    };
    const response = await fetch(app.url + path, init);
    const text = await response.text();
    return { status: response.status, body: /^[[{]/.test(text) ? JSON.parse(text) : text };
  };
  const ids = new Set(operations.map(({ id }) => id));
  const routes = descriptions.filter(({ id }) => ids.has(id)).map(routeOf);
  t.ok(routes.length > 70, `${routes.length} routes`);

  await t.test('nobody, and the operator', async (t) => {
    // on a public service nobody is local
    for (const { id, needsKey, request } of routes) {
      const expected = needsKey ? 'api_key_required' : undefined;
      t.equal(verdict(await send(...request)), expected, `${id}: nobody`);
      t.equal(verdict(await send(...request, operator)), undefined, `${id}: the operator`);
    }
  });

  await t.test('the wallet of another nick', async (t) => {
    const wallet = await proven('zoe');
    await proven('alice');
    for (const { id, access, acts, request } of routes) {
      if (access === 'key or local') continue; // which is no JSON
      const answer = await signed(wallet, ...request);
      if (access !== 'key or wallet')
        t.equal(verdict(answer), access === 'key' ? 'api_key_required' : undefined, id);
      else {
        // a key that it asks for is its own; elsewhere the link decides
        const refusal = id === 'issueKey' ? 'not_your_nick' : 'wallet_not_of_nick';
        t.equal(verdict(answer), acts ? refusal : undefined, id);
      }
    }
    t.equal((await ask('DELETE', '/identity/link/alice', undefined, operator)).status, 200);
  });

  await t.test('an agent key of another, good for everything', async (t) => {
    const { headers } = await given('bob', [...scopes]);
    for (const { id, needsKey, acts, request } of routes)
      t.equal(verdict(await send(...request, headers)), needsKey && acts ? 'not_your_nick' : undefined, id);
  });

  await t.test('an agent key of its own, good for everything', async (t) => {
    const { headers } = await given('alice', [...scopes]);
    for (const { id, request } of routes) t.equal(verdict(await send(...request, headers)), undefined, id);
  });

  for (const scope of scopes) {
    await t.test(`an agent key that is good for ${scope}`, async (t) => {
      const key = await given('alice', [scope]);
      for (const route of routes) {
        const answer = await send(...route.request, key.headers);
        const isMissing = route.needsKey && route.scope !== scope;
        t.equal(verdict(answer), isMissing ? 'scope_missing' : undefined, route.id);
        if (isMissing) t.match(answer.body.error, `not good for ${route.scope}`, route.id);
      }
      const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      const named = async (headers: object) =>
        ((await ask('POST', '/mcp', list, headers as typeof operator)).body.result.tools as Tool[]).filter(
          ({ description }) => description.includes(`Scope: ${scope}`),
        );
      const listed = (await ask('POST', '/mcp', list, key.headers)).body.result.tools as Tool[];
      const names = (tools: Tool[]) => tools.map(({ name }) => name);
      const speaking = [
        'svc_say',
        'svc_join',
        'svc_part',
        'svc_away',
        'svc_back',
        'svc_inbox',
        'svc_set_webhook',
        'svc_get_webhook',
        'svc_remove_webhook',
        'svc_webhook_secret',
        'svc_webhook_on',
        'svc_webhook_dead_letters',
        'svc_redrive_webhook',
        'svc_publish_abilities',
      ];
      const beside =
        { speak: speaking, read: ['svc_catch_up', 'svc_find_agents', 'svc_floor'] }[scope as string] ?? [];
      t.same(names(listed).sort(), [...names(await named(operator)), ...beside].sort(), 'tools');
      t.equal((await ask('DELETE', `/auth/keys/${key.id}`, undefined, operator)).status, 200);
    });
  }

  await t.test('the wallet of the nick itself', async (t) => {
    await ask('DELETE', '/identity/link/alice', undefined, operator);
    const wallet = await proven('alice');
    // what ends the link comes last
    const last = routes.findIndex(({ id }) => id === 'unlinkWallet');
    const found = new Map<string, number>();
    for (const { id, access, request } of [...routes.toSpliced(last, 1), routes[last]!]) {
      if (access === 'key or local') continue; // which is no JSON
      const answer = await signed(wallet, ...request);
      t.equal(verdict(answer), access === 'key' ? 'api_key_required' : undefined, id);
      if (access === 'key or wallet') found.set(id, answer.status);
    }
    for (const id of ['listKeys', 'publishEntry', 'withdrawEntry', 'unlinkWallet'])
      t.equal(found.get(id), 200, `${id} was done`);
    t.equal(found.get('reportSecurityIncident'), 201, 'reportSecurityIncident was done');
  });

  await t.test('tools that a key is not good for', async (t) => {
    const { headers } = await given('carl', ['speak']);
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const tools = (await ask('POST', '/mcp', list, operator)).body.result.tools as Tool[];
    t.equal(tools.length, 57);
    for (const { name, description } of tools) {
      const scope = /Scope: (\w+)/.exec(description)?.[1];
      t.match(
        (await tool(name, {}, headers)).result,
        { isError: true, content: [{ text: `Error: This key is not good for ${scope}` }] },
        name,
      );
    }
  });
});

interface Tool {
  name: string;
  description: string;
}
