import { connect } from 'node:net';
import pino from 'pino';
import t from 'tap';
import { createServer } from '../../src/http/server.js';
import { Contract } from './contract.js';

const server = await createServer({ logger: pino({ level: 'silent' }), rateLimit: 0 });
server.get('/irc/stats', async () => ({}));
server.get('/irc/channels/:channel/messages', async () => []);
await server.listen({ host: '127.0.0.1', port: 0 });
const { port } = server.server.address() as { port: number };
t.teardown(() => server.close());

/** Sends bytes as they are; the status and the body that come back. */
async function answerTo(head: string): Promise<{ status: number; body: string; type: string | undefined }> {
  const text = await new Promise<string>((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(`${head}\r\n\r\n`));
    socket.setTimeout(60_000, () => socket.destroy(new Error(`no answer to ${head.slice(0, 100)}`)));
    socket.setEncoding('utf8').on('data', (chunk) => (answer += chunk));
    socket.on('error', reject).on('close', () => resolve(answer));
  });
  const [, status, headers, body] =
    /^HTTP\/1\.1 (\d+)[^\r]*\r\n([\s\S]*?)\r\n\r\n([\s\S]*)$/.exec(text) ?? [];
  const type = /^content-type: (.*)$/im.exec(headers ?? '')?.[1];
  return { status: Number(status), body: body ?? '', type };
}

t.test('OAS-10 what leads to no operation is answered as every other error', async (t) => {
  const contract = new Contract();
  const host = 'Host: localhost\r\nConnection: close';
  for (const [head, status, code] of [
    [`GET /irc/stats HTTP/1.1\r\nConnection: close`, 400, 'bad_request'],
    [`GET /irc/stats HTTP/1.1\r\n${host}\r\nExpect: a-miracle`, 417, 'expectation_failed'],
    [`GET /irc/stats HTTP/1.1\r\n${host}\r\nA: ${'x'.repeat(20_000)}`, 431, 'headers_too_large'],
    [`GET /irc/channels/%zz/messages HTTP/1.1\r\n${host}`, 400, 'bad_request'],
    [`GET /irc/channels/${'x'.repeat(400)}/messages HTTP/1.1\r\n${host}`, 414, 'uri_too_long'],
    [`GET /nowhere HTTP/1.1\r\n${host}`, 404, 'not_found'],
    [`DELETE /irc/stats HTTP/1.1\r\n${host}`, 405, 'method_not_allowed'],
    [`G\0T / HTTP/1.1\r\n${host}`, 400, 'bad_request'],
  ] as const) {
    const answer = await answerTo(head);
    t.equal(answer.status, status, JSON.stringify(head.slice(0, 60)));
    t.match(JSON.parse(answer.body), { error: String, code });
    if (code === 'headers_too_large')
      t.match(JSON.parse(answer.body), {
        error: 'The headers of the request are too large',
        hint: 'Send fewer or shorter headers',
      });
    const exchange = { method: 'GET', url: '', route: undefined, status, contentType: answer.type };
    t.equal(contract.reasonAgainst({ ...exchange, body: answer.body }), undefined);
  }
});

t.test('OAS-10 HTTP/1.0 knows no Host', async (t) => {
  t.match(await answerTo('GET /irc/stats HTTP/1.0'), { status: 200, body: '{}' });
});
