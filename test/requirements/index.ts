import { api } from './api.js';
import { channels } from './channels.js';
import { doctor } from './doctor.js';
import { faults, scaling } from './faults.js';
import { house } from './house.js';
import { ircNetwork } from './irc.js';
import { log } from './log.js';
import { operate } from './operate.js';
import { queue } from './queue.js';
import { readModels } from './read-models.js';
import { routing } from './routing.js';
import { start } from './start.js';
import { webhook } from './webhook.js';
import { workers } from './workers.js';

/** Every testable sentence of the contract, by id; tests name the ids they prove. */
export const requirements: Record<string, string> = {
  ...api,
  ...channels,
  ...faults,
  ...doctor,
  ...house,
  ...ircNetwork,
  ...log,
  ...operate,
  ...queue,
  ...readModels,
  ...routing,
  ...start,
  ...scaling,
  ...webhook,
  ...workers,
};
