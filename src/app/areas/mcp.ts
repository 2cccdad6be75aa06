import { challengeHeaders } from '../../auth/challenges.js';
import type { Wallets } from '../../auth/erc8128/wallets.js';
import { mcpRoutes } from '../../mcp/http.js';
import { Resources } from '../../mcp/resources.js';
import { ToolTable, toolsOf } from '../../mcp/tools.js';
import { operations } from '../../operations/index.js';
import { Skill } from '../../pages/discovery/skill.js';
import { skillTerms } from '../../pages/discovery/skill-terms.js';
import type { Area, AreaParts } from './area.js';

/** The tools for agents. */
export function mcpArea(parts: AreaParts, wallets: Wallets): Area & { table: ToolTable } {
  const { config, logger, keys } = parts;
  const table = new ToolTable(toolsOf(operations, parts.call), {
    call: (call) => logger.info(call, 'tool call'),
    bug: (error, tool) => logger.error({ err: error, tool }, 'tool failed'),
  });
  const skill = new Skill({ publicUrl: config.PUBLIC_URL, terms: skillTerms(config) });
  const resources = new Resources({ call: parts.call, skill });
  const { host } = new URL(config.PUBLIC_URL);
  const metadata = new URL('/.well-known/oauth-protected-resource/mcp', config.PUBLIC_URL).href;
  return {
    table,
    api: async (server) => {
      await server.register(mcpRoutes, {
        table,
        resources,
        keys,
        wallets,
        challenge: (reason) => challengeHeaders(reason, { hasQuery: false, hasBody: true }, metadata),
        allowed: [host, ...config.ALLOWED_ORIGINS],
        hosts: config.ALLOWED_HOSTS,
      });
    },
  };
}
