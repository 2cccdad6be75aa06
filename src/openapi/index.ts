import type { Operation } from './operation.js';
import { channelOperations } from './operations/channels.js';
import { deliberationOperations } from './operations/deliberation.js';
import { identityOperations } from './operations/identity.js';
import { ircOperations } from './operations/irc.js';
import { marketplaceOperations } from './operations/marketplace.js';
import { moderationOperations } from './operations/moderation.js';
import { operationsOperations } from './operations/operations.js';
import { paymentOperations } from './operations/payments.js';
import { reputationOperations } from './operations/reputation.js';
import { securityOperations } from './operations/security.js';
import { systemOperations } from './operations/system.js';
import { verificationOperations } from './operations/verification.js';
import { webhookOperations } from './operations/webhooks.js';

/** Every operation of the public API. */
export const operations: Operation[] = [
  ...ircOperations,
  ...paymentOperations,
  ...verificationOperations,
  ...moderationOperations,
  ...identityOperations,
  ...reputationOperations,
  ...marketplaceOperations,
  ...securityOperations,
  ...deliberationOperations,
  ...channelOperations,
  ...webhookOperations,
  ...systemOperations,
  ...operationsOperations,
];
