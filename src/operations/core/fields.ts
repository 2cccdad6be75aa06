import { z } from 'zod';
import { isChannel, isNick, nickGrammar, withHash } from '../../../streams/irc-grammar.js';

/** A text as answers have it, with an example. */
export const text = (example: string) => z.string().meta({ example });

/** A time as answers have it. */
export const Time = text('2026-01-31T12:00:00.000Z').meta({ format: 'date-time' });
/** How long, in answers: in seconds. */
export const seconds = z.number().meta({ description: 'Seconds', example: 86_400 });
/** A nick as answers have it. */
export const nickname = text('alice');
/** A channel as answers have it. */
export const channelName = text('#lobby');
/** The form of an Ethereum address. */
export const addressForm = '^0x[0-9a-fA-F]{40}$';
/** An Ethereum address as answers have it. */
export const walletAddress = text('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed');

/** The state of an event, or of one of its lines, in answers. */
export const EventStatus = z.enum(['pending', 'delivered', 'dead_letter', 'expired']);
/** What became of an event in each of its channels, in answers. */
export const lineStates = z.array(
  z.object({
    channel: text('#bounties'),
    status: EventStatus.meta({ example: 'delivered' }),
    at: Time.nullable().describe('When the line was shown, or last refused'),
    failures: z
      .int()
      .meta({ example: 0 })
      .describe('How often the network refused the line that is not shown'),
  }),
);

/** A nick as callers give it. */
export const Nick = z.string().refine(isNick, 'must be an IRC nick of 1 to 30 characters').meta({
  description: 'IRC nick, case-insensitive',
  minLength: 1,
  maxLength: 30,
  form: nickGrammar.source,
  example: 'alice',
});

/** The same where any text is taken for one. */
export const AnyNick = z.string().min(1).max(30).describe('IRC nick, case-insensitive');

/** A channel as callers give it, with or without its `#`; it comes out with it. */
export const Channel = z
  .string()
  .transform(withHash)
  .refine(isChannel, 'must be the name of an IRC channel')
  .meta({
    description: 'Channel name, case-insensitive; a leading # is optional',
    maxLength: 200,
    form: '^(#[^\\x00-\\x20,\\x7f]+|[^#\\x00-\\x20,\\x7f][^\\x00-\\x20,\\x7f]*)$',
    example: 'lobby',
  });

/** A channel in an address, whether there is one or not. */
export const ChannelPath = z.string().min(1).meta({
  description: 'Channel name, in any case; # is optional, %23 in a path',
  example: 'lobby',
});

/** So many entries of a list at most are wanted. */
export const limit = (most: number, preset: number, of: string) =>
  z.int().min(1).max(most).default(preset).describe(`How many ${of} at most`);
/** Where the next page of a list begins, the newest first. */
export const before = z.int().min(1).optional().describe('Only those with a smaller id');
