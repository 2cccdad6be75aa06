import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';

/** Time by the IRC server's clock, in milliseconds since 1970. */
const at = z.int().nonnegative();

/** Who did it, as the server showed them. */
const who = {
  nick: z.string(),
  /** `user@host`; absent where the server itself did it. */
  host: z.string().optional(),
  /**
   * The account they were identified with at that moment; absent without one, or when the server does not
   * tell.
   */
  account: z.string().optional(),
};

/** Something that was seen in a channel. */
const sighting = z.discriminatedUnion('is', [
  /** A line of text; `action` is what clients show as `* nick does something`. */
  z.object({
    is: z.enum(['message', 'action', 'notice']),
    at,
    ...who,
    text: z.string(),
    msgid: z.string().optional(),
    /** The msgid of the line that it answers, by the word of whoever said it (`+draft/reply`). */
    reply_to: z.string().optional(),
    /** The channel was closed to the public when the line was said. */
    private: z.literal(true).optional(),
    /**
     * The network said with the line that they are marked as a program (`+B`). A replayed history does not
     * say this.
     */
    bot: z.literal(true).optional(),
  }),
  z.object({ is: z.literal('join'), at, ...who }),
  z.object({ is: z.enum(['part', 'quit']), at, ...who, reason: z.string() }),
  z.object({ is: z.literal('kick'), at, ...who, kicked: z.string(), reason: z.string() }),
  z.object({ is: z.literal('nick'), at, ...who, to: z.string() }),
  /** They said that they are away; without a message, that they are back. */
  z.object({ is: z.literal('away'), at, ...who, message: z.string().optional() }),
  z.object({ is: z.literal('topic'), at, ...who, text: z.string() }),
  /** `change` with its parameters, and the letters of the channel's own modes that are set after it. */
  z.object({ is: z.literal('mode'), at, ...who, change: z.string(), modes: z.string() }),
  /**
   * The present channel: members with their prefix before the nick (`@alice`), mode letters, topic (may be
   * empty).
   */
  z.object({
    is: z.literal('snapshot'),
    at,
    members: z.array(z.string()),
    modes: z.string(),
    topic: z.string(),
    /** We were there since the last snapshot, and saw everybody come and go; absent in older facts. */
    continues: z.literal(true).optional(),
  }),
  /** We left the channel; what happens from here on is not seen. */
  z.object({ is: z.literal('left'), at, reason: z.string() }),
  /** What happened between these times is not known, or not completely. */
  z.object({ is: z.literal('gap'), at, from: at, to: at }),
]);

const days30 = 30 * 24 * 3_600_000;

/** What was seen on the IRC network: observations. When the stream is full, the oldest are dropped. */
export const irc = defineStream({
  name: 'IRC',
  description: 'What was seen on the IRC network: observations, in the order of each channel.',
  essential: true,
  subjects: ['irc.>'],
  maxAgeMs: days30,
  whenFull: 'drop oldest',
  share: 2,
  facts: {
    /** Some of what was seen in one channel, in order: one sighting in quiet times, hundreds in busy ones. */
    'channel.observed': z.object({
      /** Name with `#`, as the network spelled it. */
      channel: z.string(),
      /** Lines in the whole stream before this fact. So they still count when their facts are long gone. */
      lines_before: z.int().nonnegative(),
      /** The channel's last line before this fact, if the fact itself has none. */
      last_line: z.object({ at, msgid: z.string().optional() }).optional(),
      /**
       * Up to this time, all that was seen in any channel is on the log. Absent where that is so up to this fact.
       */
      complete_until: at.optional(),
      /** Whether the channel is closed to the public after this fact; absent if nobody knew. */
      closed: z.boolean().optional(),
      /** The sequence of the fact that created the managed channel; absent if nobody created it. */
      life: z.int().positive().optional(),
      seen: z.array(sighting).min(1),
    }),
  },
});

export type IrcFact = FactOf<typeof irc>;
/** One of the things that were seen in a channel, in the order of the channel. */
export type Sighting = z.output<typeof sighting>;
/** A sighting that is a line of text. */
export type LineSighting = Extract<Sighting, { text: string; is: 'message' | 'action' | 'notice' }>;
