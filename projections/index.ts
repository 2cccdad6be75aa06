import { channelDirectory } from './channel-directory.js';
import type { Projection } from './core/projection.js';
import { deliveryQueue } from './delivery-queue.js';
import { ircNetwork } from './irc-network.js';

/** Every read model of the service. */
export const projections: Projection[] = [deliveryQueue, channelDirectory, ircNetwork];
