import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { nobody } from '../../src/operations/core/call.js';
import { healthOf } from '../../src/operations/core/health.js';
import { defineOperation } from '../../src/operations/core/operation.js';
import { remoteService } from '../../src/remote/client.js';

const place = { service: 'mrserv', path: '/slow' } as const;
const run = async () => undefined;
const read = defineOperation('read', { remote: { ...place, method: 'get' }, run });
const change = defineOperation('change', { remote: { ...place, method: 'post' }, run });

const health = defineOperation('health', { remote: healthOf('mrserv'), run });
const input = z.object({ limit: z.int().default(50), dry_run: z.boolean().default(false), name: z.string() });
const withQuery = { ...place, method: 'post', query: ['limit', 'dry_run'] } as const;
const named = defineOperation('named', { input, remote: withQuery, run });

/** A service that takes a second for its answer, which is what it was asked. Reads may take a millisecond, as with PROXY_TIMEOUT=1. */
async function slowService(t: Test) {
  const server = createServer(async (request, response) => {
    await delay(1_000);
    response.end(JSON.stringify({ asked: request.url }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return remoteService('mrserv', { url, timeoutMs: 1 });
}

t.test('a change in another process is waited for longer than a read may take', async (t) => {
  const ask = await slowService(t);
  t.same(await ask(change, {}, nobody), { asked: '/slow' });
  await t.rejects(ask(read, {}, nobody), { status: 502, code: 'upstream_unreachable' });
});

t.test('the health of a service has three seconds, whatever other reads have', async (t) => {
  const ask = await slowService(t);
  t.same(await ask(health, {}, nobody), { asked: '/health' });
});

t.test('a parameter with the value that it has anyway is not passed on', async (t) => {
  const ask = await slowService(t);
  const asked = (given: object) => ask(named, { limit: 50, dry_run: false, name: 'ann', ...given }, nobody);
  t.same(await asked({}), { asked: '/slow' });
  t.same(await asked({ limit: 5, dry_run: true }), { asked: '/slow?limit=5&dry_run=true' });
});
