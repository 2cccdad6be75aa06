import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import pino from 'pino';
import t, { type Test } from 'tap';
import { createServer } from '../../src/http/server.js';
import '../support/contract.js';
import { Refusal } from '../../streams/core/index.js';
import { eventually } from '../support/eventually.js';

async function startServer(
  t: Test,
  options: {
    rateLimit?: number;
    logger?: pino.Logger;
    timeouts?: { headersMs?: number; requestMs?: number; stopMs?: number };
    trustProxy?: number | string[];
    connectionsPerAddress?: number;
    inside?: boolean;
  } = {},
) {
  const app = await createServer({
    logger: options.logger ?? pino({ level: 'silent' }),
    rateLimit: options.rateLimit ?? 0,
    trustProxy: options.trustProxy ?? [],
    timeouts: options.timeouts ?? {},
    connectionsPerAddress: options.connectionsPerAddress ?? 0,
    inside: options.inside ?? false,
  });
  app.get('/things/:id', async (request) => request.params);
  const onRequest = async () => {
    throw new Refusal('api_key_required');
  };
  app.get('/kept', { onRequest }, async () => ({}));
  app.post('/things', async (request) => request.body);
  app.get('/broken', async () => {
    throw new Error('the password is hunter2');
  });
  app.get('/refused', async () => {
    throw new Refusal({ code: 'no_way', status: 409 }, 'No way', { hint: 'try another' });
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => app.close());
  return { app, url, port: Number(new URL(url).port) };
}

t.test('API-01 errors have one shape, and ours tell nothing of the inside', async (t) => {
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(line) });
  const { url } = await startServer(t, { logger });
  const refused = await fetch(`${url}/refused`);
  t.equal(refused.status, 409);
  t.same(await refused.json(), { error: 'No way', code: 'no_way', hint: 'try another' });
  const broken = await fetch(`${url}/broken`);
  t.equal(broken.status, 500);
  const body = (await broken.json()) as { code: string; request_id: string };
  t.match(body, { code: 'internal_error', request_id: /.+/ });
  t.notMatch(JSON.stringify(body), /hunter2/);
  t.ok(
    lines.some((line) => line.includes(body.request_id) && line.includes('hunter2')),
    'the log has the id and the reason',
  );
  const malformed = await fetch(`${url}/things`, {
    method: 'POST',
    body: '{"a":',
    headers: { 'content-type': 'application/json' },
  });
  t.equal(malformed.status, 400);
  t.same(await malformed.json(), {
    error: 'The body is not JSON, or has a key like __proto__',
    code: 'bad_request',
    hint: 'Send JSON in UTF-8, with quotes around each key',
  });
});

t.test('API-02 unknown paths and wrong methods', async (t) => {
  const { url } = await startServer(t);
  const unknown = await fetch(`${url}/nothing?x=1`);
  t.equal(unknown.status, 404);
  t.match(await unknown.json(), { code: 'not_found' });
  const wrong = await fetch(`${url}/things/7`, { method: 'DELETE' });
  t.equal(wrong.status, 405);
  t.same(wrong.headers.get('allow')?.split(', ').sort(), ['GET', 'HEAD']);
  t.match(await wrong.json(), { code: 'method_not_allowed' });
});

t.test('API-16 a path that cannot be decoded, and one that is too long', async (t) => {
  const { url } = await startServer(t);
  for (const path of ['/%zz', '/things/%zz', '/%', '/things/%E0%A4%A']) {
    const answer = await fetch(url + path);
    t.equal(answer.status, 400, path);
    t.same(await answer.json(), {
      error: 'The path is not percent-encoded correctly',
      code: 'bad_request',
    });
  }
  const long = await fetch(`${url}/things/${'x'.repeat(301)}`);
  t.equal(long.status, 414);
  t.match(await long.json(), { code: 'uri_too_long' });
});

t.test('API-16 OPTIONS without a preflight tells the methods of a path', async (t) => {
  const { url } = await startServer(t);
  const options = (path: string, headers = {}) => fetch(url + path, { method: 'OPTIONS', headers });
  for (const headers of [
    {},
    { origin: 'https://agent.example' },
    { 'access-control-request-method': 'GET' },
  ] as Record<string, string>[]) {
    const known = await options('/things/7', headers);
    t.equal(known.status, 204);
    t.same(known.headers.get('allow')?.split(', ').sort(), ['GET', 'HEAD', 'OPTIONS']);
    t.equal(await known.text(), '');
  }
  const unknown = await options('/nothing');
  t.equal(unknown.status, 404);
  t.match(await unknown.json(), { code: 'not_found' });
});

t.test('API-17 a body without a byte is no body, whatever was announced', async (t) => {
  const { url } = await startServer(t);
  const empty = await fetch(`${url}/things`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  t.equal(empty.status, 200);
  t.equal(await empty.text(), '');
});

t.test('API-03 bodies that are too large or of another type', async (t) => {
  const { url } = await startServer(t);
  const post = (body: string, type = 'application/json') =>
    fetch(`${url}/things`, { method: 'POST', body, headers: { 'content-type': type } });
  t.equal((await post(JSON.stringify('x'.repeat(256 * 1024 - 2)))).status, 200, 'as large as allowed');
  const large = await post(JSON.stringify('x'.repeat(256 * 1024 - 1)));
  t.equal(large.status, 413);
  t.match(await large.json(), { code: 'payload_too_large' });
  const text = await post('a=b', 'application/x-www-form-urlencoded');
  t.equal(text.status, 415);
  t.match(await text.json(), { code: 'unsupported_media_type' });
  t.equal((await post('{"a":1}', 'text/plain')).status, 415, 'not a body that is a string');
  const encodedAs = (encoding: string, body: string | Uint8Array<ArrayBuffer>) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
    return fetch(`${url}/things`, { method: 'POST', body, headers });
  };
  const zipped = await encodedAs('gzip', new Uint8Array(gzipSync('{"a":1}')));
  t.equal(zipped.status, 415);
  t.match(await zipped.json(), { code: 'unsupported_media_type', error: /Content-Encoding/ });
  t.equal((await encodedAs('Identity', '{"a":1}')).status, 200, 'a body as it is');
});

t.test('API-04 a web page may read, and send keys, payments and signatures', async (t) => {
  const { url } = await startServer(t);
  const read = await fetch(`${url}/things/1`, { headers: { origin: 'https://agent.example' } });
  t.equal(read.headers.get('access-control-allow-origin'), '*');
  t.match(read.headers.get('access-control-expose-headers'), /PAYMENT-REQUIRED.*WWW-Authenticate/);
  const preflight = await fetch(`${url}/things`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://agent.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'payment-signature,signature,signature-input,x-mcp-api-key',
    },
  });
  t.equal(preflight.status, 204);
  const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(', ') ?? [];
  for (const name of ['payment-signature', 'mcp-protocol-version', 'mcp-method', 'mcp-name'])
    t.ok(allowed.includes(name), name);
});

t.test('API-25 no cache on the way keeps an answer, which may depend on a key', async (t) => {
  const { url } = await startServer(t);
  for (const path of ['/things/1', '/nothing'])
    t.equal((await fetch(`${url}${path}`)).headers.get('cache-control'), 'no-store', path);
});

t.test('API-26 no web page may ask a port that is for the service alone', async (t) => {
  const { url } = await startServer(t, { inside: true });
  const asked = async (method: string, headers: Record<string, string>) => {
    const answer = await fetch(`${url}/things/1`, { method, headers });
    return [answer.status, answer.headers.get('access-control-allow-origin')];
  };
  t.same(await asked('GET', {}), [200, null]);
  const origin = 'https://evil.example';
  t.same(await asked('GET', { origin }), [403, null]);
  t.same(await asked('OPTIONS', { origin, 'access-control-request-method': 'POST' }), [403, null]);
});

t.test('API-05 behind a proxy the limit goes by who is spoken for, if the proxy is believed', async (t) => {
  const asked = async (
    trustProxy: number | string[],
    requests: [address: string, forwarded?: string, header?: string][],
  ) => {
    const warnings: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line) => warnings.push(line) });
    const { app } = await startServer(t, { rateLimit: 2, trustProxy, logger });
    const statuses: number[] = [];
    for (const [remoteAddress, forwarded, header = 'x-forwarded-for'] of requests) {
      const headers = forwarded === undefined ? {} : { [header]: forwarded };
      statuses.push((await app.inject({ url: '/things/1', remoteAddress, headers })).statusCode);
    }
    return { statuses, warnings };
  };
  const own = '127.0.0.1';
  t.test('of whom it is not told, it is not believed', async (t) => {
    const { statuses, warnings } = await asked(
      [],
      [
        ...[[own, '192.0.2.1'] as [string, string], [own, '192.0.2.2'] as [string, string]],
        [own, 'for=192.0.2.3', 'forwarded'],
        ...Array<[string]>(4).fill([own]),
      ],
    );
    t.same(
      statuses,
      [200, 200, 429, 200, 200, 200, 200],
      'all callers of a proxy are one, this machine is free',
    );
    t.equal(warnings.length, 1, 'said once');
    t.match(warnings[0], /TRUST_PROXY/);
  });
  t.test('nor is who comes by way of a content network that says so in its own words', async (t) => {
    for (const header of ['cf-connecting-ip', 'true-client-ip', 'fly-client-ip', 'x-client-ip', 'cdn-loop']) {
      const { statuses } = await asked([], Array(3).fill([own, '192.0.2.1', header]));
      t.same(statuses, [200, 200, 429], header);
    }
  });
  t.test('nor is one that says nothing, and passes on the host that was asked for', async (t) => {
    for (const host of ['relay.example', 'relay.example:8100', '127.0.0.1.relay.example']) {
      const { statuses } = await asked([], Array(3).fill([own, host, 'host']));
      t.same(statuses, [200, 200, 429], host);
    }
    for (const host of ['localhost:8100', '127.0.0.1', '[::1]:8100', 'LOCALHOST', 'relay:8100']) {
      const { statuses } = await asked([], Array(3).fill([own, host, 'host']));
      t.same(statuses, [200, 200, 200], host);
    }
  });
  t.test('by its address', async (t) => {
    const { statuses, warnings } = await asked(
      ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'],
      [
        // what a caller writes itself comes before what the proxy adds
        ...['192.0.2.1', '198.51.100.9, 192.0.2.1', `${own}, 192.0.2.1`].map((of): [string, string] => [
          own,
          of,
        ]),
        ...[
          [own, '192.0.2.2'] as [string, string],
          ['::ffff:127.0.0.1', '192.0.2.2, 10.3.0.1'] as [string, string],
        ],
        ['fd00::1', '192.0.2.2'],
        ...Array<[string, string]>(3).fill([own, own]),
      ],
    );
    t.same(
      statuses,
      [200, 200, 429, 200, 200, 429, 200, 200, 429],
      'spoken for, this machine is counted too',
    );
    t.same(warnings, []);
  });
  t.test('by another address than those that are named', async (t) => {
    const { statuses, warnings } = await asked(
      ['10.0.0.1'],
      ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((of): [string, string] => ['203.0.113.7', of]),
    );
    t.same(statuses, [200, 200, 429]);
    t.equal(warnings.length, 1);
  });
  t.test('by its place in the row', async (t) => {
    const { statuses } = await asked(2, [
      ...Array<[string, string]>(3).fill([own, '198.51.100.9, 192.0.2.1, 10.0.0.1']),
      ...[[own, '192.0.2.2, 10.0.0.1'] as [string, string], [own] as [string]],
    ]);
    t.same(statuses, [200, 200, 429, 200, 200]);
  });
  t.test('a network of IPv6 is one caller', async (t) => {
    const { statuses } = await asked(
      [own],
      ['a', 'b', 'c'].map((n): [string, string] => [own, `2001:db8:1:2::${n}`]),
    );
    t.same(statuses, [200, 200, 429]);
  });
});

t.test('no answer is taken for something else than it is', async (t) => {
  const { app, port } = await startServer(t);
  const answers = await Promise.all(
    ['/things/1', '/refused', '/broken', '/nothing', '/%zz', `/things/${'x'.repeat(400)}`].map((url) =>
      app.inject({ url }),
    ),
  );
  for (const { headers, body } of answers) t.equal(headers['x-content-type-options'], 'nosniff', body);
  for (const bytes of ['nonsense\r\n\r\n', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: magic\r\n\r\n']) {
    const socket = connect(port, '127.0.0.1');
    socket.write(bytes);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    await eventually('an answer', () => text.endsWith('}'));
    socket.destroy();
    t.match(text, /x-content-type-options: nosniff/i, bytes);
  }
});

t.test('API-05 the rate limit counts strangers and exempts local callers', async (t) => {
  const { app } = await startServer(t, { rateLimit: 3 });
  const ask = (remoteAddress: string) => app.inject({ method: 'GET', url: '/things/1', remoteAddress });
  for (let n = 0; n < 3; n++) t.equal((await ask('203.0.113.7')).statusCode, 200);
  const limited = await ask('203.0.113.7');
  t.equal(limited.statusCode, 429);
  t.match(limited.json(), { code: 'rate_limited' });
  t.ok(Number(limited.headers['retry-after']) > 0);
  t.equal(limited.headers['x-ratelimit-limit'], '3');
  const refused = [];
  for (let n = 0; n < 4; n++)
    refused.push((await app.inject({ url: '/kept', remoteAddress: '203.0.113.9' })).statusCode);
  t.same(refused, [401, 401, 401, 429], 'also requests that are refused for their key');
  t.equal((await ask('203.0.113.8')).statusCode, 200, 'another address has its own count');
  for (let n = 0; n < 10; n++) t.equal((await ask('127.0.0.1')).statusCode, 200);
});

t.test('API-23 an address has so many connections open, and further ones are cut off', async (t) => {
  const stage = async (options: { connectionsPerAddress: number; trustProxy?: string[] | number }) => {
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
    const { app } = await startServer(t, { ...options, logger });
    const dial = (remoteAddress: string) => {
      const socket = Object.assign(new PassThrough(), { remoteAddress }) as unknown as Socket;
      app.server.emit('connection', socket);
      t.teardown(() => socket.destroy());
      return socket;
    };
    const cutOff = (address: string, count: number) =>
      Array.from({ length: count }, () => dial(address)).filter(({ destroyed }) => destroyed).length;
    return { app, lines, dial, cutOff };
  };
  const { app, lines, dial, cutOff } = await stage({ connectionsPerAddress: 3 });
  const first = dial('203.0.113.9');
  // as one is that offers another protocol
  app.server.emit('connection', first);
  t.equal(cutOff('::ffff:203.0.113.9', 4), 2);
  t.equal(cutOff('203.0.113.8', 1), 0, 'another address has its own count');
  t.same([cutOff('2001:db8:1:2::1', 2), cutOff('2001:db8:1:2::2', 2)], [0, 1], 'a network of IPv6 is one');
  for (const own of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
    t.equal(cutOff(own, 10), 0, 'this machine is exempt');
  t.match(lines, [/203\.0\.113\.9.*CONNECTIONS_PER_ADDRESS/, /2001:db8:1:2/]);
  t.equal(lines.length, 2);
  first.destroy();
  await once(first, 'close');
  t.equal(cutOff('203.0.113.9', 2), 1, 'one that is closed makes room');

  for (const trustProxy of [['10.0.0.0/8'], 1]) {
    const behind = await stage({ connectionsPerAddress: 3, trustProxy });
    t.equal(behind.cutOff('203.0.113.9', 10), 0, 'a proxy that is trusted has many clients');
  }
  t.equal((await stage({ connectionsPerAddress: 3, trustProxy: 0 })).cutOff('203.0.113.9', 10), 7);
  t.equal((await stage({ connectionsPerAddress: 0 })).cutOff('203.0.113.9', 10), 0);
});

t.test('API-06 slow clients are cut off while others are served', async (t) => {
  const { url, port } = await startServer(t, { timeouts: { headersMs: 3_000, requestMs: 6_000 } });
  let closed = 0;
  const answers: string[] = [];
  const slow = Array.from({ length: 100 }, (_, n) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('error', () => {});
    socket.on('data', (chunk) => answers.push(chunk.toString()));
    socket.on('close', () => closed++);
    // half of them never finish the headers, the others never finish the body
    socket.write(
      n % 2
        ? 'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'
        : 'GET /things/1 HTTP/1.1\r\nHos',
    );
    return socket;
  });
  t.teardown(() => slow.forEach((socket) => void socket.destroy()));
  for (let n = 0; n < 20; n++) t.equal((await fetch(`${url}/things/${n}`)).status, 200);
  await eventually('the slow clients to be cut off', () => closed === slow.length);
  t.ok(answers.length > 0 && answers.every((answer) => / 408 /.test(answer)), 'they were told why');
});

t.test('API-06 who is cut off and stays is let go all the same', async (t) => {
  const { app, port } = await startServer(t, { timeouts: { headersMs: 500, requestMs: 1_000 } });
  const texts = ['GET /things/1 HTTP/1.1\r\nHos', 'no HTTP at all\r\n\r\n'];
  const sockets = texts.map((text) => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    socket.on('error', () => {});
    socket.resume();
    socket.write(text);
    return socket;
  });
  t.teardown(() => sockets.forEach((socket) => void socket.destroy()));
  await Promise.all(sockets.map((socket) => once(socket, 'end')));
  const held = () => new Promise<number>((done) => app.server.getConnections((_, count) => done(count)));
  await eventually('the connections to be let go', async () => (await held()) === 0);
});

t.test('API-06 bytes that are no HTTP get an answer in the shape of the others', async (t) => {
  const { port } = await startServer(t);
  const socket = connect({ host: '127.0.0.1', port });
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString();
  });
  socket.write('\x00\x01nonsense\r\n\r\n');
  await eventually('an answer', () => answer.includes('}'));
  t.match(answer, /^HTTP\/1\.1 400 .*"code":"bad_request"/s);
  socket.destroy();
});

t.test('API-24 a request has one Host header', async (t) => {
  const { url, port } = await startServer(t);
  const ask = async (head: string) => {
    const socket = connect({ host: '127.0.0.1', port });
    let answer = '';
    socket.setEncoding('utf8').on('data', (text) => {
      answer += text;
    });
    socket.end(`${head}Connection: close\r\n\r\n`);
    await once(socket, 'close');
    const [, status] = /^HTTP\/1\.1 (\d+)/.exec(answer)!;
    return { status, type: /^content-type: (.*)$/im.exec(answer)?.[1], text: answer.split('\r\n\r\n')[1]! };
  };
  for (const hosts of ['Host: a\r\nHost: b', 'host: a\r\nX-Other: c\r\nHOST: a', 'Host: a\r\nHost:'])
    for (const line of ['GET /things/1 HTTP/1.1', 'GET /nothing HTTP/1.1', 'GET /things/1 HTTP/1.0']) {
      const { status, type, text } = await ask(`${line}\r\n${hosts}\r\n`);
      t.equal(status, '400', `${line} ${hosts}`);
      t.match(type, /^application\/json/);
      t.match(JSON.parse(text), {
        error: 'A request has one Host header',
        code: 'bad_request',
        hint: /Send Host once/,
      });
    }
  const none = await ask('GET /things/1 HTTP/1.1\r\n');
  t.equal(none.status, '400');
  t.match(JSON.parse(none.text), { error: 'A request of HTTP/1.1 has a Host header', code: 'bad_request' });
  t.equal((await ask('GET /things/1 HTTP/1.0\r\n')).status, '200', 'which HTTP/1.0 does not need');
  t.equal((await ask('GET /things/1 HTTP/1.1\r\nHost: a\r\nHosts: b\r\n')).status, '200');
  t.equal((await fetch(`${url}/things/1`)).status, 200);
});

t.test('API-19 a stop does not wait for a request that never ends', async (t) => {
  const { app, port } = await startServer(t, { timeouts: { stopMs: 100 } });
  const socket = connect({ host: '127.0.0.1', port });
  t.teardown(() => socket.destroy());
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString();
  });
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  socket.write(
    'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n',
  );
  await new Promise((resolve) => app.server.once('request', resolve));
  await app.close();
  await ended;
  t.equal(answer, '');
});

t.test('API-27 a request to a service that stops is refused in the shape of every error', async (t) => {
  const { app, port } = await startServer(t);
  const socket = connect({ host: '127.0.0.1', port });
  let heard = '';
  socket.on('data', (chunk) => {
    heard += chunk.toString();
  });
  socket.write(
    'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"n"',
  );
  await once(app.server, 'request');
  const closed = app.close();
  socket.write(':1}GET /things/1 HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'close');
  await closed;
  t.match(heard, /^HTTP\/1\.1 200 /, 'what was under way is answered');
  const [, head = '', body = ''] = /HTTP\/1\.1 (503 [\s\S]*?)\r\n\r\n(.*)$/.exec(heard) ?? [];
  t.match(head, /^connection: close\r?$/im);
  t.match(head, /^retry-after: \d+\r?$/im);
  t.same(JSON.parse(body), { error: 'The service is stopping', code: 'stopping' });
});
