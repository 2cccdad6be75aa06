import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  GetPromptRequestSchema,
  type Tool as ListedTool,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type ReadResourceResult,
  type ServerResult,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { CheckedServer, instructions, serverInfo } from './server.js';
import { Subscriptions, type WatchLines } from './subscriptions.js';
import { type Tool, ToolTable } from './tools.js';

/** One JSON-RPC request to the `/mcp` of a running service. Resolves with its result, or throws its error. */
export type AskService = (method: string, params: Record<string, unknown>) => Promise<unknown>;

/**
 * The tool server for an MCP client on this machine: the running service's tools, prompts and resources, and the tools
 * that are only for operators. It lives as long as the client's session, so that channels can be subscribed to.
 */
export function createStdioToolServer(ask: AskService, own: readonly Tool[], watch: WatchLines): Server {
  const table = new ToolTable(own);
  const names = new Set(own.map(({ name }) => name));
  const caller = { is: 'key', actor: 'local' } as const;
  const capabilities = { tools: {}, prompts: {}, resources: { subscribe: true } };
  const server = new CheckedServer(serverInfo, { capabilities, instructions });
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    const { tools } = (await ask('tools/list', {})) as { tools: ListedTool[] };
    return { tools: [...tools, ...table.list('keyed')] };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const { name, arguments: given = {} } = params;
    if (names.has(name)) return await table.call(name, given, caller);
    return (await ask('tools/call', { name, arguments: given })) as CallToolResult;
  });
  for (const schema of [
    ListPromptsRequestSchema,
    GetPromptRequestSchema,
    ListResourcesRequestSchema,
    ListResourceTemplatesRequestSchema,
    ReadResourceRequestSchema,
  ])
    server.setRequestHandler(
      schema,
      async ({ method, params = {} }: { method: string; params?: Record<string, unknown> }) =>
        (await ask(method, params)) as ServerResult,
    );
  const subscriptions = new Subscriptions({
    watch,
    read: async (uri) => (await ask('resources/read', { uri })) as ReadResourceResult,
    tell: (uri) => server.sendResourceUpdated({ uri }),
    ended: (error) => server.onerror?.(error),
  });
  server.setRequestHandler(SubscribeRequestSchema, async ({ params }) => await subscriptions.add(params.uri));
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => subscriptions.remove(params.uri));
  server.onclose = () => subscriptions.close();
  return server;
}
