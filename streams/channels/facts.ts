import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';

/** The kinds of managed channels, in the contract's words. */
export const channelTypes = [
  'task',
  'geographic',
  'category',
  'skill',
  'relay',
  'special',
  'permanent',
] as const;
export type ChannelType = (typeof channelTypes)[number];

/** What can be done to one nick in a channel. */
export const memberActions = ['sajoin', 'sapart', 'voice', 'devoice', 'op', 'deop'] as const;
export type MemberAction = (typeof memberActions)[number];

/** Sequence of the market event that wanted it; absent when none did. */
const event_seq = z.int().positive().optional();

/** Sequence of the fact that created the channel; absent in older facts. */
const life = z.int().positive().optional();

/** Who or what wanted it: a caller of the service, a marketplace event, or time that has passed. */
const cause = z.enum(['request', 'automation', 'lifecycle']);

/** The managed channels: the wanted state of each, and what commands did in it. */
export const channels = defineStream({
  name: 'CHANNELS',
  description: 'The managed channels: the wanted state of each, and what commands did in it.',
  essential: true,
  subjects: ['channels.>'],
  facts: {
    'channel.created': z.object({
      name: z.string(),
      type: z.enum(channelTypes),
      /** Mode string with parameters, as it was asked for: `+nt`, `+ntk secret`. */
      modes: z.string(),
      topic: z.string(),
      metadata: z.record(z.string(), z.unknown()),
      /** Nicks to bring in, now or when they appear. */
      invite_list: z.array(z.string()),
      cause,
      event_seq,
    }),
    'topic.changed': z.object({ name: z.string(), topic: z.string(), life }),
    'modes.changed': z.object({
      name: z.string(),
      /** The change that was asked for. */
      change: z.string(),
      /** All modes after it. */
      modes: z.string(),
      life,
    }),
    /** Something was done to nicks in the channel; only those it worked for are named. */
    'members.changed': z.object({
      name: z.string(),
      action: z.enum(memberActions),
      nicks: z.array(z.string()).min(1),
      reason: z.string(),
      /** Absent where a caller of the service wanted it, and in older facts. */
      cause: cause.optional(),
      life,
    }),
    /**
     * Nicks that a later market event wants in the channel too. They are invited by command, now or when they
     * appear.
     */
    'members.invited': z.object({
      name: z.string(),
      nicks: z.array(z.string()).min(1),
      event_seq: z.int().positive(),
      life,
    }),
    'channel.archived': z.object({
      name: z.string(),
      reason: z.string(),
      /** When it will be deleted, ISO 8601. */
      delete_after: z.string(),
      cause,
      event_seq,
      life,
    }),
    'channel.deleted': z.object({ name: z.string(), cause, life }),
  },
});

export type ChannelFact = FactOf<typeof channels>;
/** Who or what wanted a channel created, archived or deleted. */
export type ChannelCause = z.output<typeof cause>;

/**
 * Subject of a channel. Whether its name is taken, and what may still be done to it, is decided per name.
 * Managed names have only letters, digits, `_` and `-` after the `#`.
 */
export function channelSubject(name: string): string {
  return `channels.${name.slice(1)}`;
}
