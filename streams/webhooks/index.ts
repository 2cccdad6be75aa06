export { type DeadState, deadMessagesDecider, isOf, type RedriveMessage } from './dead-letters.js';
export {
  type DeadMessage,
  deadSubjects,
  deliverySubjects,
  type Webhook,
  type WebhookDeliveryFact,
  type WebhookFact,
  webhookDeliveries,
  webhookSubject,
  webhooks,
} from './facts.js';
export { ownWebhook, type WebhookCommand, type WebhookState, webhookDecider } from './webhook.js';
