import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import t from 'tap';
import { createApp } from '../../src/app/app.js';
import { readConfig } from '../../src/config/config.js';
import { bootWarnings } from '../../src/config/warnings.js';
import { nobody } from '../../src/operations/core/call.js';
import { getHealth } from '../../src/operations/system/health.js';
import { clock, useClock } from '../../streams/core/clock.js';
import { postEvent, sampleEvent, startApp, webhookSecret } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { startService } from '../support/service.js';

const key = 'k'.repeat(40);

async function getJson(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

t.test(
  'API-07 who asks for health during a check, or within a second after it, gets what it finds',
  async (t) => {
    let elapsed = 5_000;
    t.teardown(useClock({ ...clock, elapsed: () => elapsed }));
    let checks = 0;
    let finish = () => {};
    const bridge = async () => {
      checks++;
      await new Promise<void>((resolve) => (finish = resolve));
      return { status: 'ok' };
    };
    let reason: string | undefined;
    const system = { health: { bridge }, notReady: () => reason, halted: async () => ({}) };
    const ask = () => getHealth.run({}, nobody, { system, startedAt: new Date() });
    const many = Array.from({ length: 20 }, ask);
    finish();
    for (const { status } of await Promise.all(many)) t.equal(status, 'ok');
    t.equal(checks, 1);
    elapsed += 999;
    await ask();
    t.equal(checks, 1, 'a probe among many');
    elapsed += 1;
    const later = ask();
    elapsed += 10_000;
    const meanwhile = ask();
    finish();
    await Promise.all([later, meanwhile]);
    t.equal(checks, 2, 'what is older is asked again');
    reason = 'the log is away';
    const changed = ask();
    finish();
    await changed;
    t.equal(checks, 3, 'so is what was before readiness ended');
  },
);

t.test('API-07 health tells each part, readiness follows the log', async (t) => {
  const nats = await startNats(t);
  const ircd = await startIrcd(t);
  const { url } = await startApp(t, {
    NATS_URL: nats.url,
    ...settingsOf(ircd),
  });
  const healthy = await eventually('the bridge and the channels to be well', async () => {
    const { status, body } = await getJson(`${url}/health`);
    t.equal(status, 200);
    const { bridge, channelserv } = body.services as Record<string, { status: string }>;
    return bridge?.status === 'ok' && channelserv?.status === 'ok' && body;
  });
  t.match(healthy, {
    services: {
      bridge: {
        status: 'ok',
        latencyMs: Number,
        irc: { connected: true, oper: false, nick: 'em-bot' },
        em_queue: { pending: 0, delivered_today: 0, dead_letter: 0 },
      },
      channelserv: { irc: { connected: true, oper: true, nick: 'channelserv' } },
    },
    uptime: Number,
  });
  t.equal((await fetch(`${url}/ready`)).status, 200);
  await nats.kill();
  await eventually('readiness to end', async () => (await fetch(`${url}/ready`)).status === 503);
  const degraded = await getJson(`${url}/health`);
  t.match(degraded, { status: 200, body: { status: 'degraded' } });
  await nats.start();
  await eventually('readiness to come back', async () => (await fetch(`${url}/ready`)).ok);
});

t.test('API-08 API-09 dead letters, behind a key', async (t) => {
  const nats = await startNats(t);
  const ircd = await startIrcd(t);
  const { url } = await startApp(t, {
    NATS_URL: nats.url,
    // without the operator's credentials the bot cannot enter a channel that is closed to it
    IRC_URL: ircd.url,
    IRC_SERVER_PASSWORD: ircd.serverPassword,
    EVENT_RETRY_MS: '50',
    API_KEYS: `ops:${key}`,
  });
  const observer = await observe(ircd.port, { nick: 'witness', channels: ['#task-deadbeef'] });
  t.teardown(() => observer.stop());
  await observer.ask(`OPER ${ircd.operName} ${ircd.operPassword}`, 'SAMODE #task-deadbeef +b em-bot!*@*');

  t.equal((await getJson(`${url}/ops/dead-letters`)).status, 401);
  t.match(await getJson(`${url}/ops/dead-letters`, { 'x-api-key': 'wrong' }), {
    status: 401,
    body: { code: 'api_key_invalid' },
  });
  const auth = { authorization: `Bearer ${key}` };

  const payload = { id: 'deadbeef', reason: 'not sharp enough' };
  await postEvent(url, sampleEvent('evt-dead', { event_type: 'task.rejected', payload }));
  const letter = await eventually('the dead letter', async () => {
    const { body } = await getJson(`${url}/ops/dead-letters`, auth);
    return (body.dead_letters as Record<string, unknown>[])[0];
  });
  t.match(letter, {
    event_id: 'evt-dead',
    status: 'dead_letter',
    retry_count: 3,
    last_error: /474/,
    target_channels: ['#task-deadbeef'],
  });
  t.match((await getJson(`${url}/hooks/em/stats`)).body, { pending: 0, dead_letter: 1 });
  t.match((await getJson(`${url}/ops/dead-letters/evt-dead`, { 'x-mcp-api-key': key })).body, {
    ...letter,
    channels: [{ channel: '#task-deadbeef', status: 'dead_letter', failures: 3 }],
  });
  t.match(await getJson(`${url}/ops/dead-letters/unknown`, auth), {
    status: 404,
    body: { code: 'not_found' },
  });
  t.match(await getJson(`${url}/ops/dead-letters?limit=0`, auth), {
    status: 400,
    body: { code: 'validation_failed', details: [{ path: 'limit' }] },
  });

  await observer.ask('SAMODE #task-deadbeef -b em-bot!*@*');
  const redrive = () => fetch(`${url}/ops/dead-letters/evt-dead/redrive`, { method: 'POST', headers: auth });
  const redriven = await redrive();
  t.equal(redriven.status, 200);
  t.match(await redriven.json(), { event_id: 'evt-dead', redriven: true, channels: ['#task-deadbeef'] });
  await observer.waitFor((line) => line.channel === '#task-deadbeef' && line.text.includes('deadbeef'));
  const delivered = await eventually('the event to be delivered', async () => {
    const { body } = await getJson(`${url}/ops/dead-letters/evt-dead`, auth);
    return body.status === 'delivered' && body;
  });
  t.equal(delivered.last_error, null, 'what was mended is no error any more');
  t.match(delivered.channels, [{ channel: '#task-deadbeef', status: 'delivered', at: String, failures: 0 }]);
  t.equal((await redrive()).status, 409);
});

t.test('API-08 without keys the operator routes are for local callers', async (t) => {
  const nats = await startNats(t);
  const app = await startApp(t, {
    NATS_URL: nats.url,
    ROLES: 'api,projections',
    IRC_URL: 'irc://127.0.0.1:1',
  });
  t.equal((await getJson(`${app.url}/ops/projections`)).status, 200);
  const stranger = await app.server?.inject({ url: '/ops/projections', remoteAddress: '203.0.113.9' });
  t.equal(stranger?.statusCode, 403);
  const asked = (headers: Record<string, string>) =>
    app.server.inject({ url: '/ops/projections', remoteAddress: '127.0.0.1', headers });
  const foreign: Record<string, string>[] = [
    { origin: 'https://a-page.example' },
    { origin: 'null' },
    { host: 'rebound.example' },
    { 'x-forwarded-for': '203.0.113.9' },
    { forwarded: 'for=203.0.113.9' },
    { 'sec-fetch-site': 'cross-site' },
  ];
  for (const headers of foreign) t.equal((await asked(headers)).statusCode, 403, JSON.stringify(headers));
  t.equal((await asked({ origin: 'http://localhost:8100', host: 'localhost:8100' })).statusCode, 200);
  t.equal((await asked({ 'sec-fetch-site': 'none' })).statusCode, 200, 'typed into a browser');
  t.match((await getJson(`${app.url}/ops/projections`)).body, {
    projections: [{ name: 'delivery_queue', state: 'live' }],
  });
});

t.test('API-10 secrets and payloads stay out of the log', async (t) => {
  const nats = await startNats(t);
  const dir = await mkdtemp(join(tmpdir(), 'relay-log-'));
  t.teardown(() => rm(dir, { recursive: true, force: true }));
  const file = join(dir, 'log');
  const ircPassword = 'irc-password-7c1';
  const environment = {
    NATS_URL: nats.url,
    PORT: '0',
    DATA_DIR: dir,
    IRC_URL: 'irc://127.0.0.1:1',
    IRC_SERVER_PASSWORD: ircPassword,
    IRC_OPER_NAME: 'o',
    IRC_OPER_PASSWORD: ircPassword,
    EM_WEBHOOK_SECRET: webhookSecret,
    API_KEYS: `ops:${key}`,
  };
  const destination = pino.destination({ dest: file, sync: true });
  const app = await createApp(readConfig(environment), pino({ level: 'trace' }, destination));
  await postEvent(app.address!, sampleEvent('evt-1', { payload: { id: 'x', title: 'a private title' } }));
  await postEvent(app.address!, sampleEvent('evt-2'), { secret: 'wrong' });
  await getJson(`${app.address}/ops/projections?key=${key}`, { 'x-api-key': key });
  await app.stop();
  const log = await readFile(file, 'utf8');
  t.ok(log.length > 0);
  for (const secret of [webhookSecret, key, ircPassword, 'a private title'])
    t.notOk(log.includes(secret), secret.slice(0, 8));
});

t.test(
  'API-11 the second service on a data directory refuses, a killed one does not block the next',
  async (t) => {
    const service = await startService(t, {});
    const data = join(service.dir, 'data');
    const second = await createApp(
      readConfig({ DATA_DIR: data, PORT: '0', IRC_EMBEDDED_PORT: '0' }),
      pino({ level: 'silent' }),
    ).catch((error: Error) => error);
    t.type(second, Error);
    t.match((second as Error).message, String(service.pid));
    await postEvent(service.url, sampleEvent('evt-before'));
    await service.kill();
    await service.start();
    const again = await postEvent(service.url, sampleEvent('evt-before'));
    t.equal(again.body.status, 'already_processed', 'it took over the log of the killed one');
    t.equal(await service.kill('SIGTERM'), 0, 'a graceful stop ends with 0');
    await service.start();
  },
);

t.test('API-12 risky settings are named', async (t) => {
  const warnings = (environment: Record<string, string>) => bootWarnings(readConfig(environment)).join('\n');
  t.match(warnings({}), /API_KEYS is empty/);
  t.match(warnings({ API_KEYS: 'ann:short' }), /API key of ann is shorter/);
  t.notMatch(warnings({ API_KEYS: 'ann:short' }), 'short-key-value');
  t.match(warnings({ EM_WEBHOOK_SECRET: 'abc' }), /EM_WEBHOOK_SECRET is shorter than 32/);
  t.match(warnings({ HOST: '0.0.0.0', RATE_LIMIT: '0' }), /RATE_LIMIT is 0/);
  t.match(warnings({ NATS_URL: 'nats://n:4222' }), /one server only/);
  t.match(warnings({ IRC_URL: 'irc://irc.example:6667' }), /not encrypted/);
  t.match(warnings({ IRC_URL: 'ircs://irc.example:6697' }), /IRC_OPER_NAME is empty/);
  const toAll = { PUBLIC_URL: 'https://relay.example' };
  t.match(warnings(toAll), /UNKNOWN_EVENTS is show/);
  t.match(warnings({ HOST: '0.0.0.0' }), /UNKNOWN_EVENTS is show/);
  t.notMatch(warnings({ PUBLIC_URL: 'http://localhost:8100' }), /UNKNOWN_EVENTS/);
  t.notMatch(warnings({ ...toAll, UNKNOWN_EVENTS: 'reject' }), /UNKNOWN_EVENTS/);
  t.notMatch(warnings({ ...toAll, UNKNOWN_EVENT_FIELDS: 'id,title' }), /UNKNOWN_EVENTS/);
  const sound = { API_KEYS: `ann:${key}`, EM_WEBHOOK_SECRET: webhookSecret };
  t.equal(warnings(sound), '', 'nothing to say about a sound configuration');
});
