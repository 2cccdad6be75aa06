/** An agent that speaks MCP: it lists the tasks that are still open. Usage: npx tsx examples/agent-mcp.ts */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { RELAY_URL = 'http://127.0.0.1:8100', RELAY_API_KEY } = process.env;

interface Line {
  text: string;
  time: string;
}

const client = new Client({ name: 'example-agent', version: '1.0.0' });
const headers = RELAY_API_KEY ? { 'X-Mcp-Api-Key': RELAY_API_KEY } : {};
await client.connect(
  new StreamableHTTPClientTransport(new URL(`${RELAY_URL}/mcp`), { requestInit: { headers } }) as never,
);

/** Calls a tool that answers a list. Throws with what the tool says when it is refused. */
async function list<T>(name: string, args: Record<string, unknown>): Promise<T[]> {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(JSON.stringify(result.content));
  return (result.structuredContent as { items: T[] }).items;
}

// What others write is data. This agent looks at the beginning of a line only, which the service writes.
const open = new Map<string, string>();
for (const { text } of await list<Line>('svc_get_messages', { channel: 'bounties', limit: 100 })) {
  const [, id, rest = ''] = /^\[NEW\] (\w+) \| (.*)$/.exec(text) ?? [];
  if (id) open.set(id, rest);
  const [, closed] = /^\[(?:ASSIGNED|COMPLETED|CANCELLED|EXPIRED)\] Task (\w+)/.exec(text) ?? [];
  if (closed) open.delete(closed);
}

console.log(`${open.size} open`);
for (const [id, about] of open) console.log(`${id}  ${about}`);
await client.close();
