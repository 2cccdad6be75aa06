import { channelOperations } from '../operations/channels/description.js';
import { deliberationOperations } from '../operations/deliberation/description.js';
import { webhookOperations } from '../operations/events/description.js';
import { identityOperations } from '../operations/identity/description.js';
import { operations as values } from '../operations/index.js';
import { moderationOperations } from '../operations/moderation/description.js';
import { ircOperations } from '../operations/network/description.js';
import { paymentOperations } from '../operations/payments/description.js';
import { systemOperations } from '../operations/system/description.js';
import { operationsOperations } from '../operations/system/ops-description.js';
import { verificationOperations } from '../operations/verification/description.js';
import { descriptionOf } from './describe.js';
import type { Description } from './description.js';

/** Every operation of the public API. */
export const operations: Description[] = [
  ...values.filter(({ http }) => http).map(descriptionOf),
  ...ircOperations,
  ...paymentOperations,
  ...verificationOperations,
  ...moderationOperations,
  ...identityOperations,
  ...deliberationOperations,
  ...channelOperations,
  ...webhookOperations,
  ...systemOperations,
  ...operationsOperations,
];
