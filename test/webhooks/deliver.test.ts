import pino from 'pino';
import t, { type Test } from 'tap';
import { signBody } from '../../src/auth/webhook-signature.js';
import { Metrics } from '../../src/metrics/metrics.js';
import type { Log } from '../../streams/core/index.js';
import { inbox, inboxSubjects } from '../../streams/speech/index.js';
import {
  deadMessagesDecider,
  deliverySubjects,
  type Webhook,
  type WebhookCommand,
  webhookDecider,
  webhookDeliveries,
  webhookSubject,
  webhooks,
} from '../../streams/webhooks/index.js';
import { publicFetch } from '../../workers/core/public-fetch.js';
import {
  DeliverWebhooks,
  type DeliverWebhooksOptions,
  WebhookSecrets,
} from '../../workers/webhooks/index.js';
import { openLog } from '../identity/log.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { startReceiver } from './receiver.js';

const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
const by = 'agent:alice:k1';
const loopback = (address: string) => address === '127.0.0.1';

/** A log, a receiver, and a worker that posts to it. */
async function stage(t: Test, options: Partial<DeliverWebhooksOptions> = {}) {
  const nats = await startNats(t);
  const log = await openLog(t, nats);
  const receiver = await startReceiver(t);
  const secrets = new WebhookSecrets(log, 1);
  const ended = new Set<string>();
  const work = (on: Log = log) => {
    const worker = new DeliverWebhooks({
      log: on,
      logger,
      secrets: new WebhookSecrets(on, 1),
      fetch: publicFetch(loopback),
      ended: async () => ended,
      source: 'relay-network',
      heard: (_channel, text) => text,
      pausesMs: { first: 5, longest: 20 },
      timeoutMs: 500,
      ...options,
    });
    t.teardown(() => worker.stop());
    worker.start();
    return worker;
  };
  const handle = async (command: WebhookCommand): Promise<Webhook> =>
    (await log.handle(webhooks, webhookDecider, command, { by })).state.webhook!;
  const register = async (nick: string, path = `/${nick}`, person: string | null = null) =>
    handle({
      is: 'register',
      nick,
      person,
      by,
      url: receiver.url + path,
      wants: ['private', 'mention'],
      after: await log.head(inbox),
      secret_id: `id-${nick}${path}`,
    });
  const hear = async (
    nick: string,
    text: string,
    is: 'private' | 'mention' | 'invite' = 'private',
    person?: string,
  ) => {
    const data = {
      is,
      from: 'bob',
      account: null,
      channel: null,
      text,
      msgid: null,
      ...(person && { person }),
    };
    return (await log.append(inbox, inboxSubjects(nick).now, { type: 'message.received', data }, { by })).seq;
  };
  const webhook = async (nick: string) => (await log.last(webhooks, webhookSubject(nick)))!.data;
  const dead = async (nick: string) => {
    const found = [];
    for await (const { type, data } of log.subject(webhookDeliveries, deliverySubjects(nick).dead))
      if (type === 'message.dead_lettered') found.push(data);
    return found;
  };
  const posted = async (nick: string) => {
    const found = [];
    for await (const { data } of log.subject(webhookDeliveries, deliverySubjects(nick).posted))
      found.push(data.seq);
    return found;
  };
  return { nats, log, receiver, secrets, ended, work, handle, register, hear, webhook, dead, posted };
}

t.test('AGENTHOOK-01 what comes to an inbox is posted, in order and signed', async (t) => {
  const { receiver, secrets, work, register, hear, posted } = await stage(t);
  await hear('alice', 'before she registered');
  const { secret_id } = await register('alice');
  work();
  for (let n = 0; n < 20; n++) await hear('Alice', `message ${n}`);
  await hear('alice', 'not wanted', 'invite');
  await hear('bob', 'has no webhook');
  const seq = await hear('alice', 'the last', 'mention');
  await receiver.until('the last message', () => receiver.taken('/alice').includes('the last'));
  t.same(receiver.taken('/alice'), [...Array.from({ length: 20 }, (_, n) => `message ${n}`), 'the last']);
  const { raw, headers, event } = receiver.received.at(-1)!;
  t.equal(headers['x-relay-signature'], signBody(await secrets.of('alice', secret_id), raw));
  t.match(event, { event_type: 'message.received', source: 'relay-network', created_at: /Z$/ });
  t.same(event.payload, {
    ...{ nick: 'alice', id: seq, is: 'mention', from: 'bob', account: null },
    ...{ channel: null, text: 'the last', msgid: null },
  });
  await eventually('all of them on record', async () => (await posted('alice')).length === 21);
});

t.test('AGENTHOOK-02 what is not taken is tried again, in order, and holds up nobody else', async (t) => {
  const { receiver, work, register, hear, webhook } = await stage(t);
  let failures = 4;
  receiver.answer = (path) => (path === '/alice' && failures-- > 0 ? 503 : 204);
  await register('alice');
  await register('bob');
  work();
  for (const text of ['one', 'two', 'three']) await hear('alice', text);
  await hear('bob', 'hello');
  await receiver.until(
    'all',
    () => receiver.taken('/alice').length === 3 && receiver.taken('/bob').length === 1,
  );
  t.same(receiver.taken('/alice'), ['one', 'two', 'three']);
  t.equal(receiver.received.filter(({ path }) => path === '/alice').length, 7, 'four in vain');
  const ids = receiver.received.filter(({ event }) => event.payload.text === 'one').map(({ raw }) => raw);
  t.equal(new Set(ids).size, 1, 'the same bytes at each try');
  await eventually('it to be well again', async () => (await webhook('alice')).failing_since === null);
  t.equal((await webhook('alice')).is, 'on');
});

t.test('AGENTHOOK-03 what is refused is a dead letter, and can be redriven', async (t) => {
  const { log, receiver, work, register, hear, dead } = await stage(t);
  receiver.answer = (_, text) => (text === 'bad' ? 422 : 204);
  await register('alice');
  work();
  const seq = await hear('alice', 'bad');
  await hear('alice', 'good');
  await receiver.until('the next message', () => receiver.taken('/alice').includes('good'));
  t.match(await dead('alice'), [{ seq, reason: 'answered 422', attempts: 1, body: /"text":"bad"/ }]);
  const redrive = (id: number, person: string | null = null) =>
    log.handle(webhookDeliveries, deadMessagesDecider, { nick: 'alice', seq: id, person }, { by });
  await t.rejects(redrive(seq + 1), { code: 'not_found' });
  receiver.answer = () => 204;
  await redrive(seq);
  await receiver.until('it', () => receiver.taken('/alice').includes('bad'));
  await t.rejects(redrive(seq), { code: 'message_not_dead' });
});

t.test('AGENTHOOK-16 what was delivered, tried again and given up is counted', async (t) => {
  const metrics = new Metrics();
  const { receiver, work, register, hear } = await stage(t, { observe: metrics.webhooks });
  const counted = async () => {
    const lines = (await metrics.scrape([])).matchAll(
      /^relay_agent_webhook_messages_total\{outcome="(\w+)"\} (\d+)$/gm,
    );
    return Object.fromEntries([...lines].map(([, outcome, count]) => [outcome, Number(count)]));
  };
  t.same(await counted(), { delivered: 0, retried: 0, dead: 0 }, 'there from the start');
  let failures = 2;
  receiver.answer = (_, text) => (text === 'bad' ? 422 : failures-- > 0 ? 503 : 204);
  await register('alice');
  work();
  await hear('nobody', 'has no webhook');
  for (const text of ['late', 'bad', 'good']) await hear('alice', text);
  await eventually('the last to be counted', async () => (await counted()).delivered === 2);
  t.same(await counted(), { delivered: 2, retried: 2, dead: 1 });
});

t.test(
  'AGENTHOOK-04 a message gets too old, and a webhook that fails for long is switched off',
  async (t) => {
    const { log, receiver, work, register, handle, hear, webhook, dead } = await stage(t, {
      ttlMs: 60,
      offAfterMs: 300,
    });
    receiver.answer = () => 500;
    await register('alice');
    work();
    const seq = await hear('alice', 'old');
    await eventually('a dead letter', async () => (await dead('alice')).length === 1);
    t.match(await dead('alice'), [{ seq, reason: 'answered 500' }]);
    t.match(await webhook('alice'), { is: 'on', failing_since: String, error: 'answered 500' });
    await eventually('it to be off', async () => {
      await hear('alice', 'again');
      return (await webhook('alice')).is === 'off';
    });
    t.match(await webhook('alice'), { reason: 'It failed for too long' });
    receiver.answer = () => 204;
    await register('bob');
    await hear('alice', 'while it is off');
    await hear('bob', 'to another');
    await receiver.until('the other', () => receiver.taken('/bob').length === 1);
    t.notOk(receiver.texts('/alice').includes('while it is off'));
    await handle({ is: 'switch on', nick: 'alice', person: null, after: await log.head(inbox) });
    await hear('alice', 'hello again');
    await receiver.until('the next', () => receiver.taken('/alice').includes('hello again'));
  },
);

t.test(
  'AGENTHOOK-04 what came while it was off is not posted, also by a worker that sees it later',
  async (t) => {
    const { log, receiver, work, register, handle, hear } = await stage(t);
    const { secret_id } = await register('alice');
    const switchOn = async () =>
      await handle({ is: 'switch on', nick: 'alice', person: null, after: await log.head(inbox) });
    await handle({ is: 'switch off', nick: 'alice', secret_id, reason: 'It failed for too long' });
    await hear('alice', 'while it was off');
    await switchOn();
    await hear('alice', 'while it was on');
    await switchOn();
    await hear('alice', 'after both');
    work();
    await receiver.until('the last', () => receiver.taken('/alice').includes('after both'));
    t.same(
      receiver.taken('/alice'),
      ['while it was on', 'after both'],
      'it loses nothing that is on already',
    );
  },
);

t.test('AGENTHOOK-18 what waits is posted to the address that is registered next', async (t) => {
  const { receiver, work, register, handle, hear, webhook } = await stage(t);
  await register('alice', '/alice', 'a');
  await register('bob', '/bob', 'b');
  receiver.answer = (path) => (path.endsWith('/next') ? 204 : 503);
  work();
  for (const text of ['one', 'two']) await hear('alice', text, 'private', 'a');
  for (const text of ['one', 'two']) await hear('bob', text, 'private', 'b');
  await receiver.until(
    'a try',
    () => receiver.texts('/alice').length > 0 && receiver.texts('/bob').length > 0,
  );
  await register('alice', '/alice/next', 'a');
  await receiver.until('both', () => receiver.taken('/alice/next').length === 2);
  t.same(receiver.taken('/alice/next'), ['one', 'two'], 'of the same person, in order');

  await t.test('but not when more kinds are asked for, and not to somebody else', async (t) => {
    const { url, after } = await webhook('bob');
    const wants = ['private', 'mention', 'invite'];
    const next = { is: 'register', nick: 'bob', by, url: `${url}/next`, wants, secret_id: 'next' } as const;
    const last = await hear('bob', 'the last that waits', 'private', 'b');
    t.ok(last > after);
    await handle({ ...next, person: 'b', after: last });
    await hear('bob', 'three', 'private', 'b');
    await receiver.until('what comes', () => receiver.taken('/bob/next').length > 0);
    t.same(receiver.taken('/bob/next'), ['three']);
    const other = { ...next, url: `${url}/other/next`, secret_id: 'other', person: 'c', after: last + 1 };
    await handle(other);
    await hear('bob', 'four', 'private', 'c');
    await receiver.until('what comes', () => receiver.taken('/bob/other/next').length > 0);
    t.same(receiver.taken('/bob/other/next'), ['four']);
  });
});

t.test('AGENTHOOK-05 who takes over posts nothing again that is on record, and the rest', async (t) => {
  const { nats, receiver, work, register, hear, posted } = await stage(t);
  await register('alice');
  await register('bob');
  receiver.answer = (_, text) => (text === 'three' ? 503 : 204);
  const first = work();
  for (const text of ['one', 'two', 'three', 'four']) await hear('alice', text);
  await hear('bob', 'after them');
  await receiver.until('the third', () => receiver.texts('/alice').includes('three'));
  await eventually('two on record', async () => (await posted('alice')).length === 2);
  await eventually('that of bob on record', async () => (await posted('bob')).length === 1);
  await first.stop();
  receiver.answer = () => 204;
  work(await openLog(t, nats));
  await receiver.until('all', () => receiver.taken('/alice').includes('four'));
  t.same(receiver.taken('/alice'), ['one', 'two', 'three', 'four']);
  // it comes before this one, if it comes again
  await hear('bob', 'the last');
  await receiver.until('the last', () => receiver.taken('/bob').includes('the last'));
  t.same(
    receiver.taken('/bob'),
    ['after them', 'the last'],
    'what was taken out of turn is not posted again',
  );
});

t.test('AGENTHOOK-06 only hosts of the public internet are reached', async (t) => {
  const { receiver, work, register, handle, hear, webhook } = await stage(t, { fetch: publicFetch() });
  await register('alice');
  const { port } = new URL(receiver.url);
  const url = `http://localhost:${port}/bob`;
  await handle({
    is: 'register',
    nick: 'bob',
    person: null,
    by,
    url,
    wants: ['private'],
    after: 0,
    secret_id: 'b',
  });
  work();
  await hear('alice', 'to an address');
  await hear('bob', 'to a name');
  await eventually('both to fail', async () => {
    const both = [await webhook('alice'), await webhook('bob')];
    return both.every(({ failing_since }) => failing_since !== null);
  });
  t.match(await webhook('alice'), { error: '127.0.0.1 is not public' });
  t.match(await webhook('bob'), { error: 'localhost is no public host' });
  t.equal(receiver.received.length, 0);
});

t.test('AGENTHOOK-07 another secret signs from then on, and no fact has a secret', async (t) => {
  const { log, receiver, secrets, work, register, handle, hear } = await stage(t);
  const { secret_id } = await register('alice');
  const before = await secrets.of('alice', secret_id);
  work();
  await handle({ is: 'change secret', nick: 'alice', person: null, secret_id: 'other' });
  const after = await secrets.of('alice', 'other');
  t.not(before, after);
  await hear('alice', 'hello');
  await receiver.until('it', () => receiver.taken('/alice').length === 1);
  const { raw, headers } = receiver.received[0]!;
  t.equal(headers['x-relay-signature'], signBody(after, raw));
  for await (const { data } of log.subject(webhooks, webhookSubject('alice')))
    t.notMatch(JSON.stringify(data), /whs_/);
});

t.test('AGENTHOOK-08 a webhook ends with the key that registered it', async (t) => {
  const { receiver, ended, work, register, hear, webhook } = await stage(t);
  await register('alice');
  ended.add(by);
  work();
  await hear('alice', 'hello');
  await eventually('it to be off', async () => (await webhook('alice')).is === 'off');
  t.match(await webhook('alice'), { reason: /key/ });
  t.equal(receiver.received.length, 0);
});

t.test(
  'AGENTHOOK-09 who takes nothing loses the oldest, and keeps no more than so many waiting',
  async (t) => {
    const { receiver, work, register, hear, dead } = await stage(t, {
      mostWaiting: 3,
      pausesMs: { first: 60_000, longest: 60_000 },
    });
    receiver.answer = () => 503;
    await register('alice');
    work();
    await hear('alice', 'm0');
    await receiver.until('the first try', () => receiver.received.length === 1);
    for (let n = 1; n < 6; n++) await hear('alice', `m${n}`);
    const letters = await eventually('the oldest to go', async () => {
      const found = await dead('alice');
      return found.length >= 2 && found;
    });
    t.match(letters[0], { reason: 'Too many wait; the last failure: answered 503', body: /"m0"/ });
  },
);

t.test('AGENTHOOK-13 what waits is not posted to who has the nick, or another webhook, later', async (t) => {
  const { receiver, work, register, hear, dead } = await stage(t);
  receiver.answer = (path) => (path === '/last' ? 204 : 503);
  await register('alice', '/first', 'ann');
  work();
  await hear('alice', 'for ann', 'private', 'ann');
  await hear('alice', 'of an older version');
  await receiver.until('a try', () => receiver.received.length > 0);
  await register('alice', '/second', 'ben');
  await hear('alice', 'for ben', 'private', 'ben');
  await receiver.until('a try of another', () => receiver.texts('/second').length > 0);
  await register('alice', '/last', 'ben');
  await hear('alice', 'later', 'private', 'ben');
  await receiver.until('the last', () => receiver.taken('/last').includes('later'));
  t.same([...new Set(receiver.texts('/second'))], ['for ben']);
  t.same(receiver.texts('/last'), ['for ben', 'later'], 'what is his is posted to his next address');
  t.same(await dead('alice'), [], 'nor does it become a dead letter of another');
});

t.test('AGENTHOOK-13 what is redriven is posted to the webhook of whom it was for', async (t) => {
  const { log, receiver, work, register, hear, dead } = await stage(t);
  receiver.answer = () => 422;
  await register('alice', '/operator');
  work();
  const letters = async (count: number) =>
    await eventually('dead letters', async () => {
      const found = await dead('alice');
      return found.length === count && found;
    });
  for (const text of ['one', 'two']) await hear('alice', text, 'private', 'ann');
  await hear('alice', 'three');
  await letters(3);
  await register('alice', '/ben', 'ben');
  for (const text of ['four', 'five']) await hear('alice', text, 'private', 'ben');
  const found = await letters(5);
  t.same(
    found.map(({ person }) => person),
    ['ann', 'ann', null, 'ben', 'ben'],
    'a dead letter is for whom the message was for',
  );
  receiver.answer = () => 204;
  const [one, two, three, four, five] = found;
  const redrive = ({ seq } = one!) =>
    log.handle(webhookDeliveries, deadMessagesDecider, { nick: 'alice', seq, person: null }, { by });
  // as older versions recorded it
  const redriveAsBefore = ({ nick, seq, body } = two!) => {
    const fact = { type: 'message.redriven' as const, data: { nick, seq, body } };
    return log.append(webhookDeliveries, deliverySubjects('alice').dead, fact, { by });
  };
  await redrive(one);
  await redriveAsBefore(two);
  await redrive(three);
  await redriveAsBefore(four);
  await redrive(five);
  await receiver.until('the last', () => receiver.taken('/ben').includes('five'));
  t.same(receiver.taken('/ben'), ['three', 'four', 'five']);
});

t.test('AGENTHOOK-09 what waits is counted on after the work was taken up again', async (t) => {
  const { log, receiver, work, register, hear, dead } = await stage(t, {
    mostWaiting: 2,
    pausesMs: { first: 60_000, longest: 60_000 },
  });
  receiver.answer = (path) => (path === '/alice' ? 503 : 204);
  await register('alice');
  await register('bob');
  work();
  await hear('alice', 'm0');
  await hear('alice', 'm1');
  await receiver.until('the first try', () => receiver.received.length === 1);
  const { consumers } = log.manager;
  for (const name of ['deliver-webhooks-1', 'deliver-webhooks-2'])
    await consumers.delete(inbox.name, name).catch(() => false);
  await hear('bob', 'hello');
  await receiver.until('it to read again', () => receiver.taken('/bob').length === 1);
  await hear('alice', 'm2');
  const [letter] = await eventually('the oldest to go', async () => {
    const found = await dead('alice');
    return found.length > 0 && found;
  });
  t.match(letter, { reason: /^Too many wait/, body: /"m0"/ });
});
