import { agentRegistry } from './agents.js';
import { auditLog } from './audit-log.js';
import { channelDirectory } from './channel-directory.js';
import type { Projection } from './core/projection.js';
import { deliberations } from './deliberations.js';
import { deliveryQueue } from './delivery-queue.js';
import { identityLinks } from './identity-links.js';
import { incidentRecords } from './incidents.js';
import { ircNetwork } from './irc-network.js';
import { moderationModel } from './moderation.js';
import { paidSessions } from './payments.js';
import { reputations } from './reputation.js';

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
];
