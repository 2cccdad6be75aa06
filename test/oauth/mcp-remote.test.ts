import { createRequire } from 'node:module';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { temporaryDirectory } from '../support/sql.js';
import { oauthStage } from './stage.js';

const program = createRequire(import.meta.url).resolve('mcp-remote/dist/proxy.js');

/** Starts the program as a desktop client does, and what it says of itself. */
async function start(t: Test, url: string, directory: string) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, `${url}/mcp`, String(await freePort())],
    // it finds no browser to open, and says what to open instead
    env: { PATH: '', HOME: directory, MCP_REMOTE_CONFIG_DIR: directory },
    stderr: 'pipe',
  });
  const said: string[] = [];
  transport.stderr!.on('data', (chunk) => said.push(String(chunk)));
  const client = new Client({ name: 'desktop', version: '1' });
  t.teardown(() => client.close());
  return { client, connected: client.connect(transport), said };
}

t.test('OAUTH-11 mcp-remote, from nothing to a tool call', async (t) => {
  const { url, page, yes, proven } = await oauthStage(t);
  const wallet = await proven('alice');
  const directory = await temporaryDirectory(t);

  const first = await start(t, url, directory);
  const opened = await eventually(
    'the page to open',
    async () => /https?:\/\/\S+\/oauth\/authorize\?\S+/.exec(first.said.join(''))?.[0],
  );
  const { status, shown } = await page(opened);
  t.equal(status, 200);
  t.match(shown.client, /MCP CLI Proxy|mcp-remote/i);
  const answer = await yes(shown.request, wallet.account);
  t.equal(answer.status, 200);
  await eventually('the program to listen', async () => /callback server running/.test(first.said.join('')));
  t.equal((await fetch(answer.body.redirect_to)).status, 200, 'the program takes the code');

  await first.connected;
  const { tools } = await first.client.listTools();
  t.ok(tools.some(({ name }) => name === 'svc_get_stats'));
  const result = await first.client.callTool({ name: 'svc_get_stats', arguments: {} });
  t.match(result, { structuredContent: { connected: Boolean } });
  await first.client.close();

  const second = await start(t, url, directory);
  await second.connected;
  t.ok((await second.client.listTools()).tools.length > 0, 'and without a person the next time');
  t.notMatch(second.said.join(''), /oauth\/authorize\?/);
});
