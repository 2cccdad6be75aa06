import type { Effects } from '../facts.js';
import { channelEffects, message } from './channels.js';
import { userEffects } from './users.js';

/** What each fact does to a server that hears of it, and the clients that are told. */
export const effects: Effects = { ...userEffects, ...channelEffects, message };
