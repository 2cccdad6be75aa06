import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';
import { casefold } from '../irc-grammar.js';

/** How serious an incident is, in the contract's words, mildest first. */
export const levels = ['LOG', 'WARN', 'MUTE', 'KICK', 'BAN'] as const;
export type Level = (typeof levels)[number];

/** What is done about an incident; `withhold` is what happens to the free text of an event. */
export const actions = ['none', 'notice', 'quiet', 'kick', 'ban', 'withhold'] as const;
export type Action = (typeof actions)[number];

/**
 * Which incident of its subject. `line:<id of the line>` or `event:<id of the event>`. For a loop:
 * `loop-warn:` or `loop-mute:`, with the id of the last line of the one whose program loops. For one that is
 * held elsewhere, its rule, where that is, and the reference of the first one: `new-account:<account>:`,
 * `no-account:host:` or `same-owner:<account>:`.
 */
const ref = z.string();
const points = z.int().min(0).max(100);

/** What moderation saw, what it did about it, and what came of that. */
export const moderation = defineStream({
  name: 'MODERATION',
  description: 'What moderation saw, what it did about it, and what came of that.',
  subjects: ['moderation.>'],
  facts: {
    /** A text that scored high enough; its sequence is the incident's id. */
    'incident.recorded': z.object({
      ref,
      /** The person whose record it goes on; null for our own bots and for events. */
      person: z.string().nullable(),
      nick: z.string(),
      host: z.string().optional(),
      account: z.string().optional(),
      channel: z.string(),
      /** It was said while the channel was closed to the public. */
      private: z.literal(true).optional(),
      /** When it was said, ISO 8601. */
      said_at: z.string(),
      /** The points that decide the level: the text's own, and some for what the person did before. */
      score: points,
      text_score: points,
      level: z.enum(levels),
      /** Ids of rules, comma-separated, heaviest first. */
      patterns: z.string(),
      /** SHA-256 of the text, in hexadecimal digits. */
      text_hash: z.string(),
      /** From WARN upwards. */
      text: z.string().optional(),
      action: z.enum(actions),
      /** How long a quiet or a ban is to last. */
      seconds: z.int().positive().optional(),
      /** Why nothing is done although the level asks for it. */
      spared: z.enum(['own bot', 'late']).optional(),
    }),
    /** What became of the action. `spared`: the network says that the person is an operator. */
    'incident.answered': z.object({
      ref,
      action: z.enum(actions),
      outcome: z.enum(['done', 'failed', 'spared']),
      error: z.string().optional(),
      /** The mask that was banned or quieted; absent if only voice was taken. */
      mask: z.string().optional(),
      /** Voice was taken besides the mask, and is given back with it. */
      voice: z.literal(true).optional(),
      /** When it will be lifted, ISO 8601. */
      until: z.string().optional(),
    }),
    /** A quiet or a ban was taken back. `outlived`: another one continues under the same mask. */
    'incident.lifted': z.object({
      ref,
      outcome: z.enum(['done', 'failed', 'outlived']),
      error: z.string().optional(),
    }),
    /** An operator says that it was not an incident. */
    'incident.pardoned': z.object({ ref, reason: z.string() }),
    /** The person concerned asks for it to be taken back; `by` names them. */
    'incident.appealed': z.object({ ref, reason: z.string() }),
    /** An operator says that it was an incident, and declines the appeal. */
    'incident.upheld': z.object({ ref, reason: z.string() }),
    /** The person was told, on the network, what an operator decided. */
    'incident.told': z.object({ ref, decision: z.enum(['pardoned', 'upheld']) }),
  },
});

export type ModerationFact = FactOf<typeof moderation>;
export type Incident = Extract<ModerationFact, { type: 'incident.recorded' }>['data'];
export type Answered = Extract<ModerationFact, { type: 'incident.answered' }>['data'];

/**
 * Who is held responsible: the account they were identified with, else the host they came from, whatever nick
 * they take. If no host is known, the nick.
 */
export function personOf({
  nick,
  host,
  account,
}: {
  nick: string;
  host?: string | undefined;
  account?: string | undefined;
}): string {
  if (account !== undefined) return `account ${casefold(account)}`;
  return host === undefined ? `nick ${casefold(nick)}` : `host ${hostOf(host)}`;
}

/** An account that was registered less than this time ago is new, in milliseconds. */
export const newAccountMs = 24 * 3_600_000;

/** Nothing is done any more about a line that was said longer ago than this, in milliseconds. */
export const lateAfterMs = 5 * 60_000;

/** Who is held responsible for what a new account does: its host, as an account costs nothing. */
export function newAccountsOf(host: string): string {
  return `host ${hostOf(host)}`;
}

/** Whether an incident is nobody's business but its channel's: rooms of tasks and relays, also where older facts do not say so. */
export function isPrivateIncident(incident: { channel: string; private?: true | undefined }): boolean {
  return incident.private === true || /^#(task|relay)-/.test(casefold(incident.channel));
}

/** Whether an incident is that of somebody who was seen: of their account, or of what `personOf` makes of them. */
export function isIncidentOf(
  incident: { person: string | null; account?: string | null | undefined },
  seen: { nick: string; host?: string | undefined; account?: string | undefined },
): boolean {
  if (incident.person === null) return false;
  if (incident.person === personOf(seen)) return true;
  return (
    seen.account !== undefined &&
    incident.account != null &&
    casefold(incident.account) === casefold(seen.account)
  );
}

/**
 * The host of `user@host`. Of an IPv6 address, its network of 64 bits, as one machine has all its addresses.
 */
export function hostOf(host: string): string {
  const name = host.slice(host.lastIndexOf('@') + 1).toLowerCase();
  if (!/^[\da-f:]*:[\da-f:]*$/.test(name)) return name;
  const [before = '', after] = name.split('::');
  const [head, tail] = [before, after ?? ''].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = after === undefined ? 0 : 8 - head!.length - tail!.length;
  const groups = [...head!, ...Array<string>(Math.max(0, zeros)).fill('0'), ...tail!];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/** Subject of a person: what is done to them next depends on what they did before. */
export function personSubject(person: string): string {
  return `moderation.person.${Buffer.from(person).toString('base64url')}`;
}

/** Subject of an incident that affects nothing else: there may be one for each line and event. */
export function singleSubject(token: string): string {
  return `moderation.single.${token}`;
}
