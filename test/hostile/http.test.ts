import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { newWallet, publicUrl } from '../auth/stage.js';
import { startApp } from '../support/app.js';
import { startNats } from '../support/nats.js';

/** What a stranger reads of the API before anything else. */
interface Api {
  paths: Record<string, Record<string, { operationId?: string; responses: Record<string, unknown> }>>;
}

const climbs = ['..', '..%2f..', '%2e%2e%2f', '..%5c', '%00', '%252e%252e', '....//', '.;/', '%c0%ae%c0%ae/'];
const targets = ['etc/passwd', 'secrets.json', 'nats/password', '.env', 'ops/projections'];

// a stranger, who knows the address, its description and nothing else
t.test('a hostile caller of the public API', async (t) => {
  const nats = await startNats(t);
  const { url } = await startApp(t, {
    NATS_URL: nats.url,
    ROLES: 'api,services,projections,workers,schedule',
    API_KEYS: `ops:${'k'.repeat(40)}`,
    RATE_LIMIT: '0',
    NONCE_RATE_LIMIT: '0',
    PUBLIC_URL: publicUrl,
  });
  const api = (await (await fetch(`${url}/openapi.json`)).json()) as Api;
  const keyed = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => '401' in responses && '403' in responses)
      .map(([method, { operationId }]) => ({ path, method: method.toUpperCase(), operationId })),
  );
  t.ok(keyed.length > 20, `${keyed.length} operations ask for a credential`);

  await t.test('invented keys', async (t) => {
    const invented = ['x', 'k'.repeat(39), `rak_k3mf7q2xa4bc_${'A'.repeat(43)}`, 'ops', '*'];
    for (const { path, method, operationId } of keyed)
      for (const key of invented) {
        const target = url + path.replace(/\{\w+\}/g, '1');
        const json = method === 'GET' ? {} : { body: '{}' };
        const headers = { 'x-api-key': key, 'content-type': 'application/json' };
        const { status } = await fetch(target, { method, headers, ...json });
        t.equal(status, 401, `${operationId} with ${key.slice(0, 8)}`);
      }
  });

  await t.test('forged events', async (t) => {
    const body = JSON.stringify({ event_id: 'f', event_type: 'task.published', source: 'x', payload: {} });
    const now = new Date().toISOString();
    for (const signature of [
      ...['', 'sha256=', '0'.repeat(64), `sha256=${'f'.repeat(64)}`, 'null', 'undefined'],
      ...['', 'secret', 'changeme', 'k'.repeat(40)].map(
        (secret) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      ),
    ]) {
      const headers = {
        'content-type': 'application/json',
        'x-em-signature': signature,
        'x-em-timestamp': now,
      };
      const { status } = await fetch(`${url}/hooks/em/events`, { method: 'POST', headers, body });
      t.equal(status, 401, signature.slice(0, 20));
    }
  });

  await t.test('altered signatures of a wallet', async (t) => {
    const [wallet, other] = [newWallet(), newWallet()];
    const path = '/auth/keys';
    type Sent = { method: string; path: string; headers: Record<string, string>; body: string };
    const sign = async (options: object = {}): Promise<Sent> => {
      const { nonce } = (await (await fetch(`${url}/auth/erc8128/nonce`)).json()) as { nonce: string };
      // as two operations would take it
      const report = { title: 'Mine', severity: 'SEV-1', reporterNick: 'mallory' };
      const body = JSON.stringify({ nick: 'mallory', days: 1, ...report });
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
      const { headers } = await wallet.sign(publicUrl + path, init, { nonce, ...options });
      return { method: 'POST', path, headers, body };
    };
    const send = async ({ method, path, headers, body }: Sent) =>
      (await fetch(url + path, { method, headers, ...(method === 'GET' ? {} : { body }) })).status;
    const input = (of: Sent, change: (text: string) => string): Sent => ({
      ...of,
      headers: { ...of.headers, 'signature-input': change(of.headers['signature-input']!) },
    });
    const signature = (of: Sent, change: (text: string) => string): Sent => ({
      ...of,
      headers: { ...of.headers, signature: change(of.headers.signature!) },
    });
    const whole = await sign();
    t.not(await send(whole), 401, 'as it was signed it is known who signs');
    t.equal(await send(whole), 401, 'once');
    const address = (of: ReturnType<typeof newWallet>) => of.account.address.toLowerCase();
    const alterations: [string, (of: Sent) => Sent][] = [
      ['another body', (of) => ({ ...of, body: JSON.stringify({ nick: 'ann', days: 1 }) })],
      ['an empty body', (of) => ({ ...of, body: '{}' })],
      ['another path', (of) => ({ ...of, path: '/sentinel/incidents' })],
      ['a query', (of) => ({ ...of, path: `${of.path}?nick=ann` })],
      ['another method', (of) => ({ ...of, method: 'GET' })],
      [
        'another wallet',
        (of) => input(of, (text) => text.replace(new RegExp(address(wallet), 'i'), address(other))),
      ],
      ['a later end', (of) => input(of, (text) => text.replace(/expires=\d+/, 'expires=9999999999'))],
      ['made later', (of) => input(of, (text) => text.replace(/created=\d+/, 'created=1'))],
      ['another nonce', (of) => input(of, (text) => text.replace(/nonce="[^"]*"/, 'nonce="mine"'))],
      ['no nonce', (of) => input(of, (text) => text.replace(/;nonce="[^"]*"/, ''))],
      ['less covered', (of) => input(of, (text) => text.replace(/\([^)]*\)/, '("@method")'))],
      ['nothing covered', (of) => input(of, (text) => text.replace(/\([^)]*\)/, '()'))],
      [
        'one bit',
        (of) => signature(of, (text) => text.replace(/:(.)/, (_, first) => `:${first === 'A' ? 'B' : 'A'}`)),
      ],
      ['no signature', (of) => signature(of, () => 'eth=::')],
      ['zeros', (of) => signature(of, () => `eth=:${Buffer.alloc(65).toString('base64')}:`)],
      ['another label', (of) => signature(of, (text) => text.replace(/^\w+=/, 'sig1='))],
    ];
    for (const [what, alter] of alterations) t.equal(await send(alter(await sign())), 401, what);
    t.equal(await send(await sign({ nonce: 'invented' })), 401, 'an invented nonce');
    const theirs = await wallet.sign(
      `https://evil.example${path}`,
      { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } },
      { nonce: ((await (await fetch(`${url}/auth/erc8128/nonce`)).json()) as { nonce: string }).nonce },
    );
    t.equal(
      await send({ method: 'POST', path, headers: theirs.headers, body: '{}' }),
      401,
      'for another host',
    );
  });

  await t.test('addresses inside', async (t) => {
    let asked = 0;
    const inside = createServer((_, answer) => {
      asked += 1;
      answer.end('svc:verify');
    });
    inside.listen(0, '127.0.0.1');
    await once(inside, 'listening');
    t.teardown(() => inside.close());
    const { port } = inside.address() as AddressInfo;
    const who = { nickname: 'mallory', socialHandle: 'mallory_x' };
    const post = (path: string, body: object) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    t.equal((await post('/verification/challenge', who)).status, 200);
    const hosts = [
      ...['127.0.0.1', 'localhost', '0.0.0.0', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '[::1]'],
      ...['[::ffff:127.0.0.1]', '[::]', '127.0.0.1.nip.io', 'x.com@127.0.0.1', '127.0.0.1#@x.com'],
      ...['127.0.0.1?x.com', '127.0.0.1\\@x.com', '169.254.169.254', '10.0.0.1', '192.168.0.1', '[fd00::1]'],
      ...['metadata.google.internal', 'x.com.127.0.0.1.nip.io'],
    ];
    t.equal(hosts.length, 21);
    for (const host of hosts)
      for (const place of [`http://${host}:${port}`, `https://${host}`, `//${host}:${port}`]) {
        const tweetUrl = `${place}/mallory_x/status/1`;
        const { status } = await post('/verification/verify', { ...who, tweetUrl, email: 'm@example.com' });
        t.equal(status, 400, tweetUrl);
      }
    t.equal(asked, 0, 'nobody was asked');
  });

  await t.test('paths that climb', async (t) => {
    for (const climb of climbs)
      for (const target of targets)
        for (const path of [`/${climb}/${target}`, `/irc/channels/${climb}/${target}`]) {
          // as it is: fetch would tidy it up
          const status = await new Promise<number>((resolve, reject) => {
            request(url, { path }, (answer) => {
              answer.resume();
              resolve(answer.statusCode!);
            })
              .on('error', reject)
              .end();
          });
          t.ok(status >= 400 && status < 500, `${path}: ${status}`);
        }
  });
  t.ok((await fetch(`${url}/ready`)).ok, 'and the service is well');
});
