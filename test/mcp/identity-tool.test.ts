import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { identityRoutes } from '../../src/operations/identity/service.js';
import { identityTools } from '../../src/operations/identity/tools.js';
import { upstream } from '../../src/remote/service.js';

t.test('MCP-11 an identity service that says no, and one that is not there', async (t) => {
  const server = createServer((_request, response) => {
    response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":"later"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lookup = (at: string) => {
    const mrserv = upstream('mrserv', identityRoutes, { url: at, timeoutMs: 2_000, service: undefined });
    const [tool] = identityTools(mrserv);
    return tool!.run({ nick: 'ann' }, { tier: 'keyed', actor: 'test' });
  };
  t.same(await lookup(url), { error: 'HTTP 503', status: 503 });
  await t.rejects(lookup('http://127.0.0.1:1'), { message: 'identity service unreachable' });
});
