import type { Scenario } from '../scenario.js';
import { channels } from './channels.js';
import { delivery } from './delivery.js';
import { guard } from './guard.js';
import { identity } from './identity.js';
import { log } from './log.js';
import { record } from './record.js';
import { sessions } from './sessions.js';

/** All scenarios, the smallest parts of the product first. */
export const scenarios: readonly Scenario[] = [log, identity, sessions, record, channels, guard, delivery];
