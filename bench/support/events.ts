import { signBody } from '../../src/auth/webhook-signature.js';
import type { MarketFact } from '../../streams/events/index.js';

/** What events are signed with. */
export const webhookSecret = '5ec2e7'.repeat(10);

const description =
  'Take three photographs of the shop front in daylight, with the opening hours readable. '.repeat(4);

/** A new task as producers post it, in about 600 bytes. */
export function taskEvent(id: string) {
  const payload = {
    id,
    title: `Task ${id}`,
    bounty_usdc: 5,
    category: 'simple_action',
    network: 'base',
    description,
  };
  return { event_id: id, event_type: 'task.published', source: 'marketplace', payload };
}

/** The same as it is on the log, for one channel. */
export function taskFact(id: string, channel = '#bounties', text = `Task ${id}`): MarketFact {
  const route = { target_channels: [channel], formatted_message: text };
  return { type: 'event.received', data: { ...taskEvent(id), ...route } };
}

/** Body and headers of an event's post, signed. */
export function signed(event: object): { body: string; headers: Record<string, string> } {
  const body = JSON.stringify(event);
  const headers = {
    'content-type': 'application/json',
    'x-em-signature': signBody(webhookSecret, body),
    'x-em-timestamp': new Date().toISOString(),
  };
  return { body, headers };
}
