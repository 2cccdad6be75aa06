import t from 'tap';
import { startApp } from '../support/app.js';
import { startNats } from '../support/nats.js';
import { runPackage } from './run-client.js';

const key = 'k'.repeat(40);

t.test('MCP-16 MCP-17 the inspector’s command line', async (t) => {
  const nats = await startNats(t);
  const app = await startApp(t, {
    NATS_URL: nats.url,
    IRC_URL: 'irc://127.0.0.1:1',
    ROLES: 'api,projections,services',
    API_KEYS: `ann:${key}`,
  });
  const url = `${app.url}/mcp`;
  const inspect = (...args: string[]) =>
    runPackage('@modelcontextprotocol/inspector-cli', ['--cli', url, '--transport', 'http', ...args]);
  const keyed = ['--header', `X-Mcp-Api-Key: ${key}`];

  const listed = await inspect(...keyed, '--method', 'tools/list');
  t.equal(listed.code, 0, listed.output);
  t.equal(JSON.parse(jsonIn(listed.output)).tools.length, 57);

  const call = ['--method', 'tools/call', '--tool-name'];
  const called = await inspect(...keyed, ...call, 'svc_guardian_incidents', '--tool-arg', 'limit=2');
  t.equal(called.code, 0, called.output);
  t.match(JSON.parse(jsonIn(called.output)), { structuredContent: { incidents: [] } });

  const unknown = await inspect(...keyed, ...call, 'svc_nothing');
  t.not(unknown.code, 0);
  t.match(unknown.output, /Unknown tool: svc_nothing|svc_nothing/);

  const refused = await inspect('--method', 'tools/list');
  t.not(refused.code, 0);
  t.match(refused.output, /credential_missing/);

  for (const [method, params] of [
    ['tools/call', {}],
    ['tools/call', { name: 'svc_health', arguments: [] }],
    ['tools/list', { cursor: 7 }],
    ['initialize', { protocolVersion: '2025-06-18' }],
  ] as const) {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-mcp-api-key': key },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    t.match(await answer.json(), { id: 1, error: { code: -32602, message: /params/ } }, method);
  }
});

/** Its output without what it says about itself. */
function jsonIn(output: string): string {
  return output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1);
}
