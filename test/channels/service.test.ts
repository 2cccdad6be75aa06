import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { type Channels, createChannels } from '../../workers/channels/index.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { freePort } from '../support/ports.js';
import { startPostgres } from '../support/sql.js';
import { asker, creation, openLog, startKeeper } from './keeper.js';
import { askOf, channelStage, environmentOf, untilKept } from './stage.js';

t.test('CHAN-08 CHAN-09 CHAN-25 keys and hourly limits', async (t) => {
  const key = 'k'.repeat(40);
  const stage = await channelStage(t, {
    API_KEYS: `ops:${key}`,
    CHANNEL_CREATIONS_PER_HOUR: '3',
    CHANNEL_DELETIONS_PER_HOUR: '1',
    MEMBER_OPERATIONS_PER_HOUR: '2',
  });
  const withKey = (method: string, path: string, body?: unknown) =>
    stage.ask(method, path, body, { 'x-api-key': key });

  t.equal((await stage.ask('POST', '/channels', { name: '#one', type: 'special' })).status, 401);
  t.equal((await stage.ask('DELETE', '/channels/one', {})).status, 401);
  t.equal((await stage.ask('PATCH', '/channels/one', {}, { authorization: 'Bearer wrong' })).status, 401);
  t.equal((await stage.ask('POST', '/channels/one/members', {})).status, 401, 'before the body is looked at');
  t.same((await stage.ask('GET', '/channels')).body, { channels: [], total: 0 }, 'reads are open');

  t.equal((await withKey('POST', '/channels', { name: '#one', type: 'special' })).status, 201);
  t.equal((await withKey('POST', '/channels', { name: '#one', type: 'special' })).status, 409);
  t.equal((await withKey('POST', '/channels', { name: '#two', type: 'special' })).status, 201);
  t.equal((await withKey('POST', '/channels', { name: '#three', type: 'special' })).status, 201);
  const tooMany = await withKey('POST', '/channels', { name: '#four', type: 'special' });
  t.equal(tooMany.status, 429);
  t.match(tooMany.body, { code: 'rate_limited', error: 'Too many channel creations: at most 3 an hour' });
  const wait = Number(tooMany.headers.get('retry-after'));
  t.ok(wait > 3_500 && wait <= 3_600, `again in ${wait} s`);
  t.equal((await stage.ask('GET', '/channels/four')).status, 404);
  const [record] = (await stage.ask('GET', '/channels/one/operations')).body.operations;
  t.equal(record.details, 'special +nt (by ops)');

  t.equal((await withKey('DELETE', '/channels/one', {})).status, 200, 'archiving has no limit');
  t.equal((await withKey('DELETE', '/channels/one', { immediate: true })).status, 200);
  const deletion = await withKey('DELETE', '/channels/two', { immediate: true });
  t.match(deletion, { status: 429, body: { code: 'rate_limited' } });
  t.equal((await stage.ask('GET', '/channels/two')).status, 200);

  const voice = (...nicks: string[]) => withKey('POST', '/channels/two/members', { action: 'voice', nicks });
  t.equal((await voice('a1', 'a2', 'a3')).status, 429, 'each nick counts');
  t.same((await voice('a1', 'a2')).body.failed, { a1: 'No such nick', a2: 'No such nick' });
  t.equal((await voice('a1')).status, 429);
});

t.test('CHAN-97 a reason is one short line on the network, whatever it was given as', async (t) => {
  const stage = await channelStage(t);
  await stage.agent('ann');
  for (const [n, reason] of ['first\r\nsecond\u0000third', '\u{1f600}'.repeat(150)].entries()) {
    const name = `reason-${n}`;
    t.equal((await stage.ask('POST', '/channels', { name: `#${name}`, type: 'special' })).status, 201);
    const change = { nicks: ['ann'], reason };
    const members = `/channels/${name}/members`;
    for (const action of ['sajoin', 'sapart', 'sajoin'])
      t.same((await stage.ask('POST', members, { action, ...change })).body.failed, {}, action);
    t.equal((await stage.ask('DELETE', `/channels/${name}`, { immediate: true, reason })).status, 200);
    t.same(await stage.names(`#${name}`), [], 'nobody is left in it');
  }
});

t.test('CHAN-07 a type has its limit', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const first = await startKeeper(t, { nats, ircd });
  const category = (channels: Channels, n: number) =>
    channels.create(creation(`#cat-n${n}`, { type: 'category' }), asker);
  await Promise.all(Array.from({ length: 99 }, (_, n) => category(first.channels, n)));
  await first.stop();
  const { channels } = await startKeeper(t, { nats, ircd }, { log: first.log, read: first.read });
  await category(channels, 99);
  const full = {
    code: 'type_limit_reached',
    status: 429,
    message: 'There are 100 category channels, which is the limit',
  };
  await t.rejects(category(channels, 100), full);
  await t.rejects(category(channels, 5), { code: 'channel_exists' });
  await channels.create(creation('#city-x', { type: 'geographic' }), asker);
  await channels.remove({ name: '#cat-n5', reason: '', immediate: false, cause: 'automation' }, asker);
  const many = await Promise.allSettled([100, 101, 102, 103].map((n) => category(channels, n)));
  t.equal(
    many.filter(({ status }) => status === 'fulfilled').length,
    1,
    'an archived one has made room for one',
  );
  await channels.remove({ name: '#cat-n5', reason: '', immediate: true, cause: 'automation' }, asker);
  await t.rejects(category(channels, 104), full, 'and makes no more when it is deleted');
});

t.test('CHAN-15 CHAN-26 without the bot as operator', async (t) => {
  const stage = await channelStage(t);
  t.equal((await stage.ask('POST', '/channels', { name: '#before', type: 'special' })).status, 201);
  await stage.ircd.kill();
  await eventually('the loss to be seen', async () => {
    const { channelserv } = (await stage.ask('GET', '/health')).body.services;
    return channelserv.status === 'degraded' && channelserv.irc.connected === false;
  });
  const away = { error: 'IRC not connected or bot not operator', code: 'irc_unavailable' };
  for (const [method, path, body] of [
    ['POST', '/channels', { name: '#after', type: 'special' }],
    ['PATCH', '/channels/before', { topic: 'x' }],
    ['DELETE', '/channels/before', {}],
  ] as const) {
    const answer = await stage.ask(method, path, body);
    t.same([answer.status, answer.body], [503, away], method);
  }
  t.equal((await stage.ask('POST', '/channels', { name: 'bad', type: 'special' })).status, 400);
  const members = (name: string) =>
    stage.ask('POST', `/channels/${name}/members`, { action: 'op', nicks: ['ann', 'bob'] });
  const failure = 'IRC operation failed (not connected or not oper)';
  t.same((await members('before')).body, {
    action: 'op',
    successful: [],
    failed: { ann: failure, bob: failure },
  });
  t.equal((await members('nothing')).status, 404);
  t.equal((await stage.ask('GET', '/channels/after')).status, 404, 'nothing was recorded');
  await stage.ircd.start();
  await untilKept(stage.app.url);
  t.equal((await stage.ask('POST', '/channels', { name: '#after', type: 'special' })).status, 201);
});

t.test('CHAN-15 a network that is lost while a channel is made', { timeout: 240_000 }, async (t) => {
  const stage = await channelStage(t);
  const create = () => stage.ask('POST', '/channels', { name: '#half', type: 'special' });
  stage.ircd.pause();
  await delay(1_500); // the loss is noticed five seconds after the last sign of life
  t.match(await create(), { status: 503, body: { code: 'irc_unavailable' } });
  t.equal((await stage.ask('GET', '/channels/half')).status, 404);
  stage.ircd.resume();
  await untilKept(stage.app.url);
  const again = await eventually('it to be made', async () => {
    const answer = await create();
    return answer.status !== 503 && answer;
  });
  t.match(again, { status: 201, body: { created: true } });
});

t.test('CHAN-15 wrong operator credentials', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const app = await startApp(t, { ...environmentOf({ nats, ircd }), IRC_OPER_PASSWORD: 'wrong' });
  const channelserv = async () =>
    (await askOf(app.url, 'GET', '/health')).body.services.channelserv as {
      status: string;
      irc: Record<string, unknown>;
    };
  await eventually('the bot to be there', async () => (await channelserv()).irc.connected === true);
  t.match(await channelserv(), { status: 'degraded', irc: { connected: true, oper: false } });
  const answer = await askOf(app.url, 'POST', '/channels', { name: '#abc', type: 'special' });
  t.match(answer, { status: 503, body: { code: 'irc_unavailable' } });
});

t.test('CHAN-24 the bot is in one process, the routes in another, the service in a third', async (t) => {
  const [nats, ircd, postgres] = await Promise.all([startNats(t), startIrcd(t), startPostgres(t)]);
  const shared = { ...environmentOf({ nats, ircd }), DATABASE_URL: postgres.url };
  const start = (environment: Record<string, string>) => startApp(t, { ...shared, ...environment });
  const folding = await start({ ROLES: 'irc,projections' });
  const port = await freePort();
  const inside = await start({ ROLES: 'services', PORT: String(port) });
  const api = await start({ ROLES: 'api', CHANNELSERV_URL: `http://127.0.0.1:${port}/channelserv` });
  await untilKept(api.url);
  const ask = (method: string, path: string, body?: unknown) => askOf(api.url, method, path, body);
  const created = await ask('POST', '/channels', { name: '#far-away', type: 'skill', modes: '+nts' });
  t.match(created, { status: 201, body: { name: '#far-away', created: true } });
  t.match((await ask('GET', '/channels/far-away')).body, { type: 'skill', modes: '+nts' });
  const refused = await ask('POST', '/channels', { name: '#far-away', type: 'other' });
  t.match(refused, { status: 400, body: { code: 'validation_failed', details: [{ path: 'type' }] } });
  t.equal((await ask('POST', '/channels', { name: '#far-away', type: 'skill' })).status, 409);
  t.equal((await ask('GET', '/channels/not-there')).status, 404);
  const page = await fetch(`${inside.url}/channelserv/health`, {
    headers: { origin: 'https://evil.example' },
  });
  t.match({ status: page.status, body: await page.json() }, { status: 403, body: { code: 'other_origin' } });
  t.match((await ask('GET', '/channels/far-away/operations?limit=5')).body.operations, [
    { operation: 'create', details: 'skill +nts (by local)' },
  ]);
  t.match((await ask('DELETE', '/channels/far-away', { immediate: true })).body, { deleted: true });
  await folding.stop();
  const log = await openLog(t, nats.url);
  await t.rejects(createChannels(log).create(creation('#nobody'), asker), {
    code: 'irc_unavailable',
    status: 503,
  });
  t.match(await ask('POST', '/channels', { name: '#far-away', type: 'skill' }), { status: 503 });
});
