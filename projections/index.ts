import type { Projection } from './core/projection.js';
import { deliveryQueue } from './delivery-queue.js';

/** Every read model of the service. */
export const projections: Projection[] = [deliveryQueue];
