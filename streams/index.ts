import { channels } from './channels/facts.js';
import type { StreamDefinition } from './core/index.js';
import { delivery } from './delivery/facts.js';
import { irc } from './irc/facts.js';
import { market } from './market/facts.js';
import { operations } from './operations/facts.js';

/** Every stream of the service. */
export const streams: StreamDefinition[] = [market, delivery, channels, irc, operations];
