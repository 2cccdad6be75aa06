import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { BodyTooLarge } from '../../workers/core/fetch.js';
import { AddressRefused, isPublicAddress, publicFetch } from '../../workers/core/public-fetch.js';
import { type Manner, startEndless } from '../support/endless.js';

const bounds = { timeoutMs: 60_000, maxBytes: 1_000 };
/** This machine, and nothing else. */
const loopback = (address: string) => ['127.0.0.1', '::1'].includes(address);

/** A server on this machine that counts who comes. */
async function serve(location?: string) {
  const seen: { path: string; headers: object }[] = [];
  const server = createServer((request, response) => {
    seen.push({ path: request.url!, headers: request.headers });
    if (location) response.writeHead(302, { location });
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { seen, port: (server.address() as AddressInfo).port };
}

t.test('FETCH-04 which addresses are public', async (t) => {
  const isOpen = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::8a'];
  for (const address of isOpen) t.ok(isPublicAddress(address), address);
  for (const address of [
    ...['127.0.0.1', '127.255.255.255', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
    ...['169.254.169.254', '100.64.0.1', '224.0.0.1', '255.255.255.255', '198.18.0.1', '203.0.113.7'],
    ...['::1', '::', '::ffff:127.0.0.1', '::ffff:8.8.8.8', 'fe80::1', 'fc00::1', 'fd12::1', 'ff02::1'],
    ...['64:ff9b::7f00:1', '2002:7f00:1::', '2001:0:7f00::1', '2001:db8::1', 'localhost', ''],
  ])
    t.notOk(isPublicAddress(address), address);
});

t.test('FETCH-04 nothing on this machine is reached by any spelling', async (t) => {
  const { seen, port } = await serve();
  const get = publicFetch();
  for (const host of ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '0'])
    await t.rejects(get(`http://${host}:${port}/`, bounds), host);
  await t.rejects(get(`http://127.0.0.1:${port}/`, bounds), AddressRefused);
  await t.rejects(get(`http://localhost:${port}/`, bounds), { cause: { name: 'AddressRefused' } }, 'a name');
  t.same(seen, []);
});

t.test('FETCH-04 what may be reached is, without a redirect and without credentials', async (t) => {
  const inside = await serve();
  const there = await serve(`http://127.0.0.1:${inside.port}/`);
  const get = publicFetch(loopback);
  const answer = await get(`http://localhost:${there.port}/card?x=1`, bounds);
  t.equal(answer.status, 302);
  await answer.text();
  t.match(there.seen, [{ path: '/card?x=1', headers: { accept: 'application/json', cookie: undefined } }]);
  t.same(inside.seen, [], 'nobody went on from there');
  t.equal(await (await get(`http://127.0.0.1:${inside.port}/`, bounds)).text(), '{}');
});

for (const manner of ['mute', 'silent', 'drip', 'flood'] satisfies Manner[]) {
  t.test(`FETCH-04 an answer that never ends (${manner}) is given up`, async (t) => {
    const endless = await startEndless(t, manner);
    const get = publicFetch(loopback);
    const read = async () => (await get(endless.url, { timeoutMs: 500, maxBytes: 100_000 })).text();
    await t.rejects(read(), manner === 'flood' ? BodyTooLarge : { name: 'TimeoutError' });
  });
}
