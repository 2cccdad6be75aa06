import { Agent } from '../../a2a/agent.js';
import { a2aRoutes } from '../../a2a/http.js';
import { Tasks } from '../../a2a/tasks.js';
import { Nonces } from '../../auth/erc8128/nonces.js';
import { Wallets } from '../../auth/erc8128/wallets.js';
import { ircAddress } from '../../config/irc-address.js';
import { authRoutes } from '../../http/nonces.js';
import type { ToolTable } from '../../mcp/tools.js';
import { documentsOf } from '../../pages/discovery/documents.js';
import { doorsOf } from '../../pages/discovery/doors.js';
import type { EventTerms } from '../../pages/discovery/event-terms.js';
import { Skill } from '../../pages/discovery/skill.js';
import { lobby, skillTerms } from '../../pages/discovery/skill-terms.js';
import { discoveryRoutes } from '../../pages/documents-routes.js';
import { frontRoutes } from '../../pages/front-routes.js';
import { skillRoutes } from '../../pages/skill-routes.js';
import type { Area, AreaParts } from './area.js';

/** How wallet signatures are checked, in all areas that take them. */
export function createWallets({ config, log }: Pick<AreaParts, 'config' | 'log'>): {
  nonces: Nonces;
  wallets: Wallets;
} {
  const nonces = new Nonces({ log, replicas: config.NATS_REPLICAS });
  return { nonces, wallets: new Wallets({ publicUrl: config.PUBLIC_URL, nonces }) };
}

/** What the doors need besides what every area gets. */
export interface DoorsParts extends ReturnType<typeof createWallets> {
  /** The tools that are served, for the documents that name and count them. */
  table: ToolTable;
}

/**
 * How agents find this service and come in: credentials, the agent that others ask, and the documents about
 * all of it.
 */
export function doorsArea(parts: AreaParts, { nonces, wallets, table }: DoorsParts): Area {
  const { config, log, logger, keys } = parts;
  const { PUBLIC_URL: publicUrl, NATS_REPLICAS: replicas } = config;
  if (config.API_KEYS_FILE !== '') {
    keys.follow(
      config.API_KEYS_FILE,
      (error) => logger.error({ reason: error.message }, 'API keys not read again, the last good ones hold'),
      (risk) => logger.warn(risk),
    );
  }
  const doors = doorsOf({
    publicUrl,
    irc: ircAddress(config),
    lobby: lobby(config),
    tiers: { keyed: table.counts('keyed'), 'wallet-read': table.counts('wallet-read') },
    tools: table.list('keyed'),
    events: eventTerms(config),
    oauth: config.OAUTH,
  });
  return {
    api: async (server) => {
      const { authority } = wallets;
      await server.register(authRoutes, { nonces, authority, nonceRateLimit: config.NONCE_RATE_LIMIT });
      await server.register(frontRoutes, { doors });
      await server.register(discoveryRoutes, { documents: documentsOf(doors) });
      await server.register(skillRoutes, { skill: new Skill({ publicUrl, terms: skillTerms(config) }) });
      const agent = new Agent({ call: parts.call, tasks: new Tasks({ log, replicas }), logger });
      await server.register(a2aRoutes, { agent });
    },
  };
}

/** The terms for events, from the settings. */
export function eventTerms(config: AreaParts['config']): EventTerms {
  return {
    ttlMs: config.EVENT_TTL_MS,
    retryMs: config.EVENT_RETRY_MS,
    maxRetries: config.EVENT_MAX_RETRIES,
    schemes: config.EM_WEBHOOK_SCHEMES,
    unknown: { events: config.UNKNOWN_EVENTS, fields: config.UNKNOWN_EVENT_FIELDS },
    source: config.EM_SOURCE,
  };
}
