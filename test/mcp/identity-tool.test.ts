import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { toolsOf } from '../../src/mcp/tools.js';
import { lookUpIdentity } from '../../src/operations/identity/lookup.js';
import { callElsewhere, callHere } from '../support/operations.js';

t.test('MCP-11 an identity service that says no, and one that is not there', async (t) => {
  const server = createServer((_request, response) => {
    response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":"later"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lookup = (at: string) => {
    const call = callElsewhere({ mrserv: at }, { timeoutMs: 2_000 });
    const [tool] = toolsOf([lookUpIdentity], callHere({ call }));
    return tool!.run({ nick: 'ann' }, { is: 'key', actor: 'test' });
  };
  t.same(await lookup(url), { error: 'HTTP 503', status: 503 });
  await t.rejects(lookup('http://127.0.0.1:1'), { message: 'identity service unreachable' });
});
