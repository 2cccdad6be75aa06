import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';
import { casefold } from '../irc-grammar.js';

const dayMs = 24 * 3_600_000;

/** Who speaks: the nick as it is spelled on the network, and the person that moderation sees, as a token. */
const speaker = { nick: z.string(), person: z.string() };

/** Where an agent is on the network. */
const connectionState = z.object({
  ...speaker,
  channels: z.array(z.string()),
  open: z.boolean(),
  reason: z.string(),
  /** Who uses it: the actors of facts; in older facts each had a fact of its own. */
  users: z.array(z.string()).default([]),
  /** It says that it is away, since then (ISO 8601); null while it does not. */
  away: z.object({ message: z.string(), since: z.string() }).nullable().default(null),
});

/**
 * Somebody wrote to the agent alone, or named or answered it in a channel; `account` is theirs, where they are identified.
 */
const receivedMessage = z.object({
  is: z.enum(['private', 'mention', 'invite', 'kick']),
  from: z.string(),
  account: z.string().nullable(),
  channel: z.string().nullable(),
  text: z.string(),
  msgid: z.string().nullable(),
  /** The groups that the line addresses, as it spells them: the agent is one of them. */
  group: z.string().optional(),
  /** The msgid of the agent's own line that it answers. */
  reply_to: z.string().optional(),
  /** The person who had the nick, as a token. Older facts do not say it. */
  person: z.string().optional(),
});

/**
 * What agents say without an IRC connection of their own. Kept for a day: what was said in channels is in the record of
 * the network. Connections and inboxes were here before they had streams of their own.
 */
export const speech = defineStream({
  name: 'SPEECH',
  description: 'What agents say without an IRC connection of their own.',
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
      /** The line that it answers, as it was named; its msgid, where the network gave it one. */
      reply_to: z.object({ line: z.string(), msgid: z.string().nullable() }).optional(),
    }),
    /** The network has it: by its echo, or because the history of the channel has it. */
    'line.shown': z.object({
      id: z.string(),
      via: z.enum(['echo', 'history']),
      msgid: z.string().nullable(),
      /** It answers a line, and the network did not carry that. */
      unanswered: z.literal(true).optional(),
    }),
    /** The network did not take it; `code` is one of the catalogue of refusals. */
    'line.refused': z.object({ id: z.string(), code: z.string(), error: z.string() }),
    /**
     * It could not be said in time. `in_doubt`: the connection was lost after it was sent, and it may have
     * been heard.
     */
    'line.expired': z.object({ id: z.string(), in_doubt: z.boolean() }),
    'connection.changed': connectionState,
    'message.received': receivedMessage,
  },
});

/** Where agents are on the network: the last state of each. It is recorded again while it lasts. */
export const connections = defineStream({
  name: 'CONNECTIONS',
  description: 'Where agents are on the network: the last state of each.',
  subjects: ['connections.>'],
  maxAgeMs: dayMs,
  whenFull: 'drop oldest',
  mostOfSubject: 1,
  share: 0.05,
  facts: {
    /** The agent has a connection, in these channels; or none any more, and why. One that was idle comes back into them. */
    'connection.changed': connectionState,
  },
});

/**
 * What was said to agents. Each has so much of it, and no other: whoever is written to much loses the oldest of that, and
 * nobody loses anything by what is said to others.
 */
export const inbox = defineStream({
  name: 'INBOX',
  description: 'What was said to agents, the last messages of each.',
  subjects: ['inbox.>'],
  maxAgeMs: dayMs,
  whenFull: 'drop oldest',
  mostOfSubject: 200,
  share: 0.5,
  countsOn: speech.name,
  facts: { 'message.received': receivedMessage },
});

export type SpeechFact = FactOf<typeof speech>;
type DataOf<Type extends SpeechFact['type']> = Extract<SpeechFact, { type: Type }>['data'];
/** A line that an agent wants to say. */
export type RequestedLine = DataOf<'line.requested'>;
/** Where an agent is on the network. */
export type ConnectionState = DataOf<'connection.changed'>;
/** What was said to an agent. */
export type ReceivedMessage = DataOf<'message.received'>;
/** What an agent is shown of a text that it heard in a channel; null: in private. */
export type HeardText = (channel: string | null, text: string) => string;

/**
 * Whether a reader may see a message of an inbox. The message must have been for the same person, because somebody
 * else may have the nick now. An operator gives no `reader`, and sees every message.
 */
export function isFor(
  { person }: Pick<ReceivedMessage, 'person'>,
  reader: string | null | undefined,
): boolean {
  return reader == null || person === undefined || person === reader;
}

/** Subjects of all lines, and of all connections: where they are, and where they were before. */
export const lineSubjects = 'speech.lines.>';
export const connectionSubjects = { now: 'connections.*', before: 'speech.connections.*' };

/**
 * Subject of one line, which may be requested once: the speaker's nick (any spelling) and the line's token.
 * Nicks are plain tokens.
 */
export function lineSubject(nick: string, token: string): string {
  return `speech.lines.${casefold(nick)}.${token}`;
}

/** Subject of the connection of a nick. */
export function connectionSubject(nick: string): string {
  return `connections.${casefold(nick)}`;
}

/** Subjects of what is said to a nick: where it is, and where it was before. */
export function inboxSubjects(nick: string): { now: string; before: string } {
  const key = casefold(nick);
  return { now: `inbox.${key}`, before: `speech.inbox.${key}` };
}

/** The token of a line under the key that its speaker gave it. */
export function lineToken(nick: string, key: string): string {
  return createHash('sha256')
    .update(`${casefold(nick)} ${key}`)
    .digest('base64url')
    .slice(0, 22);
}
