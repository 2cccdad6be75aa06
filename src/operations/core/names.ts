import { z } from 'zod';
import { isChannel, isNick } from '../../../streams/irc-grammar.js';

/** A nick as callers give it. */
export const Nick = z
  .string()
  .refine(isNick, 'must be an IRC nick of 1 to 30 characters')
  .meta({ description: 'IRC nick, case-insensitive', minLength: 1, maxLength: 30 });

/** A channel as callers give it, with or without its `#`; it comes out with it. */
export const Channel = z
  .string()
  .transform((name) => (name.startsWith('#') ? name : `#${name}`))
  .refine(isChannel, 'must be the name of an IRC channel')
  .describe('Channel name, case-insensitive; a leading # is optional');

/** A channel in an address, whether there is one or not. */
export const ChannelPath = z
  .string()
  .min(1)
  .describe('Channel name, case-insensitive; a leading # is optional, and %23 in a path');
