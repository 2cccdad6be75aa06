import { type Decider, Refusal } from '../core/index.js';
import { type Webhook, type WebhookFact, webhookSubject } from './facts.js';

/** The webhook of a nick; none before the first was registered. */
export interface WebhookState {
  webhook?: Webhook;
}

/** What can be asked for the webhook of a nick. `person` is that of the caller; an operator has none. */
export type WebhookCommand = { nick: string } & (
  | ({ is: 'register' } & Pick<Webhook, 'url' | 'wants' | 'by' | 'person' | 'secret_id' | 'after'>)
  | { is: 'change secret'; person: string | null; secret_id: string }
  /** `after` is the last message of all inboxes. */
  | { is: 'switch on'; person: string | null; after: number }
  | { is: 'remove'; person: string | null }
  /** A try under this secret failed. One that has failed for `offAfterMs` is switched off. */
  | { is: 'fail'; secret_id: string; error: string; offAfterMs: number }
  | { is: 'succeed'; secret_id: string }
  | { is: 'switch off'; secret_id: string; reason: string }
);

/** A nick has one webhook at most, which works until it fails for long. */
export const webhookDecider: Decider<WebhookState, WebhookCommand, WebhookFact> = {
  initial: () => ({}),
  subject: ({ nick }) => webhookSubject(nick),
  evolve(state, { data }) {
    state.webhook = data;
  },
  decide(command, { webhook }, now) {
    const at = now.toISOString();
    const works = { is: 'on' as const, reason: null, failing_since: null, error: null };
    switch (command.is) {
      case 'register': {
        const { is: _, ...given } = command;
        const after = goesOn(webhook, command) ? webhook.after : given.after;
        return { type: 'webhook.registered', data: { ...given, ...works, after, registered_at: at } };
      }
      case 'change secret': {
        const { secret_id } = command;
        return { type: 'webhook.secret_changed', data: { ...own(webhook, command.person), secret_id } };
      }
      case 'switch on': {
        const found = own(webhook, command.person);
        // what came while it was off may be handed over once more, and stays where it is
        const after = found.is === 'off' ? command.after : found.after;
        return { type: 'webhook.switched_on', data: { ...found, ...works, after } };
      }
      case 'remove':
        return { type: 'webhook.removed', data: { ...own(webhook, command.person), is: 'removed' } };
    }
    // what is told of one that was replaced, or switched off, changes nothing
    if (webhook?.is !== 'on' || webhook.secret_id !== command.secret_id) return undefined;
    switch (command.is) {
      case 'fail': {
        const { error, offAfterMs } = command;
        if (webhook.failing_since === null)
          return { type: 'webhook.failed', data: { ...webhook, failing_since: at, error } };
        if (now.getTime() - Date.parse(webhook.failing_since) < offAfterMs) return undefined;
        const reason = 'It failed for too long';
        return { type: 'webhook.switched_off', data: { ...webhook, is: 'off', reason, error } };
      }
      case 'succeed':
        if (webhook.failing_since === null) return undefined;
        return { type: 'webhook.recovered', data: { ...webhook, failing_since: null, error: null } };
      case 'switch off':
        return { type: 'webhook.switched_off', data: { ...webhook, is: 'off', reason: command.reason } };
    }
  },
};

/** The webhook, if there is one that this person may see: an operator sees each. */
export function ownWebhook(webhook: Webhook | undefined, person: string | null): Webhook | undefined {
  if (!webhook || webhook.is === 'removed') return undefined;
  const isOwn = person === null || webhook.person === null || webhook.person === person;
  return isOwn ? webhook : undefined;
}

/** Whether one takes the place of another: what waits for that one is posted to it. */
function goesOn(
  webhook: Webhook | undefined,
  { person, wants }: Pick<Webhook, 'person' | 'wants'>,
): webhook is Webhook {
  // who wants more than before would get old messages of that kind, after newer ones
  return (
    webhook?.is === 'on' && webhook.person === person && wants.every((one) => webhook.wants.includes(one))
  );
}

function own(webhook: Webhook | undefined, person: string | null): Webhook {
  const found = ownWebhook(webhook, person);
  if (!found) throw new Refusal('webhook_not_found');
  return found;
}
