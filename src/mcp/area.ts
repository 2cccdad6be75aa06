import type { Area, AreaParts } from '../app/area.js';
import { challengeHeaders } from '../auth/challenges.js';
import type { Wallets } from '../auth/erc8128/wallets.js';
import { type Gateway, gatewayOf } from './gateway.js';
import { mcpRoutes } from './http.js';
import { ToolTable } from './table.js';
import { everyTool } from './tools.js';

/** What the tools reach the other areas by. */
export interface McpParts {
  wallets: Wallets;
}

/** The tools for agents: they ask the other areas, or this service's own public routes. */
export function mcpArea(parts: AreaParts, { wallets }: McpParts): Area & { table: ToolTable } {
  const { config, logger, keys } = parts;
  let gateway: Gateway | undefined;
  const tools = everyTool({
    call: parts.call,
    // tools are called through the server that is told of below
    gateway: (caller, request) => gateway!(caller, request),
  });
  const table = new ToolTable(tools, {
    call: (call) => logger.info(call, 'tool call'),
    bug: (error, tool) => logger.error({ err: error, tool }, 'tool failed'),
  });
  const { host } = new URL(config.PUBLIC_URL);
  const metadata = new URL('/.well-known/oauth-protected-resource/mcp', config.PUBLIC_URL).href;
  return {
    table,
    api: async (server) => {
      gateway = gatewayOf(server);
      await server.register(mcpRoutes, {
        ...{ table, keys, wallets },
        challenge: (reason) => challengeHeaders(reason, { hasQuery: false, hasBody: true }, metadata),
        allowed: [host, ...config.ALLOWED_ORIGINS],
      });
    },
  };
}
