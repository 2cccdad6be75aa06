import { once } from 'node:events';
import t from 'tap';
import { WebSocket } from 'ws';
import { createClient, type IrcMessage } from '../../src/client/index.js';
import { mostMissed } from '../../src/operations/core/live-feed.js';
import { type IrcFact, irc, ircSubject } from '../../streams/network/index.js';
import { keysStage } from '../keys/stage.js';
import { openLog } from '../network/stage.js';
import { eventually } from '../support/eventually.js';
import { readEvents } from '../support/sse.js';

type Data = Record<string, unknown>;

/** So many lines more than come on one connection. */
const beyond = 250;

t.test('IRC-22 who has missed more than comes on one connection is told where the rest is', async (t) => {
  const stage = await keysStage(t);
  const { ask, given, app } = stage;
  const log = await openLog(t, stage.nats.url);
  const say = async (channel: string, from: number, count: number) => {
    const seen: IrcFact['data']['seen'] = Array.from({ length: count }, (_, n) => ({
      is: 'message',
      at: from + n,
      nick: 'bob',
      text: `line ${from + n}`,
    }));
    if (from === 0) seen.unshift({ is: 'snapshot', at: 0, members: ['bob'], modes: 'nt', topic: '' });
    const data = { channel, lines_before: from, seen };
    await log.append(irc, ircSubject(channel), { type: 'channel.observed', data }, { by: 'test' });
  };
  const all = Array.from({ length: mostMissed + beyond }, (_, n) => `line ${n}`);
  for (let n = 0; n < all.length; n += 50) await say('#lobby', n, 50);
  const read = async (path: string) => (await ask('GET', path)).body as IrcMessage[];
  await eventually(
    'the record',
    async () => (await read('/irc/channels/lobby/messages')).at?.(-1)?.text === all.at(-1),
  );
  const textsOf = (heard: { data: Data }[]) => heard.flatMap(({ data }) => data.text ?? []);
  const alice = await given('alice', ['read', 'speak']);

  await t.test('in the stream of a channel, which goes on for who comes back', async (t) => {
    const url = `${app.url}/irc/stream?channel=%23Lobby`;
    const first = await readEvents<Data>(t, `${url}&after=0-0`, {});
    await eventually('the end', () => first.ended);
    const { id, event, data } = first.heard.at(-1)!;
    t.match({ id, event, data }, { event: 'more', data: { after: id, says: /come back/ } });
    t.equal(id, first.heard.at(-2)!.id);
    const got = textsOf(first.heard);
    t.same(got, all.slice(0, got.length));
    t.ok(got.length >= mostMissed - 1 && got.length <= mostMissed, `${got.length} lines`);
    const [rest] = data.rest as string[];
    t.equal(rest, `/irc/channels/Lobby/messages?after=${id}`);
    const next = (await read(rest!)).map(({ text }) => text);
    t.same(next, all.slice(got.length, got.length + next.length), 'the rest is where it says');

    const second = await readEvents<Data>(t, url, { 'last-event-id': id });
    await eventually('the rest', () => second.heard.length === all.length - got.length);
    await say('#lobby', all.length, 1);
    await eventually('what is new', () => second.heard.length > all.length - got.length);
    all.push(`line ${all.length}`);
    t.same([...got, ...textsOf(second.heard)], all);
    t.notOk(second.ended);
    second.close();
  });

  await t.test('in what an agent listens to', async (t) => {
    await say('#agents', 0, 1);
    await eventually(
      'the other channel',
      async () => (await read('/irc/channels/agents/messages')).length === 1,
    );
    const listen = (query: string) =>
      readEvents<Data>(t, `${app.url}/irc/listen?channels=lobby,agents${query}`, alice.headers);
    const first = await listen('&after=0.0-0');
    await eventually('the end', () => first.ended);
    const last = first.heard.at(-1)!;
    const place = last.id.split('.')[1];
    t.match(last, {
      event: 'more',
      data: {
        after: place,
        rest: ['lobby', 'agents'].map((name) => `/irc/channels/${name}/messages?after=${place}`),
      },
    });
    const second = await listen(`&after=${last.id}`);
    const got = textsOf(first.heard).length;
    await eventually('the rest', () => textsOf(second.heard).length === all.length + 1 - got);
    t.same([...textsOf(first.heard), ...textsOf(second.heard)], [...all, 'line 0']);
    second.close();
  });

  await t.test('in a socket, which says that one may come back', async (t) => {
    const url = `${app.url.replace('http', 'ws')}/irc/socket?channels=lobby&after=0.0-0`;
    const socket = new WebSocket(url, { headers: alice.headers });
    t.teardown(() => socket.terminate());
    const heard: { method: string; params: { id: string; data: Data } }[] = [];
    socket.on('message', (data) => heard.push(JSON.parse(String(data))));
    const [code, reason] = await once(socket, 'close');
    t.same([code, String(reason)], [1013, 'Come back with after']);
    t.match(heard.at(-1), { method: 'more', params: { data: { rest: [/lobby\/messages\?after=/] } } });
  });

  await t.test('and our client comes back by itself', async (t) => {
    const client = createClient({ baseUrl: app.url, apiKey: alice.headers['x-api-key']! });
    const stop = new AbortController();
    t.teardown(() => stop.abort());
    const seen: string[] = [];
    for await (const { text } of client.watch('#lobby', { after: '0-0', signal: stop.signal })) {
      seen.push(text);
      if (seen.length === all.length) break;
    }
    t.same(seen, all);
    const heard: string[] = [];
    const events = client.listen({ channels: ['lobby'], after: '0.0-0', signal: stop.signal });
    for await (const { event, data } of events) {
      if (event === 'line') heard.push(data.text);
      if (heard.length === all.length) break;
    }
    t.same(heard, all);
  });
});
