import pino from 'pino';
import t from 'tap';
import { ApiKeys } from '../../src/auth/api-keys.js';
import { createServer } from '../../src/http/server.js';
import { mcpRoutes } from '../../src/mcp/http.js';
import { ToolTable, toolsOf } from '../../src/mcp/tools.js';
import { defineOperation } from '../../src/operations/core/operation.js';
import { callHere } from '../support/operations.js';

t.test('API-05 MCP-09 each message of a batch counts as a request', async (t) => {
  let calls = 0;
  const counted = defineOperation('testCount', {
    tool: { name: 'test_count', title: 'Count', description: 'Counts' },
    run: async () => {
      calls += 1;
      return { calls };
    },
  });
  const key = 'k'.repeat(40);
  const server = await createServer({ logger: pino({ level: 'silent' }), rateLimit: 10 });
  t.teardown(() => server.close());
  await server.register(mcpRoutes, {
    table: new ToolTable(toolsOf([counted], callHere({}))),
    keys: new ApiKeys([{ name: 'ann', key }]),
    wallets: { presented: () => false, verify: async () => t.fail('no signature was sent') as never },
    challenge: () => ({}),
    allowed: ['relay.example'],
  });
  const post = async (remoteAddress: string, batch: number) => {
    const one = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'test_count', arguments: {} } };
    const host = remoteAddress === '127.0.0.1' ? 'localhost' : 'relay.example';
    return await server.inject({
      method: 'POST',
      url: '/mcp',
      remoteAddress,
      headers: { 'x-api-key': key, host, 'content-type': 'application/json' },
      payload: JSON.stringify(Array.from({ length: batch }, (_, id) => ({ ...one, id }))),
    });
  };
  t.equal((await post('203.0.113.7', 8)).statusCode, 200);
  t.equal(calls, 8);
  const refused = await post('203.0.113.7', 4);
  t.equal(refused.statusCode, 429);
  t.match(refused.json(), { error: { data: { code: 'rate_limited' } } });
  t.ok(Number(refused.headers['retry-after']) > 0);
  t.equal((await post('203.0.113.8', 100)).statusCode, 429);
  t.equal(calls, 8, 'nothing of a batch that is too large is done');
  t.equal((await post('203.0.113.9', 10)).statusCode, 200, 'others are not held up');
  t.equal((await post('127.0.0.1', 100)).statusCode, 200, 'nor is this machine');
});
