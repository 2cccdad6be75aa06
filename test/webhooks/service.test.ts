import { randomUUID } from 'node:crypto';
import pino from 'pino';
import t from 'tap';
import { signBody } from '../../src/auth/webhook-signature.js';
import { webhookDecider, webhookSubject, webhooks } from '../../streams/webhooks/index.js';
import { publicFetch } from '../../workers/core/public-fetch.js';
import { DeliverWebhooks, WebhookSecrets } from '../../workers/webhooks/index.js';
import { withoutIrc } from '../identity/stage.js';
import { keysStage, operator } from '../keys/stage.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';
import { startReceiver } from './receiver.js';

const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
const loopback = (address: string) => address === '127.0.0.1';
const url = 'https://alice.example/relay';

t.test('webhooks of agents, by HTTP and by tools', async (t) => {
  const { ask, given, tool, log } = await keysStage(t, { ROLES: withoutIrc });
  const alice = await given('alice', ['read', 'speak']);
  const bob = await given('bob', ['read', 'speak']);
  const path = '/irc/webhook';

  await t.test('AGENTHOOK-10 an agent registers one, and is shown its secret once', async (t) => {
    t.match(await ask('GET', path, undefined, alice.headers), { status: 404, body: { code: 'not_found' } });
    t.match(await ask('PUT', path, { url }), { status: 401 });
    const reader = await given('carol', ['read']);
    t.match(await ask('PUT', path, { url }, reader.headers), {
      status: 403,
      body: { code: 'scope_missing' },
    });
    const { status, body } = await ask('PUT', path, { url }, alice.headers);
    const expected = { nick: 'alice', url, is: 'on', secret: /^whs_.{43}$/, connected: false };
    t.match({ status, body }, { status: 200, body: expected }, 'also while the network is away');
    const seen = await ask('GET', path, undefined, alice.headers);
    t.match(seen, { status: 200, body: { wants: ['private', 'mention'], failing_since: null } });
    t.notOk('secret' in seen.body);
    t.match(await ask('GET', path, undefined, bob.headers), { status: 404 });
    t.match(await ask('GET', `${path}?nick=alice`, undefined, bob.headers), { status: 403 });
    t.match(await ask('GET', `${path}?nick=alice`, undefined, operator), { status: 200 });
    const changed = await ask('POST', `${path}/secret`, {}, alice.headers);
    t.match(changed, { status: 200, body: { secret: /^whs_/ } });
    t.not(changed.body.secret, body.secret);
    const again = await ask('PUT', path, { url, wants: ['private'] }, alice.headers);
    t.match(again.body, { wants: ['private'], secret: /^whs_/ });
    t.equal(new Set([body, changed.body, again.body].map(({ secret }) => secret)).size, 3);
    const removed = await ask('DELETE', path, undefined, alice.headers);
    t.match(removed, { status: 200, body: { removed: true } });
    t.match(await ask('GET', path, undefined, alice.headers), { status: 404 });
  });

  await t.test('AGENTHOOK-11 addresses that are not of the public internet are refused', async (t) => {
    for (const bad of [
      'http://alice.example/',
      'https://127.0.0.1/',
      'https://2130706433/',
      'https://localhost/',
      'https://nats:4222/',
      'https://10.0.0.8/',
      'https://169.254.169.254/latest/meta-data',
      'https://[::1]/',
      'https://[::ffff:127.0.0.1]/',
      'https://[fd00::1]/',
      'https://relay.internal/',
    ]) {
      const refused = await ask('PUT', path, { url: bad }, alice.headers);
      t.match(
        refused,
        { status: 400, body: { code: 'webhook_address_refused', details: [{ path: 'url' }] } },
        bad,
      );
    }
    for (const bad of [
      'ftp://alice.example/',
      'https://a:b@alice.example/',
      'https://alice@alice.example/',
      'https://:secret@alice.example/',
      `${url}#part`,
      'https://alice.example:25/',
      'https://alice.example:6667/',
      'https://alice.example:0/',
      'alice.example',
      `${url}${'x'.repeat(500)}`,
    ]) {
      const { status, body } = await ask('PUT', path, { url: bad }, alice.headers);
      t.match({ status, body }, { status: 400, body: { details: [{ path: 'url' }] } }, bad.slice(0, 40));
    }
    for (const good of [`${url}?key=1`, 'https://alice.example:8443/relay'])
      t.equal((await ask('PUT', path, { url: good }, alice.headers)).status, 200, good);
    t.equal((await ask('DELETE', path, undefined, alice.headers)).status, 200);
  });

  await t.test('AGENTHOOK-12 the same by tools, which agents alone have', async (t) => {
    const set = await tool('svc_set_webhook', { url }, alice.headers);
    t.match(set.result.content[0].text, /"secret":"whs_/);
    t.match(await tool('svc_get_webhook', {}, alice.headers), {
      result: { structuredContent: { is: 'on' } },
    });
    t.match((await tool('svc_webhook_secret', {}, alice.headers)).result.content[0].text, /"secret":"whs_/);
    t.match((await tool('svc_webhook_on', {}, alice.headers)).result.content[0].text, /"is":"on"/);
    t.match(
      (await tool('svc_webhook_dead_letters', {}, alice.headers)).result.content[0].text,
      /"dead_letters":\[\]/,
    );
    t.match(await tool('svc_redrive_webhook', { id: 7 }, alice.headers), { result: { isError: true } });
    t.match((await tool('svc_remove_webhook', {}, alice.headers)).result.content[0].text, /"removed":true/);
  });

  await t.test(
    'AGENTHOOK-13 who has the nick after its agent sees neither webhook nor dead letters',
    async (t) => {
      const other = { is: 'register' as const, nick: 'bob', person: 'somebody else', by: 'agent:bob:0', url };
      const command = { ...other, wants: ['private'], after: 0, secret_id: randomUUID() };
      await log.handle(webhooks, webhookDecider, command, { by: 'test' });
      t.match(await ask('GET', path, undefined, bob.headers), { status: 404 });
      t.match(await ask('DELETE', path, undefined, bob.headers), { status: 404 });
      t.match(await ask('GET', `${path}?nick=bob`, undefined, operator), { status: 200 });
    },
  );
});

t.test(
  'AGENTHOOK-14 what is said to an agent on the network reaches its webhook, and what it refused is redriven',
  async (t) => {
    const ircd = await startIrcd(t);
    const { ask, given, log } = await keysStage(t, {
      ...settingsOf(ircd),
      IRC_GATEWAY_PASSWORD: ircd.gatewayPassword,
      // without the role `workers`: the worker of this test reaches loopback
      ROLES: 'api,services,projections,irc,schedule',
    });
    const receiver = await startReceiver(t);
    const secrets = new WebhookSecrets(log, 1);
    const worker = new DeliverWebhooks({
      log,
      logger,
      secrets,
      fetch: publicFetch(loopback),
      ended: async () => new Set<string>(),
      source: 'relay-network',
      heard: (_channel, text) => text,
      pausesMs: { first: 5, longest: 20 },
    });
    t.teardown(() => worker.stop());
    worker.start();
    const witness = await observe(ircd.port, { nick: 'witness', channels: ['#lobby'] });
    t.teardown(() => witness.stop());
    const alice = await given('alice', ['read', 'speak']);
    await eventually('alice to be in #lobby', async () => {
      const { status } = await ask('POST', '/irc/connection/channels', { channel: 'lobby' }, alice.headers);
      return status === 200;
    });
    const bob = await given('bob', ['read', 'speak']);
    t.match(await ask('PUT', '/irc/webhook', { url }, bob.headers), {
      status: 200,
      body: { connected: true },
    });
    await ask('DELETE', '/irc/connection', undefined, bob.headers);
    t.match(await ask('POST', '/irc/webhook/on', {}, bob.headers), { body: { is: 'on', connected: true } });
    const registered = await ask('PUT', '/irc/webhook', { url }, alice.headers);
    t.equal(registered.status, 200);
    const { data } = (await log.last(webhooks, webhookSubject('alice')))!;
    const { secret_id, person, by, wants, after } = data;
    const here = {
      is: 'register' as const,
      nick: 'alice',
      url: `${receiver.url}/alice`,
      secret_id,
      person,
      by,
      wants,
      after,
    };
    await log.handle(webhooks, webhookDecider, here, { by });
    receiver.answer = (_, text) => (text.includes('bad') ? 400 : 204);
    witness.send('PRIVMSG #lobby :alice: are you there?', 'PRIVMSG alice :bad', 'PRIVMSG alice :psst');
    await receiver.until('the last', () => receiver.taken('/alice').includes('psst'));
    t.same(receiver.texts('/alice'), ['alice: are you there?', 'bad', 'psst']);
    const { raw, headers, event } = receiver.received[0]!;
    t.equal(headers['x-relay-signature'], signBody(registered.body.secret, raw), 'the secret that was shown');
    t.match(event.payload, { is: 'mention', from: 'witness', channel: '#lobby', msgid: String });
    const { messages } = (await ask('GET', '/irc/inbox', undefined, alice.headers)).body;
    t.equal(event.payload.id, messages[0].id, 'the id of the inbox');
    const listed = await ask('GET', '/irc/webhook/dead-letters', undefined, alice.headers);
    t.match(listed.body.dead_letters, [
      { reason: 'answered 400', attempts: 1, message: { payload: { text: 'bad' } } },
    ]);
    const { id } = listed.body.dead_letters[0];
    receiver.answer = () => 204;
    const redriven = await ask('POST', `/irc/webhook/dead-letters/${id}/redrive`, {}, alice.headers);
    t.match(redriven, { status: 200, body: { redriven: true, id } });
    await receiver.until('it', () => receiver.taken('/alice').includes('bad'));
    t.match(await ask('GET', '/irc/webhook/dead-letters', undefined, alice.headers), {
      body: { dead_letters: [] },
    });
    t.match(await ask('POST', `/irc/webhook/dead-letters/${id}/redrive`, {}, alice.headers), { status: 409 });
  },
);
