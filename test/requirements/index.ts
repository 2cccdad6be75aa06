import { api } from './api.js';
import { house } from './house.js';
import { log } from './log.js';
import { queue } from './queue.js';
import { readModels } from './read-models.js';
import { routing } from './routing.js';
import { webhook } from './webhook.js';
import { workers } from './workers.js';

/** Every testable sentence of the contract, by id; tests name the ids they prove. */
export const requirements: Record<string, string> = {
  ...api,
  ...house,
  ...log,
  ...queue,
  ...readModels,
  ...routing,
  ...webhook,
  ...workers,
};
