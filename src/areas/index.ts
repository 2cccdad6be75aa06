import { createChannelKeeping } from '../bots/channels.js';
import type { Area, AreaParts, Upstreams } from './area.js';
import { bridgeArea } from './bridge.js';
import { channelsArea } from './channels.js';
import { deliberationArea } from './deliberation.js';
import { docsArea } from './docs.js';
import { createWallets, doorsArea } from './doors.js';
import { identityArea } from './identity.js';
import { marketplaceArea } from './marketplace.js';
import { mcpArea } from './mcp.js';
import { moderationArea } from './moderation.js';
import { paymentsArea } from './payments.js';
import { reputationArea } from './reputation.js';
import { sentinelArea } from './sentinel.js';
import { verificationArea } from './verification.js';

/** Every area of the service, put together. */
export function createAreas(parts: AreaParts): Area[] {
  const credentials = createWallets(parts);
  const { wallets } = credentials;
  const identity = identityArea(parts, wallets);
  const keeping = createChannelKeeping(parts.config, { ...parts, observe: parts.metrics.network });
  const areas: Area[] = [
    bridgeArea(parts),
    channelsArea(parts, keeping),
    marketplaceArea(parts),
    moderationArea(parts, keeping),
    reputationArea(parts),
    sentinelArea(parts, identity.signers),
    verificationArea(parts),
    identity,
    paymentsArea(parts),
    deliberationArea(parts),
  ];
  const all = <Part extends object>(part: (area: Area) => Partial<Part> | undefined) =>
    Object.assign({}, ...areas.map(part)) as Part;
  const mcp = mcpArea(parts, {
    upstreams: all<Upstreams>(({ upstreams }) => upstreams),
    health: all<NonNullable<Area['health']>>(({ health }) => health),
    wallets,
  });
  return [...areas, mcp, doorsArea(parts, { ...credentials, table: mcp.table }), docsArea(parts)];
}
