import { z } from 'zod';
import { channelTypes } from '../../../streams/channels/index.js';

/** Parameters that many tools have, with the words that an agent reads. */
export const nick = z.string().min(1).max(30).describe('IRC nick, case-insensitive');
export const channel = z
  .string()
  .min(1)
  .max(64)
  .transform((name) => name.replace(/^#/, ''))
  .describe('Channel name; a leading # is optional');
export const limit = (most: number, preset: number, of: string) =>
  z.int().min(1).max(most).default(preset).describe(`How many ${of} at most`);
export const channelType = z.enum(channelTypes);
