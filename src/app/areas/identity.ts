import type { Term } from '../../../workers/core/lease.js';
import { IdentityRegistry, type OtherCommand } from '../../../workers/identity/index.js';
import { PushIdentity } from '../../../workers/identity/push/index.js';
import { AgentRegistry } from '../../../workers/identity/registry-watch/agents.js';
import { WatchRegistry } from '../../../workers/identity/registry-watch/index.js';
import type { Wallets } from '../../auth/erc8128/wallets.js';
import { NickWallets } from '../../auth/nick-wallets.js';
import { nobody } from '../../operations/core/call.js';
import type { IrcState } from '../../operations/core/health.js';
import { walletChallenges } from '../../operations/identity/challenges.js';
import { getLinkOfNick, getLinkOfWallet } from '../../operations/identity/links.js';
import type { IdentityParts } from '../../operations/identity/parts.js';
import { createIdentification } from '../bots/identity.js';
import { leased } from '../bots/leased.js';
import { challengeCounts } from '../challenge-counts.js';
import type { Area, AreaParts } from './area.js';

/**
 * Nicks and their wallets: the registry, the bot for linking, the push of changes, and the rights of wallets
 * to act for nicks.
 */
export function identityArea(
  parts: AreaParts,
  wallets: Wallets,
  /** What the bot answers besides its own commands. */
  others: Readonly<Record<string, OtherCommand>>,
): Area & { signers: NickWallets } {
  const { config, log, logger, readModels, call } = parts;
  const { CHAIN_RPC_URL: rpcUrl, ERC8004_REGISTRY: address } = config;
  const agents = rpcUrl && address ? new AgentRegistry({ rpcUrl, address }) : undefined;
  const registry = new IdentityRegistry({
    log,
    logger,
    agents,
    challenges: walletChallenges(log, config.NATS_REPLICAS),
  });
  const bot = createIdentification(config, { ...parts, registry, others });
  const identity: IdentityParts['identity'] = {
    registry,
    addresses: challengeCounts(config, log, {
      name: 'RELAY_WALLET_CHALLENGE_ADDRESSES',
      description: 'Challenges of wallets, by client address.',
    }),
    irc: async () => (await bot.lease.holderState()) as IrcState | undefined,
  };
  const { EM_IDENTITY_WEBHOOK_URL: url, EM_IDENTITY_WEBHOOK_SECRET: secret, EM_SOURCE: source } = config;
  const push = ({ isSure: mayBegin }: Term) =>
    new PushIdentity({ log, logger, source, receiver: { url, secret }, mayBegin });
  const watch = (agents: AgentRegistry) => () =>
    new WatchRegistry({
      registry,
      agents,
      logger,
      read: (query) => readModels.read('identity_links', query),
    });
  return {
    signers: new NickWallets({
      wallets,
      linkOf: (nick) => call(getLinkOfNick, { nick }, nobody),
      linkOfWallet: (address) => call(getLinkOfWallet, { address }, nobody),
    }),
    parts: { identity },
    bots: [bot],
    workers: url && secret ? [leased(config, parts, 'push-identity', push)] : [],
    schedules: agents ? [leased(config, parts, 'watch-registry', watch(agents))] : [],
  };
}
