import { channelDirectory } from './channels/directory.js';
import type { Projection } from './core/projection.js';
import { deliberations } from './deliberation/fold.js';
import { deliveryQueue } from './delivery/fold.js';
import { agentDirectory } from './directory/fold.js';
import { floorModel } from './floor/fold.js';
import { identityLinks } from './identity/links.js';
import { incidentRecords } from './incidents/tables.js';
import { agentKeys } from './keys.js';
import { auditLog } from './marketplace.js';
import { moderationModel } from './moderation/fold.js';
import { ircNetwork } from './network/tables.js';
import { paidSessions } from './payments/fold.js';
import { reputations } from './reputation/tables.js';
import { agentRegistry } from './verification.js';

/** Every read model of the service. */
export const projections: Projection[] = [
  deliveryQueue,
  channelDirectory,
  ircNetwork,
  auditLog,
  reputations,
  incidentRecords,
  agentRegistry,
  identityLinks,
  moderationModel,
  paidSessions,
  deliberations,
  agentKeys,
  agentDirectory,
  floorModel,
];
