import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { atMost } from '../../../streams/core/clock.js';
import { isExpected, Refusal } from '../../../streams/core/index.js';
import { inbox } from '../../../streams/speech/index.js';
import type { Webhook } from '../../../streams/webhooks/index.js';
import type { Speaker } from '../../../workers/speech/index.js';
import type { Refusals } from '../core/description.js';
import { Time, text } from '../core/fields.js';
import { asNick, define, speaker } from './speaker.js';
import { found, handle, ownerOf, type WebhookParts } from './webhook-parts.js';

/** How long the network is waited for, in milliseconds: the webhook is there already. */
const connectMs = 8_000;
const kinds = ['private', 'mention', 'invite', 'kick'] as const;

/** Ports to which `fetch` sends nothing, because they are those of other protocols (Fetch standard, "port blocking"). */
const closedPorts: ReadonlySet<number> = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53],
  ...[69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135],
  ...[137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548],
  ...[554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060],
  ...[5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
]);

const Url = z
  .url({ protocol: /^https?$/ })
  .max(500)
  .refine((url) => isWithout(url, 'username', 'password'), 'must have no user name and no password')
  .refine((url) => isWithout(url, 'hash'), 'must have no fragment: nobody is sent it')
  .refine((url) => !hasClosedPort(url), 'has a port of another protocol')
  .meta({ example: 'https://alice.example/relay' });

const Seen = z.object({
  nick: text('alice').describe('In lower case'),
  url: text('https://alice.example/relay'),
  wants: z.array(z.enum(kinds)).meta({ example: ['private', 'mention'] }),
  is: z.enum(['on', 'off']).describe('off: nothing is posted until you switch it on').meta({ example: 'on' }),
  reason: z.string().nullable().describe('Why it is off').meta({ example: null }),
  failing_since: Time.nullable().describe('Since when every try has failed'),
  error: z.string().nullable().describe('The last failure on record').meta({ example: null }),
  registered_at: Time,
});
const secret = text('whs_3q2-7wQf0s1Yx9JZ6hT5uVb4mKc8eRaNdGpLiOtUyXs').describe(
  'Signs what is posted. Shown this once',
);
const WithSecret = z.object({ ...Seen.shape, secret });
const connected = z
  .boolean()
  .describe('Whether you are on the network, where you can be written to')
  .meta({ example: true });
const ofOwn: Refusals = {
  webhook_not_found: true,
  nickname_reserved: true,
  gateway_not_configured: true,
};
const changes = { without: ['nick'], effect: 'change', ofAgents: true } as const;

/** Registers the webhook of a nick, in place of the one before. */
export const registerWebhook = define('registerWebhook', {
  summary: 'Have what comes to your inbox posted to an address of yours',
  description:
    'One webhook of each nick: another registration takes its place, with a new secret. Each message is a `POST` of JSON with `X-Relay-Signature` (`sha256=` and the HMAC of the raw body, in hexadecimal digits) and `X-Relay-Timestamp`. Messages come in order, one at a time. A message that is not taken is tried for 6 hours, then it is a dead letter. A webhook that fails for a day is switched off. It ends with the key that registered it. Registering brings you to the network, and you stay while the webhook is on.',
  input: z.object({
    url: Url.describe('An https address of the public internet'),
    wants: z
      .array(z.enum(kinds))
      .min(1)
      .max(kinds.length)
      .default(['private', 'mention'])
      .describe('What of the inbox is posted')
      .meta({ example: ['private', 'mention'] }),
    nick: asNick,
  }),
  example: { url: 'https://alice.example/relay' },
  says: 'It is registered; the secret is in this answer only',
  output: z.object({ ...WithSecret.shape, connected }),
  refusals: {
    webhook_address_refused: true,
    too_many_webhooks: true,
    nickname_reserved: true,
    gateway_not_configured: true,
  },
  http: { method: 'put', path: '/irc/webhook' },
  tool: {
    name: 'svc_set_webhook',
    title: 'Have my inbox posted to an address of mine',
    description:
      'Registers one https address to which private messages to you and lines that name you are posted, signed. Answers the secret, this once.',
    ...changes,
    idempotent: false,
    openWorld: true,
  },
  run: async ({ url, wants, nick: given }, caller, parts: WebhookParts) => {
    const { nick, person, by } = ownerOf(given, caller, parts);
    if (!parts.webhooks.reach.allows(url)) {
      const details = [{ path: 'url', message: 'must be https, and lead to a host of the public internet' }];
      throw new Refusal('webhook_address_refused', undefined, { details });
    }
    await parts.webhooks.places.requireRoom(nick);
    const common = { nick, person, by, url, wants: [...new Set(wants)], after: await parts.log.head(inbox) };
    const command = { is: 'register' as const, ...common, secret_id: randomUUID() };
    const registered = await withSecret(await handle(parts, command, caller), parts);
    return { ...registered, connected: await isConnected(speaker(given, caller, parts.speech), parts) };
  },
});

/** The webhook of a nick. */
export const getWebhook = define('getWebhook', {
  summary: 'Your webhook, and whether it works',
  input: z.object({ nick: asNick }),
  says: 'It, without its secret',
  output: Seen,
  refusals: ofOwn,
  http: { method: 'get', path: '/irc/webhook' },
  tool: {
    name: 'svc_get_webhook',
    title: 'My webhook',
    description: 'Your webhook: whether it is on, since when it fails, and why it was switched off.',
    without: ['nick'],
    output: 'described',
    ofAgents: true,
  },
  run: async ({ nick: given }, caller, parts: WebhookParts) => {
    const { nick, person } = ownerOf(given, caller, parts);
    const webhook = await found(parts, nick, person);
    if (!webhook) throw new Refusal('webhook_not_found');
    return seen(webhook);
  },
});

/** Removes the webhook of a nick. */
export const removeWebhook = define('removeWebhook', {
  summary: 'Have nothing posted any more',
  input: z.object({ nick: asNick }),
  says: 'There is no webhook any more',
  output: z.object({ removed: z.literal(true), nick: text('alice') }),
  refusals: ofOwn,
  http: { method: 'delete', path: '/irc/webhook' },
  tool: {
    name: 'svc_remove_webhook',
    title: 'Remove my webhook',
    description: 'Removes your webhook. What comes later is in your inbox only.',
    ...changes,
    idempotent: true,
  },
  run: async ({ nick: given }, caller, parts: WebhookParts) => {
    const { nick, person } = ownerOf(given, caller, parts);
    await handle(parts, { is: 'remove', nick, person }, caller);
    return { removed: true as const, nick };
  },
});

/** Gives a webhook another secret. */
export const changeWebhookSecret = define('changeWebhookSecret', {
  summary: 'Give your webhook another secret',
  description:
    'The next try is signed with it. Answer 401 until your program knows it: that message comes again.',
  input: z.object({ nick: asNick }),
  says: 'The new secret is in this answer only',
  output: WithSecret,
  refusals: ofOwn,
  http: { method: 'post', path: '/irc/webhook/secret' },
  tool: {
    name: 'svc_webhook_secret',
    title: 'Give my webhook another secret',
    description:
      'Answers the new secret of your webhook, this once. What is posted from now on is signed with it.',
    ...changes,
    idempotent: false,
  },
  run: async ({ nick: given }, caller, parts: WebhookParts) => {
    const { nick, person } = ownerOf(given, caller, parts);
    const command = { is: 'change secret' as const, nick, person, secret_id: randomUUID() };
    return await withSecret(await handle(parts, command, caller), parts);
  },
});

/** Switches a webhook on again. */
export const switchOnWebhook = define('switchOnWebhook', {
  summary: 'Switch your webhook on again',
  description:
    'What came while it was off is in your inbox, and is not posted. It brings you to the network, as registering does.',
  input: z.object({ nick: asNick }),
  says: 'It is on',
  output: z.object({ ...Seen.shape, connected }),
  refusals: ofOwn,
  http: { method: 'post', path: '/irc/webhook/on' },
  tool: {
    name: 'svc_webhook_on',
    title: 'Switch my webhook on again',
    description: 'Switches your webhook on after it failed for too long. Then redrive its dead letters.',
    ...changes,
    idempotent: true,
  },
  run: async ({ nick: given }, caller, parts: WebhookParts) => {
    const { nick, person } = ownerOf(given, caller, parts);
    const after = await parts.log.head(inbox);
    const webhook = seen(await handle(parts, { is: 'switch on', nick, person, after }, caller));
    return { ...webhook, connected: await isConnected(speaker(given, caller, parts.speech), parts) };
  },
});

/** Whether parts of an address are empty. A lone `#` or `@` at their place counts as nothing. */
function isWithout(url: string, ...parts: ('username' | 'password' | 'hash')[]): boolean {
  return !URL.canParse(url) || parts.every((part) => new URL(url)[part] === '');
}

function hasClosedPort(url: string): boolean {
  const { port } = URL.canParse(url) ? new URL(url) : { port: '' };
  return port !== '' && closedPorts.has(Number(port));
}

/** Brings the owner of a webhook to the network, if that is possible soon: `POST /irc/connection` says why it is not. */
async function isConnected(owner: Speaker, { speech }: WebhookParts): Promise<boolean> {
  try {
    return (await atMost(speech.gateway.connect(owner), connectMs))?.connected ?? false;
  } catch (error) {
    if (!isExpected(error)) throw error;
    return false;
  }
}

function seen({ nick, url, wants, is, reason, failing_since, error, registered_at }: Webhook) {
  return {
    nick,
    url,
    wants: wants as z.output<typeof Seen>['wants'],
    is: is === 'on' ? ('on' as const) : ('off' as const),
    reason,
    failing_since,
    error,
    registered_at,
  };
}

async function withSecret(webhook: Webhook, { webhooks: { secrets } }: WebhookParts) {
  return { ...seen(webhook), secret: await secrets.of(webhook.nick, webhook.secret_id) };
}
