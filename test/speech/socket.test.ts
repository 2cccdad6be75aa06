import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { WebSocket } from 'ws';
import { keysStage, operator } from '../keys/stage.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';

// biome-ignore lint/suspicious/noExplicitAny: frames of all kinds
type Frame = Record<string, any>;

t.test('one socket to speak and to listen', async (t) => {
  const ircd = await startIrcd(t);
  const stage = await keysStage(t, {
    ...settingsOf(ircd),
    IRC_GATEWAY_PASSWORD: ircd.gatewayPassword,
    IRC_CHANNELS: '#lobby,#agents',
    ROLES: 'all',
  });
  const { ask, given, app } = stage;
  const bob = await observe(ircd.port, {
    nick: 'bob',
    password: ircd.serverPassword,
    channels: ['#lobby', '#agents'],
  });
  t.teardown(() => bob.stop());
  const alice = await given('alice', ['read', 'speak']);
  const url = (query: string) => `${app.url.replace('http', 'ws')}/irc/socket?${query}`;
  const open = async (query = '', headers: Record<string, string> = alice.headers) => {
    const socket = new WebSocket(url(query), { headers });
    t.teardown(() => socket.terminate());
    const heard: Frame[] = [];
    const state = { socket, heard, code: 0 };
    socket.on('message', (data) => heard.push(JSON.parse(String(data))));
    socket.on('close', (code) => Object.assign(state, { code }));
    await once(socket, 'open');
    let last = 0;
    const request = async (method: string, params: object = {}) => {
      const id = ++last;
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      return await eventually(method, async () => heard.find((frame) => frame.id === id));
    };
    return { ...state, state, request };
  };
  const refused = async (query: string, headers: Record<string, string>) => {
    const socket = new WebSocket(url(query), { headers });
    const [, response] = await once(socket, 'unexpected-response');
    let body = '';
    for await (const chunk of response) body += chunk;
    return { status: response.statusCode as number, body };
  };
  await eventually('the recorder to be there', async () => {
    bob.send('PRIVMSG #lobby :before');
    return (await ask('GET', '/irc/channels/lobby/messages')).body.length > 0;
  });
  await eventually('the gateway to answer', async () => {
    const { status } = await ask('GET', '/irc/connection', undefined, alice.headers);
    return status === 200;
  });

  await t.test(
    'SOCKET-01 what is said comes as notifications, and requests are answered in order',
    async (t) => {
      const { heard, request, socket } = await open('channels=lobby');
      await eventually('the connection', async () => heard.find(({ method }) => method === 'connection'));
      t.match(await request('say', { to: '#lobby', text: 'by a socket' }), {
        jsonrpc: '2.0',
        result: { status: 'shown', nick: 'alice', to: '#lobby' },
      });
      await bob.waitUntil(() => bob.raw.some((line) => line.endsWith('PRIVMSG #lobby :by a socket')));
      bob.send('PRIVMSG alice :heard you');
      const message = await eventually('the message', async () =>
        heard.find(({ method }) => method === 'message'),
      );
      t.match(message, {
        params: { id: /^\d+\.\d+-\d+$/, data: { is: 'private', from: 'bob', text: 'heard you' } },
      });
      await eventually('its own line', async () =>
        heard.find(({ method, params }) => method === 'line' && params.data.text === 'by a socket'),
      );
      t.match(await request('join', { channel: 'agents' }), { result: { channels: ['#lobby', '#agents'] } });
      t.match(await request('part', { channel: 'agents' }), { result: { channels: ['#lobby'] } });
      t.match(await request('away', { message: 'Back at 9' }), {
        result: { away: { message: 'Back at 9' } },
      });
      t.match(await request('back'), { result: { connected: true, away: null } });
      t.match(await request('connection'), { result: { connected: true } });
      for (let n = 0; n < 5; n++)
        socket.send(
          JSON.stringify({
            jsonrpc: '2.0',
            id: `o${n}`,
            method: 'say',
            params: { to: '#lobby', text: `part ${n}` },
          }),
        );
      await eventually(
        'all answers',
        async () => heard.filter(({ id }) => /^o\d$/.test(String(id))).length === 5,
      );
      t.same(
        heard.flatMap(({ id }) => (/^o\d$/.test(String(id)) ? [id] : [])),
        ['o0', 'o1', 'o2', 'o3', 'o4'],
      );
      socket.terminate();
      bob.send('PRIVMSG alice :while you were away');
      const again = await open(`channels=lobby&after=${message.params.id}`);
      await eventually('what was missed', async () =>
        again.heard.find(({ params }) => params?.data.text === 'while you were away'),
      );
      t.notOk(again.heard.some(({ params }) => params?.data.text === 'heard you'));
    },
  );

  await t.test('SOCKET-02 a bad request is answered with what is wrong, and the socket stays', async (t) => {
    const { heard, request, socket } = await open();
    const wrong: [unknown, Frame][] = [
      ['{', { id: null, error: { code: -32700, data: { code: 'parse_error' } } }],
      [Buffer.from([1]), { id: null, error: { code: -32700 } }],
      ['{"__proto__":{"id":1}}', { id: null, error: { code: -32700 } }],
      [[], { id: null, error: { code: -32600 } }],
      [
        { jsonrpc: '2.0', method: 'say' },
        { id: null, error: { code: -32600, data: { details: [{ path: 'id' }] } } },
      ],
      [
        { jsonrpc: '2.0', id: 'a', method: 'toString' },
        { id: 'a', error: { code: -32601, data: { hint: /say, join/ } } },
      ],
      [
        { jsonrpc: '2.0', id: 'b', method: 'say', params: { to: '#lobby' } },
        {
          id: 'b',
          error: { code: -32000, data: { code: 'validation_failed', details: [{ path: 'text' }] } },
        },
      ],
      [
        { jsonrpc: '2.0', id: 'c', method: 'say', params: { to: '#lobby', text: 'x', nick: 'bob' } },
        { id: 'c', error: { data: { code: 'not_your_nick' } } },
      ],
      [
        { jsonrpc: '2.0', id: 'd', method: 'say', params: { to: '#nowhere', text: 'x' } },
        { id: 'd', error: { data: { code: 'not_found' } } },
      ],
    ];
    for (const [frame, answer] of wrong) {
      const before = heard.length;
      socket.send(typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame));
      const found = await eventually('an answer', async () => heard.slice(before).find(({ error }) => error));
      t.match(found, answer, JSON.stringify(frame));
    }
    t.match(await request('connection'), { result: { nick: 'alice' } });
    for (let n = 0; n < 60; n++)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: `f${n}`, method: 'connection', params: {} }));
    await eventually(
      'all answers',
      async () => heard.filter(({ id }) => String(id).startsWith('f')).length === 60,
    );
    t.ok(
      heard.some(({ error }) => error?.data.code === 'rate_limited'),
      'so many wait at most',
    );
    const large = await open();
    large.socket.send('x'.repeat(20_000));
    await eventually('the end', async () => large.state.code === 1009);
  });

  await t.test('SOCKET-08 who sends much that is refused is let go', async (t) => {
    const flood = await open();
    for (let n = 0; n < 20_000; n++) flood.socket.send('x');
    await eventually('the end', async () => flood.state.code === 1008);
    t.equal(flood.heard.filter(({ error }) => error?.code === -32700).length, 100);
    const many = await open();
    const waiting = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'connection', params: {} });
    for (let n = 0; n < 20_000; n++) many.socket.send(waiting);
    await eventually('the end of those that would wait', async () => many.state.code === 1008);
    const patient = await open();
    t.match(await patient.request('connection'), { result: { nick: 'alice' } });
  });

  await t.test('SOCKET-03 who may not listen is refused in HTTP, before there is a socket', async (t) => {
    const reader = await given('dora', ['read']);
    const wrong: [string, Record<string, string>, object][] = [
      ['', {}, { status: 401, body: /api_key_required/ }],
      ['', reader.headers, { status: 403, body: /scope_missing/ }],
      ['nick=bob', alice.headers, { status: 403, body: /not_your_nick/ }],
      ['', operator, { status: 400, body: /"path":"nick"/ }],
      ['channels=nowhere', alice.headers, { status: 404, body: /not_found/ }],
      ['after=x', alice.headers, { status: 400, body: /"path":"after"/ }],
    ];
    for (const [query, headers, answer] of wrong) t.match(await refused(query, headers), answer, query);
    const plain = await ask('GET', '/irc/socket', undefined, alice.headers);
    t.match(plain, { status: 426, body: { code: 'upgrade_required', hint: /WebSocket/ } });
  });

  await t.test('SOCKET-04 an offer of another protocol changes nothing about a request', async (t) => {
    const { port } = new URL(app.url);
    const socket = connect(Number(port), '127.0.0.1');
    t.teardown(() => socket.destroy());
    let answer = '';
    socket.setEncoding('utf8').on('data', (text) => {
      answer += text;
    });
    const statuses = () => [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    const offer =
      'Host: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
    const body = JSON.stringify({ text: 'x'.repeat(300) });
    socket.write(
      `POST /irc/channels/lobby/messages HTTP/1.1\r\n${offer}X-Api-Key: ${alice.headers['x-api-key']}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`,
    );
    await ask('GET', '/health');
    socket.write(body.slice(9));
    await eventually('an answer', async () => statuses().length === 1);
    socket.write(
      `GET /health HTTP/1.1\r\n${offer}\r\nGET /nowhere HTTP/1.1\r\n${offer.replace('h2c', 'websocket')}\r\n`,
    );
    await eventually('the others', async () => statuses().length === 3);
    t.same(statuses(), ['200', '200', '404']);
  });

  await t.test('SOCKET-09 a bad handshake is answered as every error is', async (t) => {
    const quiet = await given('quinn', ['speak']);
    const shake = async (lines: string[], { method = 'GET', hosts = ['Host: localhost'] } = {}) => {
      const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
      t.teardown(() => socket.destroy());
      let answer = '';
      socket.setEncoding('utf8').on('data', (text) => {
        answer += text;
      });
      const offer = [...hosts, 'Connection: Upgrade', 'Upgrade: websocket', ...lines];
      const credential = `X-Api-Key: ${quiet.headers['x-api-key']}`;
      socket.write(`${method} /irc/socket HTTP/1.1\r\n${[...offer, credential].join('\r\n')}\r\n\r\n`);
      await eventually('an answer', async () => answer.includes('\r\n\r\n'));
      const head = answer.slice(0, answer.indexOf('\r\n\r\n') + 4);
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
      await eventually('its body', async () => answer.length >= head.length + length);
      const status = Number(head.split(' ')[1]);
      return { status, head, body: length > 0 ? JSON.parse(answer.slice(head.length)) : undefined, socket };
    };
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    const version = 'Sec-WebSocket-Version: 13';
    const wrongKey = { code: 'bad_request', error: /Sec-WebSocket-Key/, hint: /16 random bytes/ };
    const wrongVersion = { code: 'upgrade_required', error: /version 13/, hint: /Sec-WebSocket-Version: 13/ };
    const wrong: [string[], number, object][] = [
      [[version], 400, wrongKey],
      [[version, 'Sec-WebSocket-Key: '], 400, wrongKey],
      [[version, 'Sec-WebSocket-Key: short'], 400, wrongKey],
      [[version, key, key], 400, wrongKey],
      [[key], 426, wrongVersion],
      [[key, 'Sec-WebSocket-Version: 12'], 426, wrongVersion],
      [[key, 'Sec-WebSocket-Version: x'], 426, wrongVersion],
    ];
    for (const [lines, status, body] of wrong) {
      const answer = await shake(lines);
      t.equal(answer.status, status, lines.join());
      t.match(answer.body, body, lines.join());
      t.match(answer.head, /^content-type: application\/json/im);
      t.match(answer.head, /^x-content-type-options: nosniff/im);
      if (status === 426) {
        t.match(answer.head, /^sec-websocket-version: 13\r$/im);
        t.match(answer.head, /^upgrade: websocket\r$/im);
      }
      await eventually('the end of the connection', async () => answer.socket.closed);
    }
    const { body: connection } = await ask('GET', '/irc/connection', undefined, quiet.headers);
    t.match(connection, { connected: false }, 'none of them brought the agent to the network');
    const protocol = await shake([key, version, 'Sec-WebSocket-Protocol: a,,b']);
    t.match(protocol, {
      status: 400,
      head: /^content-type: application\/json\r$/im,
      body: { code: 'bad_request', error: /Sec-WebSocket-Protocol/, hint: /WebSocket client/ },
    });
    await eventually('its end', async () => protocol.socket.closed);
    const posted = await shake([key, version], { method: 'POST' });
    t.match(posted, { status: 405, body: { code: 'method_not_allowed' }, head: /^allow: GET/im });
    for (const hosts of [[], ['Host: localhost', 'Host: other']])
      t.match(await shake([key, version], { hosts }), { status: 400, body: { error: /Host header/ } });
    t.equal((await shake([key, version])).status, 101, 'a good one opens the socket');
  });

  await t.test('SOCKET-07 a key that has ended does nothing more through its socket', async (t) => {
    const short = await given('erin', ['speak']);
    const { request, state } = await open('channels=lobby', short.headers);
    t.match(await request('say', { to: '#lobby', text: 'still good' }), { result: { status: 'shown' } });
    t.equal((await ask('DELETE', `/auth/keys/${short.id}`, undefined, operator)).status, 200);
    t.match(await request('say', { to: '#lobby', text: 'too late' }), {
      error: { code: -32001, data: { reason: 'api_key_invalid' } },
    });
    await eventually('the end', async () => {
      bob.send('PRIVMSG #lobby :still there?');
      await bob.ask();
      return state.code !== 0;
    });
    t.equal(state.code, 1008);
    t.notOk(bob.raw.some((line) => line.endsWith(':too late')));
  });

  await t.test('SOCKET-05 the service ends with sockets open', async (t) => {
    const { state } = await open('channels=lobby');
    await app.stop();
    await eventually('the end', async () => state.code !== 0);
    t.pass();
  });
});
