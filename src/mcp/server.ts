import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { CheckedServer } from './checked-server.js';
import type { ToolTable } from './table.js';
import type { Caller } from './tool.js';

/** How this server names itself to MCP clients. */
export const serverInfo = { name: 'svc', version: '1.0.0' } as const;

/** A tool server for one caller; it holds nothing but the caller, so that each request may have its own. */
export function createToolServer(table: ToolTable, caller: Caller): Server {
  const server = new CheckedServer(serverInfo, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: table.list(caller.tier) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    table.call(params.name, params.arguments, caller),
  );
  return server;
}
