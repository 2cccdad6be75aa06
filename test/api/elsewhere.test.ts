import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { nobody } from '../../src/operations/core/call.js';
import { defineOperation } from '../../src/operations/core/operation.js';
import { remoteService } from '../../src/remote/client.js';

const place = { service: 'mrserv', path: '/slow' } as const;
const run = async () => undefined;
const read = defineOperation('read', { remote: { ...place, method: 'get' }, run });
const change = defineOperation('change', { remote: { ...place, method: 'post' }, run });

t.test('a change in another process is waited for longer than a read may take', async (t) => {
  const server = createServer(async (_request, response) => {
    await delay(1_000);
    response.end('{"done":true}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // as with PROXY_TIMEOUT=1
  const ask = remoteService('mrserv', { url, timeoutMs: 1 });

  t.same(await ask(change, {}, nobody), { done: true });
  await t.rejects(ask(read, {}, nobody), { status: 502, code: 'upstream_unreachable' });
});
