import * as next from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import t from 'tap';
import { createToolServer } from '../../src/mcp/server.js';
import { ToolTable, toolsOf } from '../../src/mcp/tools.js';
import { descriptions } from '../../src/openapi/index.js';
import { operations } from '../../src/operations/index.js';
import { modelsFile } from '../deliberation/stage.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { plainly, startProvider } from '../support/model-provider.js';
import { startNats } from '../support/nats.js';

const key = 'k'.repeat(40);
const info = { name: 'test', version: '1' };

/** The tools, each with the operation whose answer is its result, and the least that it wants to be told. */
const results: [tool: string, operation: string, args: object][] = [
  ['svc_get_agent_reputation', 'getReputation', { nick: 'ann' }],
  ['svc_get_leaderboard', 'listBestChannels', {}],
  ['svc_get_leaderboard', 'listBestAgents', { type: 'agents' }],
  ['svc_security_stats', 'getSecurityStatistics', {}],
  ['svc_security_incidents', 'listSecurityIncidents', {}],
  ['svc_security_incident_details', 'getSecurityIncident', { incident_id: 'i' }],
  ['svc_security_report', 'reportSecurityIncident', { title: 'Leak', severity: 'SEV-2' }],
  ['svc_security_vote', 'voteOnSecurityIncident', { incident_id: 'i', voterNick: 'ann', score: 9 }],
  ['svc_security_consensus', 'getConsensus', { incident_id: 'i' }],
  ['svc_cert_status', 'getCertificateStatus', {}],
  ['multibrain_submit_query', 'createQuery', { prompt: 'Why?' }],
  ['multibrain_hot_queries', 'listQueries', {}],
  ['multibrain_query_status', 'getQuery', { query_id: 'q' }],
  ['multibrain_get_result', 'getQueryResult', { query_id: 'q' }],
  ['multibrain_get_responses', 'listResponses', { query_id: 'q' }],
];

t.test('MCP-20 a service elsewhere may answer more than the contract has', async (t) => {
  let reply: { status: number; body: unknown } = { status: 200, body: {} };
  const table = new ToolTable(toolsOf(operations, async () => reply.body as never));
  const [here, there] = InMemoryTransport.createLinkedPair();
  await createToolServer(table, { is: 'key', actor: 'ann' }).connect(there);
  const client = new Client(info);
  await client.connect(here);
  t.teardown(() => client.close());
  // the client holds results against the schemas that it has seen
  const { tools } = await client.listTools();
  for (const [name, id, args] of results) {
    t.match(tools.find((tool) => tool.name === name)?.outputSchema, { type: 'object' }, name);
    for (const [status, { body }] of Object.entries(descriptions.find((one) => one.id === id)!.answers)) {
      reply = { status: Number(status), body: withMore(body!.example) };
      const { content, structuredContent, isError } = await client.callTool({
        name,
        arguments: { ...args },
      });
      t.notOk(isError, `${name} ${status}`);
      t.match(content, [{ text: JSON.stringify(reply.body, null, 2) }]);
      t.same(structuredContent, Array.isArray(reply.body) ? { items: reply.body } : reply.body);
    }
  }
  reply = { status: 200, body: { incidents: [{ id: 1 }], total: 1 } };
  await t.rejects(
    client.callTool({ name: 'svc_security_incidents', arguments: {} }),
    { message: /output schema/ },
    'and what is not as the schema says is not taken',
  );
});

/** With a member more in every object. */
function withMore(example: unknown): unknown {
  if (Array.isArray(example)) return example.map(withMore);
  if (typeof example !== 'object' || example === null) return example;
  const same = Object.entries(example).map(([name, value]) => [name, withMore(value)]);
  // these are counts by name
  const more = same.length > 0 && same.every(([, value]) => typeof value === 'number') ? 1 : 'more';
  return { ...Object.fromEntries(same), more };
}

t.test('MCP-20 in every state the clients take what the service answers', async (t) => {
  const [nats, provider] = await Promise.all([startNats(t), startProvider(t)]);
  const { url } = await startApp(t, {
    NATS_URL: nats.url,
    IRC_URL: 'irc://127.0.0.1:1',
    API_KEYS: `ann:${key}`,
    ROLES: 'api,projections,services,workers',
    CERT_HOSTS: '127.0.0.1:1',
    MODELS: await modelsFile(t, provider.url),
  });
  const address = new URL(`${url}/mcp`);
  const requestInit = { headers: { 'x-mcp-api-key': key } };
  const old = new Client(info);
  // biome-ignore lint/suspicious/noExplicitAny: its own types disagree under exact optional properties
  await old.connect(new StreamableHTTPClientTransport(address, { requestInit }) as any);
  const young = new next.Client(info);
  await young.connect(new next.StreamableHTTPClientTransport(address, { requestInit }));
  for (const client of [old, young]) {
    t.teardown(() => client.close());
    await client.listTools();
  }
  /** What both clients got, where the call changes nothing. */
  const read = async (name: string, args: Record<string, unknown> = {}) => {
    await young.callTool({ name, arguments: args });
    return await change(name, args);
  };
  const change = async (name: string, args: Record<string, unknown>) => {
    const { content, structuredContent, isError } = await old.callTool({ name, arguments: args });
    const [{ text }] = content as [{ text: string }];
    t.notOk(isError, `${name}: ${text}`);
    t.ok(structuredContent, name);
    // biome-ignore lint/suspicious/noExplicitAny: results of every shape, looked at by tests
    return structuredContent as any;
  };

  t.same(await read('svc_get_leaderboard'), { channels: [] });
  t.same(await read('svc_get_leaderboard', { type: 'agents' }), { agents: [] });
  t.match(await read('svc_get_agent_reputation', { nick: 'bob' }), { avgScore: null, firstFeedback: null });
  const feedback = { nick: 'bob', channel: '#lobby', rating: 5, from_nick: 'ann' };
  await old.callTool({ name: 'svc_give_feedback', arguments: feedback });
  t.match(await read('svc_get_leaderboard'), { channels: [{ channel: '#lobby', score: Number }] });
  t.match(await read('svc_get_leaderboard', { type: 'agents' }), { agents: [{ nick: 'bob', avg_score: 5 }] });
  t.match(await read('svc_get_agent_reputation', { nick: 'bob' }), { avgScore: 5, firstFeedback: String });
  t.match(await read('svc_get_channel_score', { channel: 'lobby' }), { channel: '#lobby' });

  t.match(await read('svc_security_stats'), { incidents: 0 });
  t.match(await read('svc_security_incidents'), { incidents: [], total: 0 });
  const { id } = await change('svc_security_report', { title: 'Leak', severity: 'SEV-2' });
  t.match(await read('svc_security_consensus', { incident_id: id }), { average_score: null });
  const vote = { incident_id: id, voterNick: 'ann', score: 90 };
  t.match(await change('svc_security_vote', vote), { recorded: true, consensus: { votes: 1 } });
  t.match(await read('svc_security_consensus', { incident_id: id }), { average_score: 90 });
  t.match(await read('svc_security_incident_details', { incident_id: id }), {
    contributions: [{ score: 90 }],
  });
  t.match(await read('svc_security_incidents', { severity: 'SEV-2' }), { incidents: [{ id }], total: 1 });
  t.match(await read('svc_security_stats'), { incidents: 1, votes: 1 });
  t.match(await read('svc_cert_status'), { certs: [{ host: '127.0.0.1', valid_to: null }] });

  for (const [answer, end] of [
    [plainly, { status: 'completed', agreement: 0.75 }],
    [undefined, { status: 'failed', consensus: null, agreement: null }],
  ] as const) {
    let go = () => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    provider.answer = async (call, response) => {
      await held;
      if (answer) answer(call, response);
      else response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{}}');
    };
    const sent = await old.callTool({ name: 'multibrain_submit_query', arguments: { prompt: 'Why?' } });
    const { id: query_id } = JSON.parse((sent.content as [{ text: string }])[0].text) as { id: string };
    t.match(await read('multibrain_query_status', { query_id }), { timing_ms: null });
    t.same(await read('multibrain_get_responses', { query_id }), { items: [] });
    const waiting = await read('multibrain_get_result', { query_id });
    t.match(waiting, { id: query_id, status: /^(queued|running)$/ });
    t.notOk('consensus' in waiting, 'its status only');
    go();
    await eventually(`the query to be ${end.status}`, async () => {
      return (await read('multibrain_query_status', { query_id })).status === end.status;
    });
    t.match(await read('multibrain_get_result', { query_id }), end);
    const { items } = await read('multibrain_get_responses', { query_id });
    t.equal(items.length, 3);
    t.ok(items.every(({ content }: { content: unknown }) => (content === null) === !answer));
  }
});
