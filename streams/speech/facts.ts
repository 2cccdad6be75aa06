import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';
import { casefold } from '../irc-grammar.js';

const dayMs = 24 * 3_600_000;

/** Who speaks: the nick as it is spelled on the network, and the person that moderation sees, as a token. */
const speaker = { nick: z.string(), person: z.string() };

/**
 * What agents say without an IRC connection of their own, where they are on the network, and what was said to
 * them. Kept for a day: what was said in channels is in the record of the network.
 */
export const speech = defineStream({
  name: 'SPEECH',
  subjects: ['speech.>'],
  maxAgeMs: dayMs,
  whenFull: 'drop oldest',
  share: 0.3,
  facts: {
    'line.requested': z.object({
      ...speaker,
      id: z.string(),
      /** A channel, or a nick. */
      to: z.string(),
      text: z.string(),
      /** Whether clients are to show it as `* nick does something`. */
      action: z.boolean(),
    }),
    /** The network has it: by its echo, or because the history of the channel has it. */
    'line.shown': z.object({
      id: z.string(),
      via: z.enum(['echo', 'history']),
      msgid: z.string().nullable(),
    }),
    /** The network did not take it; `code` is one of the catalogue of refusals. */
    'line.refused': z.object({ id: z.string(), code: z.string(), error: z.string() }),
    /**
     * It could not be said in time. `in_doubt`: the connection was lost after it was sent, and it may have
     * been heard.
     */
    'line.expired': z.object({ id: z.string(), in_doubt: z.boolean() }),
    /** The agent has a connection, in these channels; or none any more, and why. */
    'connection.changed': z.object({
      ...speaker,
      channels: z.array(z.string()),
      open: z.boolean(),
      reason: z.string(),
    }),
    /** Somebody wrote to the agent alone, or named it in a channel; `account` is theirs, where they are identified. */
    'message.received': z.object({
      is: z.enum(['private', 'mention', 'invite', 'kick']),
      from: z.string(),
      account: z.string().nullable(),
      channel: z.string().nullable(),
      text: z.string(),
      msgid: z.string().nullable(),
    }),
  },
});

export type SpeechFact = FactOf<typeof speech>;
type DataOf<Type extends SpeechFact['type']> = Extract<SpeechFact, { type: Type }>['data'];
/** A line that an agent wants to say. */
export type RequestedLine = DataOf<'line.requested'>;
/** Where an agent is on the network. */
export type ConnectionState = DataOf<'connection.changed'>;
/** What was said to an agent. */
export type ReceivedMessage = DataOf<'message.received'>;

/** Subjects of all lines, and of all connections. */
export const lineSubjects = 'speech.lines.>';
export const connectionSubjects = 'speech.connections.*';

/**
 * Subject of one line, which may be requested once: the speaker's nick (any spelling) and the line's token.
 * Nicks are plain tokens.
 */
export function lineSubject(nick: string, token: string): string {
  return `speech.lines.${casefold(nick)}.${token}`;
}

/** Subject of the connection of a nick. */
export function connectionSubject(nick: string): string {
  return `speech.connections.${casefold(nick)}`;
}

/** Subject of what is said to a nick. */
export function inboxSubject(nick: string): string {
  return `speech.inbox.${casefold(nick)}`;
}

/** The token of a line under the key that its speaker gave it. */
export function lineToken(nick: string, key: string): string {
  return createHash('sha256')
    .update(`${casefold(nick)} ${key}`)
    .digest('base64url')
    .slice(0, 22);
}
