import t from 'tap';
import { AddressLimit } from '../../src/auth/address-limit.js';
import { startNats } from '../support/nats.js';
import { guardedServer } from './stage.js';

t.test('the routes of wallet signatures', async (t) => {
  const nats = await startNats(t);
  const { server } = await guardedServer({ natsUrl: nats.url, nonceRateLimit: 5 });
  t.teardown(() => server.close());
  const get = (url: string, remoteAddress: string) => server.inject({ url, remoteAddress });

  t.test('AUTH-10 a nonce, at both places', async (t) => {
    for (const path of ['/auth/erc8128/nonce', '/api/v1/auth/erc8128/nonce']) {
      const before = Date.now();
      const answer = await get(path, '198.51.100.1');
      t.equal(answer.statusCode, 200);
      t.equal(answer.headers['cache-control'], 'no-store');
      t.equal(answer.headers['access-control-allow-origin'], '*');
      const body = answer.json();
      t.same(Object.keys(body), ['nonce', 'ttl_seconds', 'expires_at', 'message']);
      t.match(body, { nonce: /^[\w-]{32}$/, ttl_seconds: 300, message: /api\.relay\.example/ });
      // the clock is the log server's, which is known to a second or two; the first answer may take longer
      const issued = Date.parse(body.expires_at) - 300_000;
      t.ok(issued > before - 2_000 && issued < Date.now() + 2_000);
    }
  });

  t.test('AUTH-07 so many a minute and address, for callers on this machine too', async (t) => {
    for (const address of ['203.0.113.7', '127.0.0.1']) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => get('/auth/erc8128/nonce', address)));
      t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 5, address);
      const refused = answers.filter(({ statusCode }) => statusCode === 429);
      t.equal(refused.length, 3, address);
      for (const { headers, body } of refused) {
        t.match(JSON.parse(body), { code: 'nonce_rate_limited', error: String });
        t.ok(Number(headers['retry-after']) >= 1 && Number(headers['retry-after']) <= 60);
        t.match(headers, { 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '0' });
      }
    }
    t.equal(
      (await get('/auth/erc8128/nonce', '203.0.113.8')).statusCode,
      200,
      'another address is another caller',
    );
    const site = await Promise.all(
      Array.from({ length: 60 }, (_, n) => get('/auth/erc8128/nonce', `2001:db8:5:${n.toString(16)}::1`)),
    );
    t.equal(site.filter(({ statusCode }) => statusCode === 200).length, 50, 'of the networks of one site');
  });

  t.test('AUTH-08 without the store', async (t) => {
    await nats.kill();
    const answer = await get('/auth/erc8128/nonce', '203.0.113.9');
    t.equal(answer.statusCode, 503);
    t.match(answer.json(), { code: 'nonce_store_unavailable' });
    t.ok(answer.headers['retry-after']);
  });
});

t.test('AUTH-07 the limit counts anew each minute, and an IPv6 network as one', async (t) => {
  let now = 0;
  const limit = new AddressLimit(2, { now: () => now });
  t.match(limit.count('a'), { allowed: true, remaining: 1, resetSec: 60 });
  now = 30_500;
  t.match(limit.count('a'), { allowed: true, remaining: 0, resetSec: 30 });
  t.match(limit.count('a'), { allowed: false, remaining: 0 });
  t.match(limit.count('b'), { allowed: true });
  now = 60_000;
  t.match(limit.count('a'), { allowed: true, remaining: 1, resetSec: 60 });

  const many = new AddressLimit(1, { now: () => 0 });
  for (let n = 0; n <= 100_000; n += 1) many.count(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
  t.notOk(many.count('10.1.134.160').allowed, 'the last one is remembered');
  t.ok(many.count('10.0.0.0').allowed, 'the first one has given way');

  const sites = new AddressLimit(2, { bits: 48, now: () => 0 });
  for (const network of ['1', '2']) t.ok(sites.count(`2001:db8:1:${network}::1`).allowed);
  t.notOk(sites.count('2001:db8:1:3::1').allowed, 'networks of one site together');
  t.ok(sites.count('2001:db8:2:3::1').allowed);

  const others = new AddressLimit(1, { now: () => 0 });
  t.ok(others.count('2001:db8:1:2::1').allowed);
  t.notOk(others.count('2001:db8:1:2:ffff:1:2:3').allowed);
  t.ok(others.count('2001:db8:1:3::1').allowed);
  t.ok(others.count('::1').allowed);
  t.ok(others.count('192.0.2.1').allowed);
  t.notOk(others.count('::ffff:192.0.2.1').allowed);
});
