import type { NickWallets } from '../../auth/nick-wallets.js';
import { createChannelKeeping } from '../bots/channels.js';
import type { Area, AreaParts } from './area.js';
import { channelsArea } from './channels.js';
import { deliberationArea } from './deliberation.js';
import { deliveryArea } from './delivery.js';
import { directoryArea } from './directory.js';
import { createWallets, doorsArea } from './doors.js';
import { identityArea } from './identity.js';
import { incidentsArea } from './incidents.js';
import { keysArea } from './keys.js';
import { marketplaceArea } from './marketplace.js';
import { mcpArea } from './mcp.js';
import { moderationArea } from './moderation.js';
import { networkArea } from './network.js';
import { oauthArea } from './oauth.js';
import { docsArea } from './pages.js';
import { paymentsArea } from './payments.js';
import { reputationArea } from './reputation.js';
import { speechArea } from './speech.js';
import { verificationArea } from './verification.js';
import { webhooksArea } from './webhooks.js';

/** Every area of the service, put together. */
export function createAreas(parts: AreaParts): { areas: Area[]; signers: NickWallets } {
  const credentials = createWallets(parts);
  const { wallets } = credentials;
  const directory = directoryArea(parts);
  const identity = identityArea(parts, wallets, directory.commands);
  const keys = keysArea(parts);
  const keeping = createChannelKeeping(parts.config, { ...parts, observe: parts.metrics.network });
  const areas: Area[] = [
    networkArea(parts, directory.among),
    deliveryArea(parts),
    channelsArea(parts, keeping),
    marketplaceArea(parts),
    moderationArea(parts, keeping),
    reputationArea(parts),
    incidentsArea(parts),
    verificationArea(parts),
    identity,
    directory,
    keys,
    speechArea(parts),
    webhooksArea(parts),
    paymentsArea(parts),
    deliberationArea(parts),
  ];
  const mcp = mcpArea(parts, wallets);
  const doors = doorsArea(parts, { ...credentials, table: mcp.table });
  const oauth = oauthArea(parts, { nonces: credentials.nonces, agentKeys: keys.parts.keys });
  return { areas: [...areas, mcp, doors, oauth, docsArea(parts)], signers: identity.signers };
}
