import { api } from './api.js';
import { channels } from './channels.js';
import { client } from './client.js';
import { deliberation } from './deliberation.js';
import { directory } from './directory.js';
import { doctor } from './doctor.js';
import { doors } from './doors.js';
import { faults, scaling } from './faults.js';
import { floor } from './floor.js';
import { groups } from './groups.js';
import { hostile } from './hostile.js';
import { house } from './house.js';
import { identity } from './identity.js';
import { ircNetwork } from './irc.js';
import { keys } from './keys.js';
import { log } from './log.js';
import { marketplace } from './marketplace.js';
import { mcp } from './mcp.js';
import { moderation } from './moderation.js';
import { network } from './network.js';
import { nickService } from './nick-service.js';
import { oauth } from './oauth.js';
import { openapi } from './openapi.js';
import { operate } from './operate.js';
import { payments } from './payments.js';
import { queue } from './queue.js';
import { readModels } from './read-models.js';
import { reputation } from './reputation.js';
import { routing } from './routing.js';
import { sentinel } from './sentinel.js';
import { speech } from './speech.js';
import { start } from './start.js';
import { verification } from './verification.js';
import { webhook } from './webhook.js';
import { workers } from './workers.js';

/** Sentences by area. No two areas have an id in common. */
export const areas: readonly Readonly<Record<string, string>>[] = [
  api,
  channels,
  client,
  deliberation,
  faults,
  directory,
  doctor,
  doors,
  floor,
  groups,
  hostile,
  house,
  identity,
  ircNetwork,
  keys,
  log,
  moderation,
  marketplace,
  mcp,
  network,
  nickService,
  oauth,
  openapi,
  operate,
  payments,
  queue,
  readModels,
  reputation,
  routing,
  sentinel,
  speech,
  start,
  scaling,
  verification,
  webhook,
  workers,
];

/** Every testable sentence of the contract, by id; tests name the ids they prove. */
export const requirements: Record<string, string> = Object.assign({}, ...areas);
