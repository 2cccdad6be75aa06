import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import t from 'tap';
import { PostTransport } from '../../src/mcp/post-transport.js';
import { createToolServer } from '../../src/mcp/server.js';
import { ToolTable, toolsOf } from '../../src/mcp/tools.js';
import { defineOperation } from '../../src/operations/core/operation.js';
import { callHere } from '../support/operations.js';

const hello = defineOperation('testHello', {
  tool: { name: 'test_hello', title: 'Hello', description: 'Greets' },
  run: async () => ({ hello: 'wörld "\u2028"' }),
});
const table = new ToolTable(toolsOf([hello], callHere({})));
const caller = { is: 'key', actor: 'ann' } as const;

/** What the SDK's own transport answers. */
async function asTheSdk(messages: JSONRPCMessage[], version?: string) {
  const server = createToolServer(table, caller);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const headers = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
  };
  const request = new Request('http://localhost/mcp', { method: 'POST', headers });
  const answer = await transport.handleRequest(request, {
    parsedBody: messages.length === 1 ? messages[0] : messages,
  });
  const text = await answer.text();
  await server.close();
  return { status: answer.status, ...(answer.headers.has('content-type') ? { text } : {}) };
}

async function asOurs(messages: JSONRPCMessage[], version?: string) {
  const transport = new PostTransport();
  await createToolServer(table, caller).connect(transport);
  return await transport.exchange(messages, version);
}

const request = (id: number | string, method: string, params: Record<string, unknown> = {}) =>
  ({ jsonrpc: '2.0', id, method, params }) as JSONRPCMessage;
const call = (id: number | string, name = 'test_hello') => request(id, 'tools/call', { name, arguments: {} });
const initialize = request(1, 'initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'c', version: '1' },
});
const note = { jsonrpc: '2.0', method: 'notifications/initialized' } as JSONRPCMessage;
const response = { jsonrpc: '2.0', id: 7, result: {} } as JSONRPCMessage;

const cases: [string, JSONRPCMessage[], string?][] = [
  ['a listing', [request(1, 'tools/list')]],
  ['a call', [call('a')], '2025-06-18'],
  ['a call of an unknown tool', [call(1, 'nothing')]],
  ['parameters of a wrong shape', [request(1, 'tools/call', { name: 5 })]],
  ['an unknown method', [request(1, 'prompts/list')]],
  ['a ping', [request(0, 'ping')]],
  ['a beginning', [initialize], '1999-01-01'],
  ['two messages, one of which begins', [initialize, request(2, 'ping')]],
  ['an unknown version', [request(1, 'ping')], '1999-01-01'],
  ['a notification', [note]],
  ['a response that nobody waits for', [response]],
  ['a batch', [call(2), note, request('x', 'tools/list'), request(1, 'nothing'), call(3)]],
  ['the same id twice', [call(1), call(1)]],
  ['as many messages as may be', Array.from({ length: 100 }, (_, id) => call(id))],
  ['more messages than may be', Array.from({ length: 101 }, (_, id) => call(id))],
];

for (const [what, messages, version] of cases) {
  t.test(`MCP-01 MCP-13 answers like the SDK’s transport: ${what}`, async (t) => {
    t.same(await asOurs(messages, version), await asTheSdk(messages, version));
  });
}

t.test('MCP-25 a batch that cancels one of its requests is answered', async (t) => {
  const cancel = (requestId: number) =>
    ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }) as JSONRPCMessage;
  const alone = await asOurs([call(1), request(2, 'tools/list')]);
  for (const messages of [
    [call(1), cancel(1), request(2, 'tools/list')],
    [call(1), request(2, 'tools/list'), cancel(2), cancel(1)],
    [cancel(1), call(1), request(2, 'tools/list')],
  ])
    t.same(await asOurs(messages), alone);
  t.same(await asOurs([cancel(1)]), { status: 202 }, 'one alone is a notification');
});
