import pino from 'pino';
import t from 'tap';
import { maxOutstanding, Nonces } from '../../src/auth/erc8128/nonces.js';
import { Log } from '../../streams/core/index.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';

async function openLog(t: Teardown, url: string): Promise<Log> {
  const logger = pino({ level: 'silent' });
  const log = await Log.open({
    urls: url,
    name: 'nonces',
    streams: [],
    replicas: 1,
    maxBytes: 100_000_000,
    logger,
  });
  t.teardown(() => log.close());
  return log;
}

t.test('AUTH-04 a nonce is used once, by one of all', async (t) => {
  const nats = await startNats(t);
  const logs = [await openLog(t, nats.url), await openLog(t, nats.url)];
  const [a, b] = logs.map((log) => new Nonces({ log, replicas: 1 })) as [Nonces, Nonces];

  t.test('it has 32 characters and is good for 300 seconds', async (t) => {
    const before = Date.now();
    const { nonce, expiresAt } = await a.issue();
    t.match(nonce, /^[A-Za-z0-9_-]{32}$/);
    t.ok(expiresAt.getTime() - before > 299_000 && expiresAt.getTime() - Date.now() < 301_000);
  });

  t.test('what another process issued is used here, and then used everywhere', async (t) => {
    const { nonce } = await a.issue();
    t.equal(await b.use(nonce, 'k'), undefined);
    t.equal(await a.use(nonce, 'k'), 'nonce_replayed');
    t.equal(await b.use(nonce, 'other'), 'nonce_replayed');
  });

  t.test('what nobody issued is unknown, whatever it looks like', async (t) => {
    for (const nonce of [
      'x'.repeat(32),
      '',
      '>',
      '*',
      'a.b',
      'a'.repeat(31),
      'a'.repeat(500),
      'ä'.repeat(32),
    ])
      t.equal(await a.use(nonce, 'k'), 'nonce_unknown', nonce.slice(0, 40));
  });

  t.test('200 at once, over two connections: one', async (t) => {
    for (let round = 0; round < 5; round++) {
      const { nonce } = await a.issue();
      const ends = await Promise.all(
        Array.from({ length: 200 }, (_, index) => (index % 2 ? a : b).use(nonce, `k${index}`)),
      );
      t.equal(ends.filter((end) => end === undefined).length, 1);
      t.equal(ends.filter((end) => end === 'nonce_replayed').length, 199);
    }
  });
});

t.test('AUTH-05 a nonce that is too old is expired', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats.url);
  let ahead = 0;
  const nonces = new Nonces({ log, replicas: 1, now: () => new Date(Date.now() + ahead) });
  const [early, late] = [await nonces.issue(), await nonces.issue()];
  ahead = 295_000;
  t.equal(await nonces.use(early.nonce, 'k'), undefined);
  ahead = 301_000;
  t.equal(await nonces.use(late.nonce, 'k'), 'nonce_expired');
  t.equal(await nonces.use(early.nonce, 'k'), 'nonce_replayed');
});

t.test('AUTH-06 nonces outlive restarts, and so does that they were used', async (t) => {
  const nats = await startNats(t, { sync: 'always' });
  const log = await openLog(t, nats.url);
  const nonces = new Nonces({ log, replicas: 1 });
  const [used, kept] = [await nonces.issue(), await nonces.issue()];
  t.equal(await nonces.use(used.nonce, 'k'), undefined);
  await nats.kill();
  await t.rejects(nonces.use(kept.nonce, 'k'), { code: 'nonce_store_unavailable', status: 503 });
  await t.rejects(nonces.issue(), { code: 'nonce_store_unavailable', status: 503 });
  await nats.start();
  const after = new Nonces({ log: await openLog(t, nats.url), replicas: 1 });
  t.equal(await after.use(used.nonce, 'k'), 'nonce_replayed');
  t.equal(await after.use(kept.nonce, 'k'), undefined);
});

t.test('AUTH-07 10,000 may be out at once, and a used one makes room', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats.url);
  const nonces = new Nonces({ log, replicas: 1 });
  let last = '';
  for (let count = 0; count < maxOutstanding; count += 500) {
    const issued = await Promise.all(Array.from({ length: 500 }, () => nonces.issue()));
    last = issued[0]!.nonce;
  }
  t.equal(maxOutstanding, 10_000);
  await t.rejects(nonces.issue(), { code: 'nonce_capacity', status: 429, extra: { retryAfter: Number } });
  t.equal(await nonces.use(last, 'k'), undefined);
  await eventually('room for another', () => nonces.issue());
  await t.rejects(nonces.issue(), { code: 'nonce_capacity' });
});
