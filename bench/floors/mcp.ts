import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

/** The SDK's own way: a new server with its 57 tools for each request, without sessions. */
function toolServer(): McpServer {
  const server = new McpServer({ name: 'floor', version: '1.0.0' });
  for (let n = 0; n < 57; n++) {
    server.registerTool(
      `tool_${n}`,
      {
        title: `Tool ${n}`,
        description: `Tool number ${n}, with a description about as long as those of the service: what it does and when to use it.`,
        inputSchema: {
          channel: z.string().min(1).max(64).describe('Channel name; a leading # is optional'),
          limit: z.number().int().min(1).max(100).default(50).describe('How many messages at most'),
        },
      },
      () => ({
        content: [{ type: 'text', text: JSON.stringify([{ name: '#lobby', users: 1, topic: '' }], null, 2) }],
      }),
    );
  }
  return server;
}

const http = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const server = toolServer();
  // biome-ignore lint/suspicious/noExplicitAny: its own types disagree under exact optional properties
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true }) as any;
  response.on('close', () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response, JSON.parse(Buffer.concat(chunks).toString()));
});
http.listen(0, '127.0.0.1', () => {
  process.send!({ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` });
});
