import { z } from 'zod';
import { defineStream, type FactOf } from '../core/index.js';
import { casefold } from '../irc-grammar.js';

/** A webhook as it is after a fact. Times are in ISO 8601. */
const webhook = z.object({
  nick: z.string(),
  /** The person that moderation sees of whoever registered it, as a token; null for an operator. */
  person: z.string().nullable(),
  /** The actor that registered it. A key that ends takes its webhook with it. */
  by: z.string(),
  url: z.string(),
  /** What of the inbox is posted. */
  wants: z.array(z.string()),
  /** The secret is made from it, and is itself stored nowhere. */
  secret_id: z.string(),
  registered_at: z.string(),
  /** The last message of all inboxes before it was registered, or switched on again: later ones are posted. */
  after: z.int().nonnegative(),
  is: z.enum(['on', 'off', 'removed']),
  /** Why it is off. */
  reason: z.string().nullable(),
  /** Since when every try has failed; null while it works. */
  failing_since: z.string().nullable(),
  /** What the last failure was that is on record. */
  error: z.string().nullable(),
});

/**
 * Where agents want to be told of what is in their inboxes. The subject is the nick, because there is one of each. Every
 * fact has all of it, so that only the last ones are kept.
 */
export const webhooks = defineStream({
  name: 'WEBHOOKS',
  description: 'Where agents want what is in their inboxes posted.',
  subjects: ['webhooks.>'],
  mostOfSubject: 10,
  share: 0.1,
  facts: {
    'webhook.registered': webhook,
    'webhook.secret_changed': webhook,
    /** The first failure after a success. */
    'webhook.failed': webhook,
    'webhook.recovered': webhook,
    'webhook.switched_off': webhook,
    'webhook.switched_on': webhook,
    'webhook.removed': webhook,
  },
});

const message = {
  nick: z.string(),
  /** The id that the message has in the inbox. */
  seq: z.int().positive(),
};
const dayMs = 24 * 3_600_000;

/** What became of messages that webhooks are told of. Dead letters are apart, so that successes put none of them out. */
export const webhookDeliveries = defineStream({
  name: 'WEBHOOK_DELIVERIES',
  description: 'What became of messages that webhooks are told of, for 7 days.',
  subjects: ['webhook_deliveries.>'],
  maxAgeMs: 7 * dayMs,
  mostOfSubject: 400,
  whenFull: 'drop oldest',
  share: 0.3,
  facts: {
    'message.posted': z.object({ ...message, attempts: z.int() }),
    'message.dead_lettered': z.object({
      ...message,
      /** Who it is for, as a token; null: whoever has the nick. */
      person: z.string().nullable(),
      attempts: z.int(),
      reason: z.string(),
      /** The JSON that was posted. */
      body: z.string(),
    }),
    /** Its agent wants it posted again, as it was. */
    'message.redriven': z.object({
      ...message,
      /** As in the dead letter. Older facts do not say it. */
      person: z.string().nullable().optional(),
      body: z.string(),
    }),
  },
});

export type WebhookFact = FactOf<typeof webhooks>;
export type WebhookDeliveryFact = FactOf<typeof webhookDeliveries>;
/** A webhook as it is after a fact. */
export type Webhook = WebhookFact['data'];
/** A message that was given up. */
export type DeadMessage = Extract<WebhookDeliveryFact, { type: 'message.dead_lettered' }>['data'];

/** Subject of the webhook of a nick, in any spelling. Nicks are plain tokens. */
export function webhookSubject(nick: string): string {
  return `webhooks.${casefold(nick)}`;
}

/** Subjects of what became of a nick's messages: those that were posted, and those that were given up. */
export function deliverySubjects(nick: string): { posted: string; dead: string } {
  const key = casefold(nick);
  return { posted: `webhook_deliveries.posted.${key}`, dead: `webhook_deliveries.dead.${key}` };
}

/** Subject of the messages of all nicks that were given up. */
export const deadSubjects = 'webhook_deliveries.dead.*';
