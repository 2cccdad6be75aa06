import type { Scenario } from '../scenario.js';
import { channels } from './channels.js';
import { delivery } from './delivery.js';
import { guard } from './guard.js';
import { identity } from './identity.js';
import { log } from './log.js';
import { payments } from './payments.js';
import { record } from './record.js';
import { sessions } from './sessions.js';

/**
 * All scenarios, the smallest parts of the product first. `deliberation.ts` is not among them: one seed does not always
 * give one history there yet.
 */
export const scenarios: readonly Scenario[] = [
  log,
  identity,
  sessions,
  record,
  channels,
  payments,
  guard,
  delivery,
];
