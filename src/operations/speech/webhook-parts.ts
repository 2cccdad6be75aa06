import { type Log, Refusal } from '../../../streams/core/index.js';
import { casefold } from '../../../streams/irc-grammar.js';
import {
  ownWebhook,
  type Webhook,
  type WebhookCommand,
  webhookDecider,
  webhookSubject,
  webhooks,
} from '../../../streams/webhooks/index.js';
import type { Reach, WebhookSecrets } from '../../../workers/webhooks/index.js';
import type { Caller } from '../core/caller.js';
import { type SpeechParts, speaker } from './speaker.js';
import type { WebhookPlaces } from './webhook-places.js';

/** What webhooks of agents work with. */
export interface WebhookParts extends Pick<SpeechParts, 'speech'> {
  log: Log;
  webhooks: { secrets: WebhookSecrets; places: WebhookPlaces; reach: Reach };
}

/** The nick (casefolded) whose webhook it is, and the person of the caller; an operator has none. */
export function ownerOf(given: string | undefined, caller: Caller, { speech }: WebhookParts) {
  const { nick, person = null, by } = speaker(given, caller, speech);
  return { nick: casefold(nick), person, by };
}

/** The webhook of a nick, if the person may see it. */
export async function found(
  { log }: WebhookParts,
  nick: string,
  person: string | null,
): Promise<Webhook | undefined> {
  return ownWebhook((await log.last(webhooks, webhookSubject(nick)))?.data, person);
}

/** Has something done about a webhook. Answers what it is like after it. */
export async function handle(
  { log }: WebhookParts,
  command: WebhookCommand,
  { actor: by, cause }: Caller,
): Promise<Webhook> {
  const { state } = await log.handle(webhooks, webhookDecider, command, { by, cause: cause ?? null });
  if (!state.webhook) throw new Refusal('webhook_not_found');
  return state.webhook;
}
