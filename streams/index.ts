import type { StreamDefinition } from './core/index.js';
import { delivery } from './delivery/facts.js';
import { market } from './market/facts.js';
import { operations } from './operations/facts.js';

/** Every stream of the service. */
export const streams: StreamDefinition[] = [market, delivery, operations];
