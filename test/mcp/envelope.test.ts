import * as next from '@modelcontextprotocol/client';
import t from 'tap';
import { envelopedVersion } from '../../src/mcp/envelope.js';
import { keysStage, operator } from '../keys/stage.js';
import { eventually } from '../support/eventually.js';
import { settingsOf, startIrcd } from '../support/ircd.js';

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape, looked at by tests
type Body = any;

const meta = (more: object = {}) => ({
  'io.modelcontextprotocol/protocolVersion': envelopedVersion,
  'io.modelcontextprotocol/clientCapabilities': {},
  ...more,
});

t.test('MCP-24 requests that say their version themselves', async (t) => {
  const ircd = await startIrcd(t);
  const { app, given } = await keysStage(t, { ...settingsOf(ircd), ROLES: 'all' });
  const { headers: alice } = await given('alice', ['read']);
  await eventually('the lobby to be on record', async () => {
    return (await fetch(`${app.url}/irc/channels/lobby/messages`, { headers: alice })).ok;
  });
  const post = async (body: unknown, headers: Record<string, string>) => {
    const answer = await fetch(`${app.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...operator, ...headers },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, body: (text && JSON.parse(text)) as Body };
  };
  const request = (method: string, params: object = {}) => ({
    jsonrpc: '2.0',
    id: 7,
    method,
    params: { _meta: meta(), ...params },
  });
  const headersOf = (method: string, name?: string): Record<string, string> => ({
    'mcp-protocol-version': envelopedVersion,
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  });

  t.test('the client of the SDK speaks it, pinned or by choice, and the older one without', async (t) => {
    for (const [mode, spoken] of [
      [{ pin: envelopedVersion }, envelopedVersion],
      ['auto', envelopedVersion],
      ['legacy', '2025-11-25'],
    ] as const) {
      const client = new next.Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      const requestInit = { headers: alice };
      await client.connect(
        new next.StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), { requestInit }),
      );
      t.equal(client.getNegotiatedProtocolVersion(), spoken);
      t.match(client.getServerVersion(), { name: 'svc' });
      t.match(client.getInstructions(), /\/skill\.md/);
      const { tools } = await client.listTools();
      t.ok(tools.some(({ name }) => name === 'svc_list_channels'));
      const channels = await client.callTool({ name: 'svc_list_channels', arguments: {} });
      t.match(channels.structuredContent, { items: Array });
      const { resources } = await client.listResources();
      t.ok(resources.some(({ uri }) => uri === 'relay://skill/SKILL.md'));
      t.match(await client.readResource({ uri: 'relay://skill/SKILL.md' }), {
        contents: [{ text: /Relay Network/ }],
      });
      t.match((await client.listResourceTemplates()).resourceTemplates, { length: 2 });
      const { prompts } = await client.listPrompts();
      t.ok(prompts.some(({ name }) => name === 'catch_up'));
      const asked = { name: 'catch_up', arguments: { channel: '#lobby' } };
      t.match(await client.getPrompt(asked), { messages: Array });
      t.match(await client.callTool({ name: 'svc_get_messages', arguments: { chanel: '#lobby' } }), {
        isError: true,
        _meta: { code: 'validation_failed' },
      });
      await t.rejects(client.callTool({ name: 'svc_list_chanels', arguments: {} }), {
        code: -32602,
        data: { nearest: 'svc_list_channels' },
      });
      await t.rejects(client.readResource({ uri: 'relay://skill/NONE.md' }), { code: -32602 });
      await client.close();
    }
  });

  t.test('each answer says what it is, and how long it may be kept', async (t) => {
    const discovered = await post(request('server/discover'), headersOf('server/discover'));
    t.match(discovered, {
      status: 200,
      body: {
        jsonrpc: '2.0',
        id: 7,
        result: {
          resultType: 'complete',
          cacheScope: 'private',
          ttlMs: Number,
          supportedVersions: [envelopedVersion],
          capabilities: { tools: {}, resources: {}, prompts: {} },
          _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'svc' } },
        },
      },
    });
    const listed = await post(request('tools/list'), headersOf('tools/list'));
    t.match(listed.body.result, { resultType: 'complete', cacheScope: 'private', tools: { length: 57 } });
    const called = request('tools/call', { name: 'svc_list_channels', arguments: {} });
    const { result } = (await post(called, headersOf('tools/call', 'svc_list_channels'))).body;
    t.match(result, { resultType: 'complete', content: Array });
    t.notOk('ttlMs' in result);
    const encoded = `=?base64?${Buffer.from('svc_list_channels').toString('base64')}?=`;
    t.match(await post(called, headersOf('tools/call', encoded)), { status: 200, body: { result: {} } });
    const uri = 'relay://skill/NONE.md';
    t.match(await post(request('resources/read', { uri }), headersOf('resources/read', uri)), {
      status: 200,
      body: { error: { code: -32602, data: { code: 'not_found' } } },
    });
    const older = await post({ jsonrpc: '2.0', id: 7, method: 'tools/list' }, {});
    t.notOk('resultType' in older.body.result, 'older clients see nothing of it');
    const told = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    t.match(await post(told, { 'mcp-protocol-version': envelopedVersion }), { status: 202, body: '' });
  });

  t.test('what is wrong with an envelope is said', async (t) => {
    const named = { name: 'svc_list_channels', arguments: {} };
    const cases: [unknown, Record<string, string>, number, number, string][] = [
      // no such method, or no longer one
      [request('no/method'), headersOf('no/method'), 404, -32601, 'unknown_method'],
      [request('initialize'), headersOf('initialize'), 404, -32601, 'unknown_method'],
      [request('ping'), headersOf('ping'), 404, -32601, 'unknown_method'],
      // the headers do not repeat the body
      [request('tools/list'), {}, 400, -32020, 'header_mismatch'],
      [request('tools/list'), headersOf('tools/call'), 400, -32020, 'header_mismatch'],
      [
        request('tools/list'),
        { ...headersOf('tools/list'), 'mcp-protocol-version': '2025-11-25' },
        400,
        -32020,
        'header_mismatch',
      ],
      [request('tools/call', named), headersOf('tools/call'), 400, -32020, 'header_mismatch'],
      [
        request('tools/call', named),
        headersOf('tools/call', 'svc_get_stats'),
        400,
        -32020,
        'header_mismatch',
      ],
      // the envelope itself
      [
        request('tools/list', { _meta: meta({ 'io.modelcontextprotocol/protocolVersion': '2027-01-01' }) }),
        headersOf('tools/list'),
        400,
        -32022,
        'version_unsupported',
      ],
      [
        request('tools/list', { _meta: meta({ 'io.modelcontextprotocol/protocolVersion': 5 }) }),
        headersOf('tools/list'),
        400,
        -32602,
        'validation_failed',
      ],
      [
        request('tools/list', { _meta: meta({ 'io.modelcontextprotocol/clientCapabilities': undefined }) }),
        headersOf('tools/list'),
        400,
        -32602,
        'validation_failed',
      ],
      [request('tools/list', { _meta: {} }), headersOf('tools/list'), 400, -32602, 'validation_failed'],
      [[request('tools/list')], headersOf('tools/list'), 400, -32600, 'invalid_request'],
      [[request('tools/list'), request('ping')], {}, 400, -32600, 'invalid_request'],
    ];
    for (const [body, headers, status, code, name] of cases) {
      const answer = await post(body, headers);
      const what = `${JSON.stringify(body).slice(0, 200)} ${JSON.stringify(headers)}`;
      t.match(answer, { status, body: { error: { code, data: { code: name, hint: String } } } }, what);
    }
    const wrong = request('tools/list', { _meta: meta({ 'io.modelcontextprotocol/protocolVersion': '1' }) });
    t.match((await post(wrong, headersOf('tools/list'))).body, {
      id: 7,
      error: { data: { supported: [envelopedVersion], requested: '1' } },
    });
    // what was refused before an envelope could be read
    t.match(await post(request('tools/list'), { ...headersOf('tools/list'), 'x-api-key': 'nonsense' }), {
      status: 401,
      body: { error: { code: -32001 } },
    });
  });
});
