import { execFile } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { promisify } from 'node:util';
import * as next from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createSignerClient } from '@slicekit/erc8128';
import t, { type Test } from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { environmentOf } from '../channels/stage.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startIrcd } from '../support/ircd.js';
import { sendJson, startMarketplace } from '../support/marketplace.js';
import { startNats } from '../support/nats.js';
import { freePort } from '../support/ports.js';
import { nodeArgs } from '../support/programs.js';

const key = 'k'.repeat(40);
const info = { name: 'test', version: '1' };

async function stage(t: Test, settings: Record<string, string> = {}) {
  const [nats, ircd, marketplace, port] = await Promise.all([
    startNats(t),
    startIrcd(t),
    startMarketplace(t),
    freePort(),
  ]);
  const url = `http://127.0.0.1:${port}`;
  const app = await startApp(t, {
    ...environmentOf({ nats, ircd }),
    PORT: String(port),
    PUBLIC_URL: url,
    API_KEYS: `ann:${key}`,
    EM_URL: marketplace.url,
    ALLOWED_HOSTS: 'relay:8100,Edge.internal',
    ...settings,
  });
  await eventually('the bots to be there', async () => {
    const { services } = (await (await fetch(`${url}/health`)).json()) as {
      services: Record<string, { status: string }>;
    };
    return services.channelserv?.status === 'ok' && services.bridge?.status === 'ok';
  });
  return { url, app, marketplace };
}

/** One JSON-RPC request as it goes over the wire. */
function rpc(url: string, body: unknown, headers: Record<string, string> = {}) {
  return raw(url, 'POST', typeof body === 'string' ? body : JSON.stringify(body), headers);
}

async function raw(url: string, method: string, text: string | undefined, headers: Record<string, string>) {
  const { port } = new URL(url);
  return await new Promise<
    // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape, looked at by tests
    { status: number; headers: Record<string, unknown>; body: any }
  >((resolve, reject) => {
    const outgoing = httpRequest(
      {
        host: '127.0.0.1',
        port,
        path: '/mcp',
        method,
        headers: { 'content-type': 'application/json', ...headers },
      },
      (answer) => {
        let content = '';
        answer.setEncoding('utf8').on('data', (chunk) => (content += chunk));
        answer.on('end', () =>
          resolve({
            status: answer.statusCode!,
            headers: answer.headers,
            body: content === '' ? undefined : JSON.parse(content),
          }),
        );
      },
    );
    outgoing.on('error', reject).end(text);
  });
}

const list = { jsonrpc: '2.0', id: 7, method: 'tools/list', params: {} };
const call = (name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  id: 'c',
  method: 'tools/call',
  params: { name, arguments: args },
});

t.test('the tools over HTTP', async (t) => {
  const { url, marketplace } = await stage(t);
  const keyed = { 'x-mcp-api-key': key };
  const signer = (() => {
    const account = privateKeyToAccount(generatePrivateKey());
    const { address } = account;
    const client = createSignerClient({
      chainId: 8453,
      address,
      signMessage: (message) => account.signMessage({ message: { raw: message } }),
    });
    const nonce = async () =>
      ((await (await fetch(`${url}/auth/erc8128/nonce`)).json()) as { nonce: string }).nonce;
    return {
      address,
      fetch: (input: string | URL, init?: RequestInit) =>
        client.fetch(input, init, { nonce, ttlSeconds: 300 }),
    };
  })();

  t.test('MCP-01 MCP-10 clients of both generations, with a key', async (t) => {
    const old = new Client(info);
    await old.connect(
      // biome-ignore lint/suspicious/noExplicitAny: its own types disagree under exact optional properties
      new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers: keyed } }) as any,
    );
    const { tools } = await old.listTools();
    t.equal(tools.length, 57);
    t.match(old.getServerVersion(), { name: 'svc', version: '1.0.0' });
    t.match(old.getServerCapabilities(), { tools: {} });
    const stats = await old.callTool({ name: 'svc_get_stats', arguments: {} });
    t.match(stats.structuredContent, { connected: true, channels: Number });
    await old.close();

    const young = new next.Client(info);
    await young.connect(
      new next.StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${key}` } },
      }),
    );
    t.equal((await young.listTools()).tools.length, 57);
    const channels = await young.callTool({ name: 'svc_list_channels', arguments: {} });
    t.match(channels.structuredContent, { items: [{ name: /^#/, users: Number }] });
    await young.close();
  });

  t.test('MCP-01 MCP-08 a wallet reads', async (t) => {
    const client = new Client(info);
    await client.connect(
      // biome-ignore lint/suspicious/noExplicitAny: as above
      new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { fetch: signer.fetch }) as any,
    );
    const { tools } = await client.listTools();
    t.equal(tools.length, 24);
    t.ok(tools.every(({ annotations }) => annotations?.readOnlyHint));
    t.match(await client.callTool({ name: 'svc_get_stats', arguments: {} }), {
      structuredContent: { connected: true },
    });
    await t.rejects(client.callTool({ name: 'svc_em_send_tip', arguments: { to_nick: 'x', amount: 1 } }), {
      code: -32602,
      message: /Unknown tool: svc_em_send_tip/,
    });
    await client.close();

    const both = await rpc(url, list, {
      ...keyed,
      signature: 'eth=:AA==:',
      'signature-input': 'eth=();created=1',
    });
    t.match(both, { status: 401, body: { id: 7, error: { code: -32001, data: { reason: String } } } });
    t.not(both.body.error.data.reason, 'api_key_invalid', 'the key was not looked at');
  });

  t.test('MCP-07 MCP-13 who shows nothing, or something wrong', async (t) => {
    for (const [headers, reason] of [
      [{}, 'credential_missing'],
      [{ 'x-mcp-api-key': 'wrong' }, 'api_key_invalid'],
      [{ authorization: 'Bearer wrong' }, 'api_key_invalid'],
    ] as const) {
      const answer = await rpc(url, list, headers);
      t.match(answer, {
        status: 401,
        body: {
          jsonrpc: '2.0',
          id: 7,
          error: { code: -32001, data: { reason, hint: /wallet.*\/auth\.md/ } },
        },
      });
      t.match(answer.headers['www-authenticate'], /^Bearer .*resource_metadata=".*\/mcp".*, ERC8128 /);
    }
  });

  t.test('MCP-09 other methods, hosts and lax clients', async (t) => {
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH', 'TRACE']) {
      const answer = await raw(url, method, undefined, keyed);
      t.match(answer, { status: 405, body: { jsonrpc: '2.0', error: { code: -32000 } } }, method);
      t.equal(answer.headers.allow, 'POST', method);
    }
    for (const [type, body] of [
      ['application/json', JSON.stringify(list)],
      ['application/json', '{'],
      ['text/plain', 'x'.repeat(300_000)],
    ] as const) {
      t.match(
        await raw(url, 'PUT', body, { ...keyed, 'content-type': type }),
        { status: 405, headers: { allow: 'POST' }, body: { id: null, error: { code: -32000 } } },
        `whatever the body is: ${body.slice(0, 20)}`,
      );
    }
    t.match(await raw(url, 'HEAD', undefined, keyed), { status: 405, headers: { allow: 'POST' } });
    t.match(await raw(url, 'OPTIONS', undefined, {}), { status: 204, headers: { allow: 'POST, OPTIONS' } });
    const preflight = { origin: 'https://a.example', 'access-control-request-method': 'POST' };
    const allowed = await raw(url, 'OPTIONS', undefined, preflight);
    t.equal(allowed.status, 204);
    t.equal(allowed.headers['access-control-allow-origin'], '*');
    t.match(allowed.headers['access-control-allow-methods'], /POST/);
    for (const host of ['relay:8100', 'edge.internal', 'EDGE.internal:9000'])
      t.equal((await rpc(url, list, { ...keyed, host })).status, 200, host);
    for (const headers of [
      ...[{ host: 'evil.example' }, { host: 'relay:81' }, { host: 'relay' }, { host: 'not-edge.internal' }],
      ...[{ origin: 'https://evil.example' }, { origin: 'https://edge.internal:9000' }],
    ]) {
      t.match(await rpc(url, list, { ...keyed, ...headers }), {
        status: 403,
        body: { error: { code: -32000 } },
      });
    }
    for (const accept of ['*/*', 'application/json', 'text/event-stream', '']) {
      t.match(await rpc(url, list, { ...keyed, accept }), {
        status: 200,
        body: { id: 7, result: { tools: Array } },
      });
    }
  });

  t.test('MCP-13 what is no request', async (t) => {
    t.match(await rpc(url, '{', keyed), { status: 400, body: { id: null, error: { code: -32700 } } });
    const noRequests: [unknown, unknown][] = [
      [{ id: 2 }, 2],
      [{ jsonrpc: '2.0', id: 'x' }, 'x'],
      [{ ...list, jsonrpc: '1.0' }, 7],
      [{ ...list, params: 'x' }, 7],
      [{ ...list, id: null }, null],
      [{ ...list, method: 5 }, 7],
      [[], null],
      [[1], null],
      [[list, { id: 2 }], null],
      ['"text"', null],
      ['null', null],
      ['1', null],
    ];
    for (const [body, id] of noRequests) {
      t.match(
        await rpc(url, body, keyed),
        {
          status: 400,
          body: {
            jsonrpc: '2.0',
            id,
            error: { code: -32600, data: { code: 'invalid_request', hint: String } },
          },
        },
        JSON.stringify(body),
      );
    }
    t.match(await rpc(url, '', keyed), { status: 400, body: { id: null, error: { code: -32700 } } });
    t.match(await rpc(url, [list, { ...list, id: 8 }], keyed), { status: 200, body: [{ id: 7 }, { id: 8 }] });
    t.match(await rpc(url, { ...list, method: 'nope' }, keyed), {
      status: 200,
      body: {
        id: 7,
        error: {
          code: -32601,
          message: 'Method not found',
          data: { code: 'unknown_method', method: 'nope', hint: /initialize, ping, .*tools\/call/ },
        },
      },
    });
    t.match(await rpc(url, `"${'x'.repeat(300_000)}"`, keyed), {
      status: 413,
      body: { error: { code: -32000 } },
    });
    t.match(await rpc(url, 'x', { ...keyed, 'content-type': 'text/plain' }), {
      status: 415,
      body: { jsonrpc: '2.0', error: { code: -32000 } },
    });
    t.match(await rpc(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, keyed), { status: 202 });
  });

  t.test('MCP-05 MCP-06 MCP-11 core tools', async (t) => {
    const result = async (name: string, args?: object) => {
      const answer = await rpc(url, call(name, args), keyed);
      t.equal(answer.status, 200, name);
      const { content, structuredContent, isError } = answer.body.result;
      return {
        text: content[0].text as string,
        json: isError ? undefined : JSON.parse(content[0].text),
        structuredContent,
        isError,
      };
    };
    t.match((await result('svc_get_messages', { channel: '#lobby', limit: 5 })).json, []);
    t.match((await result('svc_get_messages', { channel: 'nowhere' })).text, /^Error: Channel not found/);
    t.match((await result('svc_get_messages', {})).text, /^Error: channel: /);
    t.match((await result('svc_get_messages', { channel: 'lobby', limit: 101 })).text, /^Error: limit: /);
    t.match((await result('svc_list_paid_channels')).json, { channels: [] });
    t.match((await result('svc_get_paid_channel', { channel: 'x' })).text, /^Error: /);
    t.match((await result('svc_get_sessions', { nick: 'ann' })).json, { nick: 'ann', sessions: [] });
    t.match((await result('svc_guardian_stats')).json, {
      total_incidents: 0,
      by_level: { warning: 0 },
      top_offenders: [],
    });
    t.match((await result('svc_guardian_incidents', { limit: 200 })).json, { incidents: [] });
    t.match((await result('svc_guardian_reputation', { nick: 'ann' })).json, { reputation: null });
    t.match((await result('svc_list_agents')).json, { count: 0, agents: [] });
    t.match((await result('svc_get_agent', { nickname: 'nobody' })).text, /^Error: Agent not found/);
    t.match((await result('svc_health')).json, {
      bridge: { status: 'ok' },
      turnstile: { status: String },
      verification: { status: String },
    });
    t.match((await result('svc_identity_lookup', {})).text, /^Error: Give nick or wallet/);
    t.same((await result('svc_identity_lookup', { nick: 'nobody' })).json, {
      error: 'HTTP 404',
      status: 404,
    });
    await fetch(`${url}/identity/link`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ nick: 'Ann', wallet_address: signer.address }),
    });
    t.match((await result('svc_identity_lookup', { nick: 'ANN' })).json, {
      nick: 'ann',
      wallet: signer.address,
      linked_at: /^2/,
    });
    t.match((await result('svc_identity_lookup', { wallet: signer.address })).json, {
      nick: 'ann',
      wallet: signer.address,
    });
    t.match((await result('svc_get_agent_profile', { nick: 'nobody' })).json, {
      nick: 'nobody',
      channels_active: [],
      feedback_score: null,
      feedback_count: 0,
      messages_count: 0,
      first_seen: null,
      last_active: /^2/,
    });
  });

  t.test('MCP-05 MCP-12 feedback, consensus, marketplace', async (t) => {
    const text = async (name: string, args: object) =>
      (await rpc(url, call(name, args), keyed)).body.result.content[0].text as string;
    await text('svc_give_feedback', { nick: 'bob', channel: '#lobby', rating: 5, from_nick: 'ann' });
    t.match(JSON.parse(await text('svc_get_agent_reputation', { nick: 'bob' })), {
      avgScore: 5,
      totalFeedback: 1,
    });
    t.match(JSON.parse(await text('svc_get_leaderboard', { type: 'agents' })), { agents: [{ nick: 'bob' }] });
    t.match(JSON.parse(await text('svc_get_channel_score', { channel: 'lobby' })), {
      channel: '#lobby',
      total_feedback: 1,
    });
    t.match(
      await text('svc_give_feedback', { nick: 'ann', channel: 'lobby', rating: 5, from_nick: 'Ann' }),
      /^Error: /,
    );
    const { id } = JSON.parse(await text('svc_security_report', { title: 'Leak', severity: 'SEV-2' })) as {
      id: string;
    };
    await text('svc_security_vote', { incident_id: id, voterNick: 'ann', score: 90 });
    t.match(await text('svc_security_vote', { incident_id: id, voterNick: 'ann', score: 90 }), /^Error: /);
    t.match(JSON.parse(await text('svc_security_consensus', { incident_id: id })), {
      votes: 1,
      status: 'pending',
    });
    t.match(JSON.parse(await text('svc_security_incident_details', { incident_id: id })), {
      reporter: 'ann',
    });

    marketplace.answer = ({ url }, response) =>
      sendJson(
        response,
        200,
        /status=completed/.test(url) ? { tasks: [{ id: 1, bounty_usd: 2.5 }] } : { tasks: [] },
      );
    t.match(JSON.parse(await text('svc_economic_activity', {})), {
      completed_tasks: 1,
      total_usd_completed: 2.5,
      published_bounties: 0,
    });
    marketplace.answer = ({ method, url, body }, response) => sendJson(response, 200, { method, url, body });
    t.match(JSON.parse(await text('svc_em_approve_task', { task_id: 't-1', rating: 5, more: 'x' })), {
      method: 'POST',
      url: '/api/v1/tasks/t-1/approve',
      body: '{"rating":5,"more":"x"}',
    });
    t.match(
      JSON.parse(await text('svc_em_assign_relay_leg', { relay_id: 'r', leg_number: 2, worker_nick: 'bob' })),
      {
        url: '/api/v1/relay-chains/r/legs/2/assign',
        body: '{"worker_nick":"bob"}',
      },
    );
    t.match(await text('svc_em_get_task', { task_id: '../admin' }), /^Error: /);
    const audit = await (await fetch(`${url}/ops/audit`, { headers: { 'x-api-key': key } })).json();
    t.match(audit, {
      entries: [
        { actor: 'ann', path: '/em/relay-chains/r/legs/2/assign' },
        { actor: 'ann', task_id: 't-1' },
      ],
    });
  });

  t.test('MCP-02 MCP-10 MCP-17 MCP-18 MCP-19 over standard input and output', async (t) => {
    const local = async (env: Record<string, string>) => {
      const client = new Client(info);
      await client.connect(
        new StdioClientTransport({
          command: process.execPath,
          args: nodeArgs('src/cli.ts', 'mcp', '--url', url),
          env: { PATH: process.env.PATH ?? '', RELAY_API_KEY: key, ...env },
        }),
      );
      t.teardown(() => client.close());
      return client;
    };
    const admin = await local({ CHANNEL_ADMIN_KEY: key });
    t.equal((await admin.listTools()).tools.length, 60);
    await fetch(`${url}/channels`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ name: '#skill-mcp', type: 'skill' }),
    });
    const changed = await admin.callTool({
      name: 'svc_update_channel',
      arguments: { channel: '#skill-mcp', topic: 'Tools' },
    });
    t.match(changed.content, [{ text: /"updated": true/ }]);
    t.match(
      (await admin.callTool({ name: 'svc_channel_operations', arguments: { channel: 'skill-mcp' } })).content,
      [{ text: /"topic"/ }],
    );
    t.match((await admin.callTool({ name: 'svc_get_stats', arguments: {} })).structuredContent, {
      connected: true,
    });
    await t.rejects(admin.callTool({ name: 'nope', arguments: {} }), { code: -32602 });
    const piped = promisify(execFile)(process.execPath, nodeArgs('src/cli.ts', 'mcp', '--url', url), {
      env: { PATH: process.env.PATH ?? '', RELAY_API_KEY: key },
    });
    const nonsense = 'nonsense '.repeat(50);
    piped.child.stdin!.end(`${nonsense}\n{"id":"x"}\n{"jsonrpc":"2.0","id":7,"method":"tools/list"}`);
    const { stdout, stderr } = await piped;
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    t.match(
      answers,
      [
        { jsonrpc: '2.0', id: null, error: { code: -32700, data: { code: 'parse_error' } } },
        { jsonrpc: '2.0', id: 'x', error: { code: -32600, data: { code: 'invalid_request' } } },
        { id: 7, result: { tools: { length: 57 } } },
      ],
      'MCP-18 MCP-19',
    );
    const complaints = stderr.trim().split('\n');
    t.match(complaints, [/^relay: not understood: .*nonsense/, /^relay: not understood: .*\{"id":"x"\}$/]);
    for (const line of complaints) t.ok(line.length < 150, line);
    await t.rejects(admin.listTools({ cursor: 7 as unknown as string }), {
      code: -32602,
      message: /params\.cursor/,
    });
    const other = await local({});
    t.equal((await other.listTools()).tools.length, 57);
    t.match(await rpc(url, call('svc_update_channel', { channel: 'skill-mcp' }), keyed), {
      body: { error: { code: -32602 } },
    });
    for (const [params, path, message] of [
      [undefined, 'params', 'params is missing'],
      [{}, 'params.name', 'params.name is missing'],
      [
        { name: 'svc_get_stats', arguments: [] },
        'params.arguments',
        'params.arguments must be a JSON object',
      ],
    ] as const) {
      const data = { code: 'validation_failed', details: [{ path, message }], hint: /tools\/list/ };
      const wrong = { jsonrpc: '2.0', id: 'w', method: 'tools/call', params };
      t.match(await rpc(url, wrong, keyed), { body: { id: 'w', error: { code: -32602, message, data } } });
    }
  });
});

t.test('MCP-07 without keys only this machine has the tools', async (t) => {
  const { url } = await stage(t, { API_KEYS: '' });
  t.match(await rpc(url, list), { status: 200, body: { result: { tools: { length: 57 } } } });
  const far = await rpc(url, list, { 'x-forwarded-for': '203.0.113.9' });
  t.match(far, {
    status: 401,
    body: {
      error: { code: -32001, data: { reason: 'api_key_not_configured', hint: /with a wallet.*\/auth\.md/ } },
    },
  });
});
