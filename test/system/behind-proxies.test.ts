import { once } from 'node:events';
import t from 'tap';
import { Agent, request } from 'undici';
import { WebSocket } from 'ws';
import { newWallet } from '../auth/stage.js';
import { environmentOf, untilKept } from '../channels/stage.js';
import { channelsFile, entering, paidChannel, payingFetch, payTo, startPayments } from '../payments/stage.js';
import { startApp } from '../support/app.js';
import { withoutChain } from '../support/chain.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { proxyNames, startProxy, withoutProxy } from '../support/proxies.js';

const key = 'k'.repeat(40);
const publicUrl = 'https://relay.example';
const perMinute = 80;
const noncesPerMinute = 5;
const json = { 'content-type': 'application/json' };
const toolCall = (name: string) => ({
  method: 'POST',
  headers: json,
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } }),
});

t.test('behind a proxy', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const payments = withoutChain ? undefined : await startPayments(t);
  const app = await startApp(t, {
    ...environmentOf({ nats, ircd }),
    PUBLIC_URL: publicUrl,
    TRUST_PROXY: '127.0.0.1',
    ALLOWED_HOSTS: 'relay:8100',
    API_KEYS: `ann:${key}`,
    IRC_GATEWAY_PASSWORD: ircd.gatewayPassword,
    RATE_LIMIT: String(perMinute),
    NONCE_RATE_LIMIT: String(noncesPerMinute),
    ...(payments && {
      X402_FACILITATOR_URL: payments.facilitator.url,
      X402_PAY_TO: payTo,
      PAID_CHANNELS: await channelsFile(t, [paidChannel()]),
    }),
  });
  await untilKept(app.url);
  const viewers = async () =>
    ((await (await fetch(`${app.url}/irc/stats`)).json()) as { viewers: number }).viewers;

  for (const [index, name] of proxyNames.entries()) {
    t.test(name, { skip: withoutProxy(name) }, async (t) => {
      const { url } = await startProxy(t, name, app.url);
      const speaker = await observe(ircd.port, { nick: `speaker${index}` });
      t.teardown(() => speaker.stop());

      t.test('limits go by the client, whatever it says itself', async (t) => {
        const busy = `127.1.${index}.1`;
        for (let n = 0; n < perMinute; n += 1) t.equal(await statusFrom(url, busy, `198.51.100.${n}`), 200);
        t.equal(await statusFrom(url, busy, '198.51.100.250'), 429);
        t.equal(await statusFrom(url, `127.1.${index}.2`), 200, 'another client is not held up');
        t.equal((await fetch(`${app.url}/irc/stats`)).status, 200, 'nor is this machine');
      });

      t.test('nonces go by the client too', async (t) => {
        const [busy, other] = [`127.1.${index}.3`, `127.1.${index}.4`];
        const from = (address: string, claimed: string) =>
          statusFrom(url, address, claimed, '/auth/erc8128/nonce');
        for (let n = 0; n < noncesPerMinute; n += 1) t.equal(await from(busy, `198.51.100.${n}`), 200);
        t.equal(await from(busy, '198.51.100.250'), 429);
        t.equal(await from(other, '198.51.100.251'), 200, 'another client gets one');
      });

      t.test('streams come as they are said, and end when their reader goes', async (t) => {
        const stop = new AbortController();
        const stream = await fetch(`${url}/irc/stream?channel=lobby`, { signal: stop.signal });
        t.equal(stream.status, 200);
        await eventually('a viewer', async () => (await viewers()) === 1);
        await speaker.ask('JOIN #lobby', `PRIVMSG #lobby :through ${name}`);
        let text = '';
        for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
          text += chunk;
          if (text.includes(`through ${name}`)) break;
        }
        stop.abort();
        // HAProxy notices it with what it writes next
        await eventually('no viewer', async () => {
          await speaker.ask('PRIVMSG #lobby :still there?');
          return (await viewers()) === 0;
        });
      });

      t.test('SOCKET-06 a WebSocket stays open both ways', async (t) => {
        const socket = new WebSocket(
          `${url.replace('http', 'ws')}/irc/socket?nick=agent${index}&channels=lobby`,
          {
            headers: { 'x-api-key': key },
          },
        );
        t.teardown(() => socket.terminate());
        const heard: string[] = [];
        socket.on('message', (data) => heard.push(String(data)));
        await once(socket, 'open');
        const params = { to: '#lobby', text: `a socket through ${name}`, nick: `agent${index}` };
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'say', params }));
        await eventually('the answer', async () => heard.some((frame) => frame.includes('"shown"')));
        await eventually('the line', async () => heard.some((frame) => frame.includes('"method":"line"')));
      });

      t.test('tools, also under the name by which the proxy asks', async (t) => {
        const { headers, ...call } = toolCall('svc_get_stats');
        for (const host of ['relay.example', 'relay:8100']) {
          const answer = await request(`${url}/mcp`, {
            ...call,
            method: 'POST',
            headers: { ...headers, host, 'x-api-key': key },
          });
          t.equal(answer.statusCode, 200, host);
          t.match(await answer.body.json(), { result: { structuredContent: { connected: true } } });
        }
        for (const host of ['evil.example', 'relay.example.evil.example']) {
          const { statusCode, body } = await request(`${url}/mcp`, {
            ...call,
            method: 'POST',
            headers: { ...headers, host, 'x-api-key': key },
          });
          t.match(
            await body.json(),
            { error: { data: { code: 'host_not_allowed', hint: /ALLOWED_HOSTS/ } } },
            host,
          );
          t.equal(statusCode, 403, host);
        }
      });

      t.test('what a wallet signed for the public address', async (t) => {
        const { nonce } = (await (await fetch(`${url}/auth/erc8128/nonce`)).json()) as { nonce: string };
        const { headers, body } = await newWallet().sign(`${publicUrl}/mcp`, toolCall('svc_get_stats'), {
          nonce,
        });
        const answer = await fetch(`${url}/mcp`, { method: 'POST', headers, body: body! });
        t.equal(answer.status, 200);
        t.match(await answer.json(), { result: { structuredContent: { connected: true } } });
      });

      t.test('a payment', { skip: withoutChain }, async (t) => {
        const account = await payments!.chain.payer();
        const answer = await payingFetch(account)(
          `${url}/payments/access/alpha-test`,
          entering(`speaker${index}`),
        );
        t.equal(answer.status, 200);
        t.ok(answer.headers.get('payment-response'));
        t.match(await answer.json(), { channel: '#alpha-test' });
      });
    });
  }
});

for (const name of proxyNames)
  t.test(
    `${name} in front of a service that counts the proxies or trusts none`,
    {
      skip: withoutProxy(name),
    },
    async (t) => {
      const nats = await startNats(t);
      const start = (settings: Record<string, string>) =>
        startApp(t, {
          ...{ NATS_URL: nats.url, ROLES: 'api,projections', PUBLIC_URL: publicUrl, API_KEYS: `ann:${key}` },
          ...{ NONCE_RATE_LIMIT: '3', ...settings },
        });

      const counting = await startProxy(t, name, (await start({ TRUST_PROXY: '1' })).url);
      const read = (url: string, address: string, claimed: string) =>
        statusFrom(url, address, claimed, '/auth/erc8128/nonce');
      for (let n = 0; n < 3; n += 1) t.equal(await read(counting.url, '127.2.0.1', `198.51.100.${n}`), 200);
      t.equal(
        await read(counting.url, '127.2.0.1', '198.51.100.9'),
        429,
        'one proxy: the client that it names',
      );
      t.equal(await read(counting.url, '127.2.0.2', '198.51.100.9'), 200);

      // nobody says which headers are true, so all callers are the one proxy
      const trusting = await startProxy(t, name, (await start({})).url);
      for (let n = 0; n < 3; n += 1)
        t.equal(await read(trusting.url, `127.2.0.${n}`, `198.51.100.${n}`), 200);
      t.equal(await read(trusting.url, '127.2.0.9', '198.51.100.9'), 429, 'no proxy is trusted');
    },
  );

/** The status of a read by a client with an address of its own, which claims to be another one. */
async function statusFrom(
  url: string,
  localAddress: string,
  claimed?: string,
  path = '/irc/channels',
): Promise<number> {
  const dispatcher = new Agent({ localAddress });
  try {
    const headers = claimed === undefined ? {} : { 'x-forwarded-for': claimed };
    const { statusCode, body } = await request(`${url}${path}`, { dispatcher, headers });
    await body.dump();
    return statusCode;
  } finally {
    await dispatcher.close();
  }
}
