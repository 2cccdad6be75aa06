import type { guardianRoutes } from '../../services/guardian.js';
import type { identityRoutes } from '../../services/identity.js';
import type { ircReadRoutes } from '../../services/irc-reads.js';
import type { reputationRoutes } from '../../services/reputation.js';
import type { Reply, Service } from '../../services/service.js';
import type { Gateway } from '../gateway.js';
import type { Tool } from '../tool.js';
import { deliberationTools } from './deliberation.js';
import { healthTools } from './health.js';
import { identityTools } from './identity.js';
import { marketplaceTools } from './marketplace.js';
import { moderationTools } from './moderation.js';
import { networkTools } from './network.js';
import { paymentTools } from './payments.js';
import { reputationTools } from './reputation.js';
import { securityTools } from './security.js';
import { verificationTools } from './verification.js';

/** What the tools ask. */
export interface ToolSources {
  bridge: Service<typeof ircReadRoutes>;
  identity: Pick<Service<typeof identityRoutes>, 'byNick' | 'byWallet'>;
  reputation: Service<typeof reputationRoutes>;
  guardian: Pick<Service<typeof guardianRoutes>, 'statistics' | 'incidents' | 'reputation'>;
  health: Record<string, () => Promise<Reply>>;
  gateway: Gateway;
}

/** Every tool that is served over HTTP, in the order in which it is listed. */
export function everyTool(sources: ToolSources): Tool[] {
  const { bridge, identity, reputation, guardian, health, gateway } = sources;
  return [
    ...networkTools(bridge, reputation),
    ...paymentTools(gateway),
    ...moderationTools(guardian),
    ...verificationTools(gateway),
    ...healthTools(health),
    ...identityTools(identity),
    ...reputationTools(reputation),
    ...securityTools(gateway),
    ...deliberationTools(gateway),
    ...marketplaceTools(gateway),
  ];
}
