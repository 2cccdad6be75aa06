import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  type Tool as ListedTool,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { CheckedServer, serverInfo } from './server.js';
import { type Tool, ToolTable } from './tools.js';

/** One JSON-RPC request to the `/mcp` of a running service. Resolves with its result, or throws its error. */
export type AskService = (method: string, params: Record<string, unknown>) => Promise<unknown>;

/**
 * The tool server for an MCP client on this machine: the running service's tools, and those that are only for
 * operators.
 */
export function createLocalToolServer(ask: AskService, own: readonly Tool[]): Server {
  const table = new ToolTable(own);
  const names = new Set(own.map(({ name }) => name));
  const caller = { is: 'key', actor: 'local' } as const;
  const server = new CheckedServer(serverInfo, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    const { tools } = (await ask('tools/list', {})) as { tools: ListedTool[] };
    return { tools: [...tools, ...table.list('keyed')] };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const { name, arguments: given = {} } = params;
    if (names.has(name)) return await table.call(name, given, caller);
    return (await ask('tools/call', { name, arguments: given })) as CallToolResult;
  });
  return server;
}
