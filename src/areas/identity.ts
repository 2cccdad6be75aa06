import { Registry } from '../../workers/identify/index.js';
import { AgentRegistry } from '../../workers/watch-registry/agents.js';
import { identityApi } from '../api/identity.js';
import type { Wallets } from '../auth/erc8128/wallets.js';
import { NickWallets } from '../auth/nick-wallets.js';
import { createIdentification } from '../bots/identity.js';
import { createPush } from '../bots/push-identity.js';
import { createRegistryWatch } from '../bots/watch-registry.js';
import { createIdentity, identityRoutes } from '../services/identity.js';
import type { IrcState } from '../services/irc-state.js';
import { upstream } from '../services/service.js';
import type { Area, AreaParts } from './area.js';

/** Nicks and their wallets: the registry, the bot that people link with, who is told of changes, and who acts for whom. */
export function identityArea(parts: AreaParts, wallets: Wallets): Area & { signers: NickWallets } {
  const { config, log, logger, readModels, keys, startedAt } = parts;
  const { CHAIN_RPC_URL: rpcUrl, ERC8004_REGISTRY: address } = config;
  const agents = rpcUrl && address ? new AgentRegistry({ rpcUrl, address }) : undefined;
  const registry = new Registry({ log, logger, agents });
  const bot = createIdentification(config, { ...parts, registry });
  const service = createIdentity({
    readModels,
    registry,
    irc: async () => (await bot.lease.holderState()) as IrcState | undefined,
    startedAt,
  });
  const mrserv = upstream('mrserv', identityRoutes, {
    url: config.MRSERV_URL,
    timeoutMs: config.PROXY_TIMEOUT,
    service,
  });
  const push = createPush(config, parts);
  const signers = new NickWallets({ wallets, identity: mrserv });
  return {
    signers,
    services: [{ name: 'mrserv', routes: identityRoutes, operations: service }],
    upstreams: { identity: mrserv },
    health: { mrserv: () => mrserv.health() },
    api: async (server) => {
      await server.register(identityApi, { identity: mrserv, keys, signers });
    },
    bots: [bot],
    workers: push ? [push] : [],
    schedules: agents ? [createRegistryWatch(config, { ...parts, registry, agents })] : [],
  };
}
