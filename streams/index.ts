import { certificates } from './certificates/facts.js';
import { channels } from './channels/facts.js';
import type { StreamDefinition } from './core/index.js';
import { deliberation } from './deliberation/facts.js';
import { delivery } from './delivery/facts.js';
import { directory } from './directory/facts.js';
import { market } from './events/facts.js';
import { identity } from './identity/facts.js';
import { incidents } from './incidents/facts.js';
import { keys } from './keys/facts.js';
import { audit } from './marketplace/index.js';
import { moderation } from './moderation/facts.js';
import { irc } from './network/facts.js';
import { operations } from './operations/facts.js';
import { payments } from './payments/facts.js';
import { producers } from './producers/facts.js';
import { reputation } from './reputation/facts.js';
import { connections, inbox, speech } from './speech/facts.js';
import { agents } from './verification/facts.js';
import { webhookDeliveries, webhooks } from './webhooks/facts.js';

/** Every stream of the service. */
export const streams: StreamDefinition[] = [
  market,
  delivery,
  channels,
  irc,
  operations,
  audit,
  identity,
  reputation,
  moderation,
  incidents,
  certificates,
  agents,
  payments,
  deliberation,
  keys,
  producers,
  speech,
  connections,
  inbox,
  webhooks,
  webhookDeliveries,
  directory,
];
