import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { readConfig } from '../../src/config/config.js';
import { ownPorts } from '../../src/config/own-ports.js';
import { bootWarnings, webhooksMayReachLoopback } from '../../src/config/warnings.js';
import { publicReach, reachWithLoopback } from '../../workers/webhooks/index.js';
import { withoutIrc } from '../identity/stage.js';
import { keysStage } from '../keys/stage.js';
import { startReceiver } from './receiver.js';

const bounds = { timeoutMs: 2_000, maxBytes: 1_000 };
const post = { method: 'POST', body: JSON.stringify({ payload: { text: 'hello' } }) };

t.test('AGENTHOOK-17 programs on this machine, where that is wanted', async (t) => {
  const receiver = await startReceiver(t);
  const port = Number(new URL(receiver.url).port);
  const reach = reachWithLoopback(new Set([8100]));
  const hosts = ['127.0.0.1', 'localhost', '127.1', '2130706433', '[::1]'];
  for (const host of hosts) {
    t.equal(publicReach.allows(`http://${host}:${port}/`), false, host);
    t.equal(reach.allows(`http://${host}:${port}/`), true, host);
    t.equal(reach.allows(`https://${host}:8100/channels`), false, `${host}: the service itself`);
  }
  const posted = await reach.fetch(`${receiver.url}/here`, bounds, post);
  t.equal(posted.status, 204);
  await t.rejects(publicReach.fetch(`${receiver.url}/here`, bounds, post), { name: 'AddressRefused' });
  const closed = reachWithLoopback(new Set([port]));
  for (const host of ['127.0.0.1', 'localhost'])
    await t.rejects(closed.fetch(`http://${host}:${port}/x`, bounds, post), { name: 'AddressRefused' }, host);
  t.same(receiver.texts('/x'), []);
  for (const other of [
    'http://alice.example/',
    'https://10.0.0.8/',
    'https://169.254.169.254/latest/meta-data',
    'http://[::ffff:127.0.0.1]/',
    'https://relay.localhost/',
    'https://nats:4222/',
  ])
    t.equal(reach.allows(other), false, other);
  t.equal(reach.allows('https://alice.example/'), true);
});

t.test('AGENTHOOK-17 a redirect leads nowhere', async (t) => {
  const receiver = await startReceiver(t);
  const server = createServer((_, response) =>
    response.writeHead(307, { location: `${receiver.url}/x` }).end(),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const closed = reachWithLoopback(new Set([Number(new URL(receiver.url).port)]));
  t.equal((await closed.fetch(`http://127.0.0.1:${port}/`, bounds, post)).status, 307);
  t.same(receiver.texts('/x'), []);
});

t.test('AGENTHOOK-17 nothing opens this machine to strangers', async (t) => {
  const may = (environment: Record<string, string>) => webhooksMayReachLoopback(readConfig(environment));
  t.equal(may({}), false, 'unless it is said');
  t.equal(may({ WEBHOOK_LOOPBACK: 'true' }), true);
  for (const open of [
    { HOST: '0.0.0.0' },
    { HOST: '10.0.0.1' },
    { PUBLIC_URL: 'https://relay.example' },
    { TRUST_PROXY: '1' },
    { TRUST_PROXY: '127.0.0.1' },
  ]) {
    const environment = { WEBHOOK_LOOPBACK: 'true', ...open };
    t.equal(may(environment), false, JSON.stringify(open));
    t.ok(bootWarnings(readConfig(environment)).some((text) => /WEBHOOK_LOOPBACK has no effect/.test(text)));
  }
  t.ok(bootWarnings(readConfig({ WEBHOOK_LOOPBACK: 'true' })).some((text) => /posted to/.test(text)));
  const settings = {
    PORT: '8101',
    NATS_URL: 'nats://127.0.0.1',
    IRC_URL: 'irc://localhost:6668',
    EM_URL: 'http://[::1]:9/',
  };
  const ports = ownPorts(readConfig(settings));
  for (const port of [8101, 6667, 4222, 6668, 9]) t.ok(ports.has(port), String(port));
});

t.test('AGENTHOOK-17 by HTTP', async (t) => {
  const { ask, given } = await keysStage(t, {
    ROLES: withoutIrc,
    WEBHOOK_LOOPBACK: 'true',
    PUBLIC_URL: 'http://localhost:8100',
  });
  const alice = await given('alice', ['read', 'speak']);
  const put = (url: string) => ask('PUT', '/irc/webhook', { url }, alice.headers);
  t.match(await put('http://127.0.0.1:9000/'), { status: 200, body: { url: 'http://127.0.0.1:9000/' } });
  t.match(await put('http://127.0.0.1:6667/'), { status: 400, body: { details: [{ path: 'url' }] } });
});
