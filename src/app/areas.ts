import type { NickWallets } from '../auth/nick-wallets.js';
import { mcpArea } from '../mcp/area.js';
import { channelsArea } from '../operations/channels/area.js';
import { createChannelKeeping } from '../operations/channels/bot.js';
import { deliberationArea } from '../operations/deliberation/area.js';
import { deliveryArea } from '../operations/delivery/area.js';
import { identityArea } from '../operations/identity/area.js';
import { incidentsArea } from '../operations/incidents/area.js';
import { marketplaceArea } from '../operations/marketplace/area.js';
import { moderationArea } from '../operations/moderation/area.js';
import { networkArea } from '../operations/network/area.js';
import { paymentsArea } from '../operations/payments/area.js';
import { reputationArea } from '../operations/reputation/area.js';
import { verificationArea } from '../operations/verification/area.js';
import { docsArea } from '../pages/docs-area.js';
import type { Area, AreaParts } from './area.js';
import { createWallets, doorsArea } from './doors-area.js';

/** Every area of the service, put together. */
export function createAreas(parts: AreaParts): { areas: Area[]; signers: NickWallets } {
  const credentials = createWallets(parts);
  const { wallets } = credentials;
  const identity = identityArea(parts, wallets);
  const keeping = createChannelKeeping(parts.config, { ...parts, observe: parts.metrics.network });
  const areas: Area[] = [
    networkArea(parts),
    deliveryArea(parts),
    channelsArea(parts, keeping),
    marketplaceArea(parts),
    moderationArea(parts, keeping),
    reputationArea(parts),
    incidentsArea(parts),
    verificationArea(parts),
    identity,
    paymentsArea(parts),
    deliberationArea(parts),
  ];
  const mcp = mcpArea(parts, wallets);
  const doors = doorsArea(parts, { ...credentials, table: mcp.table });
  return { areas: [...areas, mcp, doors, docsArea(parts)], signers: identity.signers };
}
