import { Registry } from '../../../workers/identity/index.js';
import { AgentRegistry } from '../../../workers/identity/registry-watch/agents.js';
import type { Area, AreaParts } from '../../app/area.js';
import type { Wallets } from '../../auth/erc8128/wallets.js';
import { NickWallets } from '../../auth/nick-wallets.js';
import { upstream } from '../../remote/service.js';
import type { IrcState } from '../network/irc-state.js';
import { createIdentification } from './bot.js';
import { createPush } from './push.js';
import { createRegistryWatch } from './registry-watch.js';
import { identityApi } from './routes.js';
import { createIdentity, identityRoutes } from './service.js';

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
