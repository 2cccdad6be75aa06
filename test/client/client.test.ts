import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import {
  createClient,
  type IrcMessage,
  RelayError,
  signEvent,
  type WatchOptions,
  walletFetch,
} from '../../src/client/index.js';
import { type OpenStream, watchChannel } from '../../src/client/watch.js';
import { environmentOf } from '../channels/stage.js';
import { sampleEvent, startApp, webhookSecret } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { startTcpRelay } from '../support/tcp-relay.js';

const apiKey = 'a-key-of-an-operator-that-is-long-enough';
const failure = async (promise: Promise<unknown>): Promise<RelayError> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof RelayError) return error;
    throw error;
  }
  throw new Error('it did not fail');
};

t.test('the client and a service', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const app = await startApp(t, {
    ...environmentOf({ nats, ircd }),
    PUBLIC_URL: 'https://relay.example',
    API_KEYS: `ops:${apiKey}`,
  });
  const relay = createClient({ baseUrl: `${app.url}/` });
  const keyed = createClient({ baseUrl: app.url, apiKey });
  const alice = await observe(ircd.port, { nick: 'alice', password: ircd.serverPassword });
  t.teardown(() => alice.stop());
  await alice.join('#lobby');
  await eventually('the recorder', async () =>
    (await relay.get('/irc/channels')).some(({ name, users }) => name === '#lobby' && users > 0),
  );

  t.test('answers are what the operation says: JSON, text, or nothing', async (t) => {
    const stats = await relay.get('/irc/stats');
    t.equal(stats.connected, true);
    t.match(await relay.get('/auth.md'), /^# Authentication/);
    const agents = await relay.get('/leaderboard/agents', { params: { query: { limit: 3 } } });
    t.same(agents.agents, []);
    const nothing = { jsonrpc: '2.0', method: 'notifications/initialized' } as const;
    t.equal(await keyed.post('/mcp', { body: nothing }), undefined);
    const { data, response } = await relay.http.GET('/irc/channels/{channel}/messages', {
      params: { path: { channel: '#lobby' } },
    });
    t.same(data, []);
    t.equal(response.status, 200);
  });

  t.test('CLIENT-03 errors of the service', async (t) => {
    const invalid = relay.get('/irc/channels/{channel}/messages', {
      params: { path: { channel: 'lobby' }, query: { limit: 0 } },
    });
    t.match(await failure(invalid), {
      name: 'RelayError',
      status: 400,
      code: 'validation_failed',
      message: String,
      details: [{ path: 'limit', message: String }],
      requestId: undefined,
      retryAfter: undefined,
    });
    t.match(await failure(relay.get('/ops/projections')), { status: 401, details: [] });
    t.match(await failure(relay.post('/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } })), {
      status: 401,
      code: 'credential_missing',
    });
    const wrong = createClient({ baseUrl: app.url, apiKey: 'x'.repeat(40) });
    t.match(await failure(wrong.get('/irc/channels')), { status: 401, code: String });
  });

  t.test('CLIENT-05 an event is signed and posted', async (t) => {
    const event = { ...sampleEvent('café-☕'), event_id: 'from-client' };
    t.match(await relay.postEvent(webhookSecret, event), {
      status: 'accepted',
      target_channels: ['#bounties'],
    });
    t.match(await relay.postEvent(webhookSecret, event), { status: 'already_processed', duplicate: true });
    const tried = { ...event, event_id: 'evt-tried' };
    t.match(await relay.postEvent(webhookSecret, tried, { dryRun: true }), { status: 'dry_run' });
    t.match(await failure(relay.postEvent('another secret', event)), { code: 'signature_invalid' });
    const broken = { ...event, event_id: '' };
    t.match(await failure(relay.postEvent(webhookSecret, broken)), {
      status: 400,
      code: 'invalid_event',
      details: [{ path: 'event_id' }],
    });
    t.match(await signEvent('key', '{}', new Date(0)), { 'X-EM-Timestamp': '1970-01-01T00:00:00.000Z' });
  });

  t.test('CLIENT-06 a wallet signs, for the host of PUBLIC_URL', async (t) => {
    const account = privateKeyToAccount(generatePrivateKey());
    const signing = createClient({ baseUrl: app.url, fetch: walletFetch(account, { baseUrl: app.url }) });
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' } as const;
    for (const _ of [1, 2]) {
      const { result } = (await signing.post('/mcp', { body: list })) as unknown as {
        result: { tools: object[] };
      };
      t.equal(result.tools.length, 24);
    }
    const nick = 'carol';
    await keyed.post('/identity/link', { body: { nick, wallet_address: account.address } });
    const another = privateKeyToAccount(generatePrivateKey());
    const wrong = createClient({ baseUrl: app.url, fetch: walletFetch(another, { baseUrl: app.url }) });
    const params = { path: { nick } };
    t.match(await failure(wrong.delete('/identity/link/{nick}', { params })), { status: 403 });
    t.match(await signing.delete('/identity/link/{nick}', { params }), { unlinked: true, nick });
    const nowhere = walletFetch(account, { baseUrl: 'http://127.0.0.1:1' });
    await t.rejects(createClient({ baseUrl: app.url, fetch: nowhere }).get('/irc/stats'), /fetch failed/);
  });

  t.test('CLIENT-04 a channel is watched over lost connections', async (t) => {
    const hop = await startTcpRelay(t, Number(new URL(app.url).port));
    const client = createClient({ baseUrl: `http://127.0.0.1:${hop.port}` });
    const seen: IrcMessage[] = [];
    const texts = () => seen.map(({ text }) => text);
    const stop = new AbortController();
    const watching = collect(client.watch('#lobby', { signal: stop.signal }), seen);
    await eventually('the stream to be open', async () => (await relay.get('/irc/stats')).viewers === 1);
    const say = (...lines: string[]) => alice.ask(...lines.map((line) => `PRIVMSG #lobby :${line}`));

    await say('one', 'two');
    await eventually('the first lines', () => seen.length === 2);
    hop.refuse(true);
    hop.cut();
    await say('three', 'four');
    await eventually('the lines to be recorded', async () => {
      const params = { path: { channel: 'lobby' } };
      return (await relay.get('/irc/channels/{channel}/messages', { params })).length === 4;
    });
    t.equal(seen.length, 2);
    hop.refuse(false);
    await eventually('what was missed', () => seen.length === 4);
    await say('five');
    await eventually('what is new', () => seen.length === 5);
    t.same(texts(), ['one', 'two', 'three', 'four', 'five']);
    t.match(seen[0], { channel: '#lobby', nick: 'alice', action: false, id: /^\d+-\d+$/ });

    const again: IrcMessage[] = [];
    const from: WatchOptions = { after: seen[1]!.id, signal: stop.signal };
    const second = collect(client.watch('lobby', from), again);
    await eventually('what was said since', () => again.length === 3);
    t.same(again, seen.slice(2));

    stop.abort(new Error('enough'));
    for (const end of [watching, second]) t.match(await end, { message: 'enough' });
    await eventually('nobody to watch', async () => (await relay.get('/irc/stats')).viewers === 0);
  });

  t.test('CLIENT-04 a connection that is silent is a lost one', async (t) => {
    const hop = await startTcpRelay(t, Number(new URL(app.url).port));
    const after = (
      await relay.get('/irc/channels/{channel}/messages', { params: { path: { channel: 'lobby' } } })
    ).at(-1)!.id;
    const open: OpenStream = (after = '', signal) =>
      fetch(`http://127.0.0.1:${hop.port}/irc/stream?channel=lobby`, {
        headers: { 'last-event-id': after },
        signal,
      });
    const stop = new AbortController();
    const seen: IrcMessage[] = [];
    const service = { newest: async () => undefined, open };
    const watching = collect(watchChannel(service, { after, signal: stop.signal }, 1_000), seen);
    await eventually('the stream to be open', async () => (await relay.get('/irc/stats')).viewers === 1);
    hop.freeze();
    await alice.ask('PRIVMSG #lobby :into the void');
    await eventually('another connection', () => hop.connections > 1);
    await eventually('the line', () => seen.length > 0);
    t.same(
      seen.map(({ text }) => text),
      ['into the void'],
    );
    stop.abort();
    t.match(await watching, { name: 'AbortError' });
  });

  t.test('CLIENT-04 a connection that is not answered is a lost one', async (t) => {
    const bodies = ['data: {"text":"one"}\nid: 1-0\n\n', undefined, 'data: {"text":"two"}\nid: 2-0\n\n'];
    const asked: unknown[] = [];
    const open: OpenStream = (after, signal) => {
      const body = bodies[asked.push(after) - 1];
      if (body !== undefined) return Promise.resolve(new Response(`retry: 1\n\n${body}`));
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const stop = new AbortController();
    const seen: IrcMessage[] = [];
    const options = { after: '0-0', signal: stop.signal };
    const watching = collect(watchChannel({ newest: async () => undefined, open }, options, 100), seen);
    await eventually('the line after the silence', () => seen.length > 1);
    t.same(asked.slice(0, 3), ['0-0', '1-0', '1-0']);
    stop.abort();
    t.match(await watching, { name: 'AbortError' });
    const first = watchChannel({ newest: async () => undefined, open }, { after: '2-0' }, 100).next();
    await t.rejects(first, { message: 'the service does not answer' });
  });

  t.test('CLIENT-04 what cannot be watched says so at once, and what becomes private ends', async (t) => {
    t.match(await failure(relay.watch('#nowhere').next()), { status: 404 });
    await t.rejects(createClient({ baseUrl: 'http://127.0.0.1:1' }).watch('#lobby').next(), /fetch failed/);
    const seen: IrcMessage[] = [];
    const watching = collect(relay.watch('#lobby'), seen);
    await eventually('the stream to be open', async () => (await relay.get('/irc/stats')).viewers === 1);
    await alice.ask(`OPER ${ircd.operName} ${ircd.operPassword}`, 'SAMODE #lobby +s');
    t.match(await watching, { name: 'RelayError', status: 404 });
  });
});

t.test('CLIENT-03 answers of others, and faults', async (t) => {
  const answers: Record<string, [status: number, headers: Record<string, string>, body: string]> = {
    '/irc/stats': [502, { 'content-type': 'text/html' }, '<h1>Bad gateway</h1>'],
    '/irc/channels': [
      500,
      { 'content-type': 'application/json' },
      '{"error":"Something went wrong on our side","code":"internal_error","request_id":"req-7"}',
    ],
    '/health': [
      429,
      { 'content-type': 'application/json', 'retry-after': '12' },
      '{"error":"Too many requests","code":"rate_limited","hint":"Wait"}',
    ],
    '/ready': [307, { location: '/health' }, ''],
  };
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers['x-api-key'] as string);
    const [status, headers, body] = answers[request.url!]!;
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const relay = createClient({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey,
  });
  t.match(await failure(relay.get('/irc/stats')), {
    status: 502,
    code: 'http_502',
    message: 'the service answered 502',
    body: '<h1>Bad gateway</h1>',
  });
  t.match(await failure(relay.get('/irc/channels')), { code: 'internal_error', requestId: 'req-7' });
  t.match(await failure(relay.get('/health')), { code: 'rate_limited', retryAfter: 12, hint: 'Wait' });
  await t.rejects(relay.get('/ready'), /fetch failed/);
  t.same(asked, [apiKey, apiKey, apiKey, apiKey], 'and the key went nowhere else');
});

t.test('CLIENT-04 what passes is waited for, what does not is told', async (t) => {
  const line = (id: string) => `id: ${id}\ndata: ${JSON.stringify({ id, text: id })}\n\n`;
  const stream = { 'content-type': 'text/event-stream' };
  const json = { 'content-type': 'application/json' };
  const answers: [status: number, headers: Record<string, string>, body: string][] = [
    [200, stream, `retry: 20\n\n: still here\n\n${line('5-0')}`],
    [503, { ...json, 'retry-after': '1' }, '{"error":"away","code":"log_unavailable"}'],
    [502, {}, 'no JSON'],
    [200, stream, line('5-1') + line('6-0')],
    [404, json, '{"error":"no such channel","code":"channel_not_found"}'],
  ];
  const after: (string | undefined)[] = [];
  const times: number[] = [];
  const server = createServer((request, response) => {
    if (request.url?.includes('/messages')) return void response.writeHead(200, json).end('[]');
    after.push(request.headers['last-event-id'] as string);
    times.push(Date.now());
    const [status, headers, body] = answers.shift()!;
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const relay = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey });
  const seen: IrcMessage[] = [];
  t.match(await collect(relay.watch('#lobby'), seen), { status: 404, code: 'channel_not_found' });
  t.same(
    seen.map(({ id }) => id),
    ['5-0', '5-1', '6-0'],
  );
  t.same(after, ['0-0', '5-0', '5-0', '5-0', '6-0'], 'behind the last line that was seen');
  t.ok(times[2]! - times[1]! >= 990, 'not before the service wants it');

  answers.push([503, {}, '{}']);
  t.match(await failure(relay.watch('#lobby').next()), { status: 503 }, 'at first it is told at once');
  const gone = AbortSignal.abort(new Error('too late'));
  await t.rejects(relay.watch('#lobby', { signal: gone }).next(), /too late/);
});

/** Reads to the end; resolves with what ended it. */
async function collect(lines: AsyncIterable<IrcMessage>, into: IrcMessage[]): Promise<unknown> {
  try {
    for await (const line of lines) into.push(line);
    return undefined;
  } catch (error) {
    return error;
  }
}
