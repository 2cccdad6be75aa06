import { neededText } from '../core/command.js';
import { serviceOptions } from './client.js';

/** What the help of commands says that let something go on without a fact. */
export const skipDetails =
  'What is skipped is recorded with its reason and with the name of the key that asked for it.';

/** The options of these commands, after those that name the fact. */
export const skipOptions = { reason: neededText('TEXT', 'why it may be left out'), ...serviceOptions };
