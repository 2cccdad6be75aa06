import t from 'tap';
import { type Heard as ClientHeard, createClient, type ListenOptions } from '../../src/client/index.js';
import { keysStage, operator } from '../keys/stage.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';
import { type Heard, readEvents } from '../support/sse.js';
import { startTcpRelay } from '../support/tcp-relay.js';

type Data = Record<string, unknown>;

t.test('what an agent hears in one stream', async (t) => {
  const ircd = await startIrcd(t);
  const stage = await keysStage(t, {
    ...settingsOf(ircd),
    IRC_GATEWAY_PASSWORD: ircd.gatewayPassword,
    IRC_CHANNELS: '#lobby,#agents,#closed',
    ROLES: 'all',
  });
  const { ask, given, app } = stage;
  const bob = await observe(ircd.port, {
    nick: 'bob',
    password: ircd.serverPassword,
    channels: ['#lobby', '#agents', '#closed'],
  });
  t.teardown(() => bob.stop());
  const alice = await given('alice', ['read', 'speak']);
  const listen = (query: string, headers: Record<string, string> = alice.headers) =>
    readEvents<Data>(t, `${app.url}/irc/listen?${query}`, headers);
  const texts = (heard: Heard<Data>[]) =>
    heard.filter(({ event }) => event !== 'connection').map(({ event, data }) => `${event} ${data.text}`);
  const lines = async (channel: string) => (await ask('GET', `/irc/channels/${channel}/messages`)).body;
  await eventually('the recorder to be there', async () => {
    bob.send('PRIVMSG #lobby :before');
    return Array.isArray(await lines('lobby')) && (await lines('lobby')).length > 0;
  });
  await eventually('the gateway to answer', async () => {
    const { status } = await ask('GET', '/irc/connection', undefined, alice.headers);
    return status === 200;
  });

  await t.test(
    'LISTEN-01 inbox and channels come in one stream, which brings the agent to the network',
    async (t) => {
      const { heard } = await listen('channels=lobby,agents');
      await eventually('the connection', async () => heard[0]);
      t.match(heard[0], { event: 'connection', data: { connected: true, nick: 'alice' } });
      bob.send('PRIVMSG alice :for you alone');
      await eventually('the message', async () => texts(heard).includes('message for you alone'));
      bob.send('PRIVMSG #lobby :for all');
      bob.send('PRIVMSG #closed :elsewhere');
      bob.send('PRIVMSG #agents :for agents');
      await eventually('the last line', async () => texts(heard).includes('line for agents'));
      t.same(texts(heard), ['message for you alone', 'line for all', 'line for agents']);
      t.match(heard.find(({ event }) => event === 'message')!.data, {
        is: 'private',
        from: 'bob',
        channel: null,
      });
      t.match(heard.at(-1), { data: { channel: '#agents', nick: 'bob', id: /^\d+-\d+$/ } });
      t.equal(new Set(heard.map(({ id }) => id)).size, heard.length, 'each has an id of its own');
    },
  );

  await t.test('LISTEN-02 who comes back gets what was missed in both, once', async (t) => {
    const first = await listen('channels=lobby,agents');
    bob.send('PRIVMSG #lobby :one');
    await eventually('a line', async () => texts(first.heard).includes('line one'));
    first.close();
    bob.send('PRIVMSG alice :two');
    bob.send('PRIVMSG #agents :three');
    bob.send('PRIVMSG #lobby :four');
    await eventually('the record', async () => (await lines('lobby')).at(-1)?.text === 'four');
    const resumed = await listen('channels=lobby,agents', {
      ...alice.headers,
      'last-event-id': first.heard.at(-1)!.id,
    });
    await eventually('what was missed', async () => texts(resumed.heard).length === 3);
    bob.send('PRIVMSG #lobby :five');
    await eventually('what is new', async () => texts(resumed.heard).includes('line five'));
    t.same(texts(resumed.heard).sort(), ['line five', 'line four', 'line three', 'message two']);
    t.ok(texts(resumed.heard).indexOf('line three') < texts(resumed.heard).indexOf('line four'));
    const again = await listen(`channels=lobby&after=${resumed.heard.at(-1)!.id}`);
    bob.send('PRIVMSG #lobby :six');
    await eventually('what is new', async () => texts(again.heard).length > 0);
    t.same(texts(again.heard), ['line six']);
  });

  await t.test('LISTEN-02 who listens to no channel gets nothing of any when it comes back', async (t) => {
    const first = await listen('');
    await eventually('the connection', async () => first.heard[0]);
    first.close();
    bob.send('PRIVMSG #lobby :for others', 'PRIVMSG alice :for you');
    await eventually('the record', async () => (await lines('lobby')).at(-1)?.text === 'for others');
    const resumed = await listen(`after=${first.heard[0]!.id}`);
    await eventually('the message', async () => texts(resumed.heard).length > 0);
    bob.send('PRIVMSG alice :and more');
    await eventually('the other message', async () => texts(resumed.heard).includes('message and more'));
    t.same(texts(resumed.heard), ['message for you', 'message and more']);
  });

  await t.test('LISTEN-03 a channel that becomes private is silent, and the others go on', async (t) => {
    const { heard } = await listen('channels=closed,lobby');
    bob.send('PRIVMSG #closed :open yet');
    await eventually('a line', async () => texts(heard).includes('line open yet'));
    await bob.ask(`OPER ${ircd.operName} ${ircd.operPassword}`, 'SAMODE #closed +s');
    bob.send('PRIVMSG #closed :for few');
    bob.send('PRIVMSG #lobby :for many');
    await eventually('the other', async () => texts(heard).includes('line for many'));
    t.same(texts(heard), ['line open yet', 'line for many']);
    const refused = await listen('channels=lobby,closed');
    t.match(refused, { status: 404, body: /not_found/ });
    const all = await listen('channels=closed&nick=carol', operator);
    bob.send('PRIVMSG #closed :for operators');
    await eventually('the operator', async () => texts(all.heard).includes('line for operators'));
  });

  await t.test('LISTEN-04 only the agent itself listens, and with a key', async (t) => {
    const reader = await given('dora', ['read']);
    const wrong: [string, Record<string, string>, object][] = [
      ['', {}, { status: 401, body: /api_key_required/ }],
      ['', reader.headers, { status: 403, body: /scope_missing/ }],
      ['nick=bob', alice.headers, { status: 403, body: /not_your_nick/ }],
      ['', operator, { status: 400, body: /"path":"nick"/ }],
      ['nick=em-bot', operator, { status: 409, body: /nickname_reserved/ }],
      ['channels=', alice.headers, { status: 400, body: /"path":"channels/ }],
      ['channels=a,b%20c', alice.headers, { status: 400, body: /"path":"channels\.1"/ }],
      [`channels=${Array(21).fill('a')}`, alice.headers, { status: 400, body: /at most 20/ }],
      ['channels=nowhere', alice.headers, { status: 404, body: /not_found/ }],
      ['after=42-0', alice.headers, { status: 400, body: /"path":"after"/ }],
    ];
    for (const [query, headers, answer] of wrong) t.match(await listen(query, headers), answer, query);
  });

  await t.test('LISTEN-05 a key that ends takes its streams with it', async (t) => {
    const short = await given('erin', ['speak']);
    const stream = await listen('channels=lobby', short.headers);
    await eventually('the connection', async () => stream.heard[0]);
    t.equal((await ask('DELETE', `/auth/keys/${short.id}`, undefined, operator)).status, 200);
    await eventually(
      'the end',
      async () => {
        bob.send('PRIVMSG #lobby :still there?');
        await bob.ask();
        return stream.ended;
      },
      60_000,
    );
  });

  await t.test('LISTEN-06 an agent has so many streams, also on this machine', async (t) => {
    const { headers } = await given('frank', ['speak']);
    for (let n = 0; n < 20; n++) t.equal((await listen('channels=lobby', headers)).status, 200);
    t.match(await listen('channels=lobby', headers), { status: 429, body: /too_many_streams/ });
  });

  await t.test('CLIENT-08 the client listens over lost connections', async (t) => {
    const hop = await startTcpRelay(t, Number(new URL(app.url).port));
    const apiKey = alice.headers['x-api-key'];
    const client = createClient({ baseUrl: `http://127.0.0.1:${hop.port}`, apiKey });
    const stop = new AbortController();
    const seen: ClientHeard[] = [];
    const listen = async (options: ListenOptions, seen: ClientHeard[]) => {
      for await (const one of client.listen({ ...options, signal: stop.signal })) seen.push(one);
    };
    const told = (seen: ClientHeard[]) =>
      seen.flatMap((one) => (one.event === 'connection' ? [] : `${one.event} ${one.data.text}`));
    const listening = listen({ channels: ['#lobby'] }, seen).catch((error) => error);
    await eventually('where it is', () => seen.some(({ event }) => event === 'connection'));
    bob.send('PRIVMSG #lobby :first line');
    await eventually('the first line', () => told(seen).length === 1);
    hop.refuse(true);
    hop.cut();
    bob.send('PRIVMSG alice :while cut off', 'PRIVMSG #lobby :line while cut off');
    await eventually(
      'both to be recorded',
      async () => (await lines('lobby')).at(-1)?.text === 'line while cut off',
    );
    hop.refuse(false);
    await eventually('what was missed', () => told(seen).length === 3);
    t.same(told(seen).sort(), ['line first line', 'line line while cut off', 'message while cut off']);

    const again: ClientHeard[] = [];
    const after = seen.find(({ event }) => event === 'line')!.id;
    const second = listen({ channels: ['#lobby'], after }, again).catch((error) => error);
    await eventually('what came after an event', () => told(again).length === 2);
    stop.abort(new Error('enough'));
    for (const end of [listening, second]) t.match(await end, { message: 'enough' });
    const stranger = createClient({ baseUrl: app.url }).listen();
    t.match(await stranger.next().catch((error) => error), { status: 401 });
  });
});
