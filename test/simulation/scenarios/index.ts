import type { Scenario } from '../scenario.js';
import { channels } from './channels.js';
import { deliberation } from './deliberation.js';
import { delivery } from './delivery.js';
import { floor } from './floor.js';
import { groups } from './groups.js';
import { guard } from './guard.js';
import { identity } from './identity.js';
import { log } from './log.js';
import { payments } from './payments.js';
import { persons } from './persons.js';
import { projector } from './projector.js';
import { record } from './record.js';
import { reputation } from './reputation.js';
import { sessions } from './sessions.js';
import { speech } from './speech.js';
import { webhooks } from './webhooks.js';

/** All scenarios, the smallest parts of the product first. */
export const scenarios: readonly Scenario[] = [
  log,
  identity,
  webhooks,
  reputation,
  deliberation,
  projector,
  sessions,
  record,
  groups,
  floor,
  channels,
  payments,
  speech,
  guard,
  persons,
  delivery,
];
