import {
  closeConnection,
  comeBack,
  getConnection,
  goAway,
  joinIrcChannel,
  openConnection,
  partIrcChannel,
} from './connection.js';
import { listInbox } from './inbox.js';
import { sayInChannel, sayToNick, speak } from './lines.js';
import {
  changeWebhookSecret,
  getWebhook,
  registerWebhook,
  removeWebhook,
  switchOnWebhook,
} from './webhook.js';
import { listWebhookDeadLetters, redriveWebhookMessage } from './webhook-dead-letters.js';

export type { SpeechParts } from './speaker.js';

/** Speaking on the network without an IRC connection of one's own. */
export const speechOperations = [
  sayInChannel,
  sayToNick,
  speak,
  getConnection,
  openConnection,
  closeConnection,
  joinIrcChannel,
  partIrcChannel,
  goAway,
  comeBack,
  listInbox,
  registerWebhook,
  getWebhook,
  removeWebhook,
  changeWebhookSecret,
  switchOnWebhook,
  listWebhookDeadLetters,
  redriveWebhookMessage,
];
