import { channelOperations } from './channels/index.js';
import type { AnyEventStream } from './core/event-stream.js';
import type { AnyOperation } from './core/operation.js';
import { deliberationOperations } from './deliberation/index.js';
import { streamQuery } from './deliberation/stream.js';
import { deliveryOperations } from './delivery/index.js';
import { directoryOperations } from './directory/index.js';
import { eventOperations } from './events/index.js';
import { identityOperations } from './identity/index.js';
import { incidentsOperations } from './incidents/index.js';
import { keysOperations } from './keys/index.js';
import { marketplaceOperations } from './marketplace/index.js';
import { moderationOperations } from './moderation/index.js';
import { networkOperations } from './network/index.js';
import { streamIrc } from './network/stream.js';
import { paymentsOperations } from './payments/index.js';
import { reputationOperations } from './reputation/index.js';
import { speechOperations } from './speech/index.js';
import { listen } from './speech/listen.js';
import { systemOperations } from './system/index.js';
import { verificationOperations } from './verification/index.js';

/** Every operation of the service, by slice. */
export const operations: readonly AnyOperation[] = [
  ...channelOperations,
  ...networkOperations,
  ...speechOperations,
  ...verificationOperations,
  ...identityOperations,
  ...keysOperations,
  ...paymentsOperations,
  ...directoryOperations,
  ...reputationOperations,
  ...marketplaceOperations,
  ...moderationOperations,
  ...incidentsOperations,
  ...eventOperations,
  ...deliveryOperations,
  ...deliberationOperations,
  ...systemOperations,
];

/** Every stream of events. */
export const eventStreams: readonly AnyEventStream[] = [streamIrc, listen, streamQuery];
