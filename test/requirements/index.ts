import { house } from './house.js';
import { log } from './log.js';
import { queue } from './queue.js';
import { routing } from './routing.js';

/** Every testable sentence of the contract, by id; tests name the ids they prove. */
export const requirements: Record<string, string> = { ...house, ...log, ...queue, ...routing };
