import { connect } from 'node:net';
import t from 'tap';
import type { IrcMessage } from '../../projections/network/queries.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { Listener } from './listener.js';

const key = 'a-key-of-an-operator-that-is-long-enough';
const withKey = { headers: { 'x-api-key': key } };

t.test('the reads of the network', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const environment = {
    NATS_URL: nats.url,
    ...settingsOf(ircd),
    IRC_CHANNELS: '#lobby,#Agents[1],#secret',
    API_KEYS: `operator:${key}`,
  };
  const alice = await observe(ircd.port, { nick: 'alice', password: ircd.serverPassword });
  t.teardown(() => alice.stop());
  await alice.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
  await alice.join('#lobby', '#Agents[1]', '#secret');
  await alice.ask('SAMODE #secret +s', 'SATOPIC #lobby :Welcome');
  const app = await startApp(t, environment);
  const read = async (path: string, options?: RequestInit) => {
    const response = await fetch(`${app.url}${path}`, options);
    // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect of it
    return { status: response.status, headers: response.headers, body: (await response.json()) as any };
  };
  const texts = async (path: string, options?: RequestInit) =>
    ((await read(path, options)).body as IrcMessage[]).map(({ text }) => text);
  await eventually('three channels', async () => (await read('/irc/channels', withKey)).body.length === 3);

  t.test('IRC-14 the last lines of a channel', async (t) => {
    await alice.ask(...Array.from({ length: 120 }, (_, n) => `PRIVMSG #lobby :line ${n}`));
    await alice.ask('PRIVMSG #Agents[1] :\x01ACTION thinks\x01');
    await eventually(
      'all lines',
      async () => (await texts('/irc/channels/lobby/messages')).at(-1) === 'line 119',
    );
    const all = Array.from({ length: 120 }, (_, n) => `line ${n}`);
    t.same(await texts('/irc/channels/lobby/messages'), all.slice(-50));
    t.same(await texts('/irc/channels/LOBBY/messages?limit=1&other=x'), all.slice(-1));
    t.same(await texts('/irc/channels/%23lobby/messages?limit=100'), all.slice(-100));
    const last: { id: string }[] = (await read('/irc/channels/lobby/messages?limit=100')).body;
    const [tenth, last90th] = [last[9]!.id, last[10]!.id];
    t.same(await texts(`/irc/channels/lobby/messages?after=${tenth}&limit=3`), all.slice(-90, -87));
    t.same(await texts(`/irc/channels/lobby/messages?after=${tenth}&limit=100`), all.slice(-90));
    t.same(await texts(`/irc/channels/lobby/messages?before=${last90th}&limit=2`), all.slice(-92, -90));
    t.same(
      await texts(`/irc/channels/lobby/messages?after=${tenth}&before=${last[12]!.id}`),
      all.slice(-90, -88),
    );
    t.same(await texts(`/irc/channels/lobby/messages?after=${last.at(-1)!.id}`), []);
    t.same(await texts('/irc/channels/lobby/messages?after=999999999-0'), [], 'not yet said');
    for (const query of ['after=x', 'before=42', 'after=1-2-3', 'after=-1-0'])
      t.match(
        await read(`/irc/channels/lobby/messages?${query}`),
        { status: 400, body: { details: [{ path: query.split('=')[0] }] } },
        query,
      );
    for (const name of ['agents[1]', 'AGENTS{1}', '%23Agents%5B1%5D']) {
      await eventually(name, async () => (await texts(`/irc/channels/${name}/messages`)).length === 1);
      const { body, headers } = await read(`/irc/channels/${name}/messages`);
      t.match(body, [
        { id: /^\d+-\d+$/, channel: '#Agents[1]', nick: 'alice', text: 'thinks', action: true },
      ]);
      t.equal(new Date(body[0].time).toISOString(), body[0].time);
      t.same(Object.keys(body[0]).sort(), ['action', 'channel', 'id', 'nick', 'text', 'time']);
      t.equal(headers.get('access-control-allow-origin'), '*');
    }
    for (const limit of ['0', '101', '-1', '1.5', 'x', '']) {
      t.match(
        await read(`/irc/channels/lobby/messages?limit=${limit}`),
        {
          status: 400,
          body: { code: 'validation_failed', details: [{ path: 'limit' }] },
        },
        `limit ${limit}`,
      );
    }
    for (const name of ['nowhere', '%23%23lobby', "a'b", '%00', '%20']) {
      const answer = await read(`/irc/channels/${name}/messages`);
      t.match(answer, { status: 404, body: { error: 'Channel not found', code: 'not_found' } }, name);
    }
  });

  t.test('IRC-15 private channels are for holders of a key', async (t) => {
    await alice.ask('PRIVMSG #secret :hush');
    await eventually(
      'the line',
      async () => (await texts('/irc/channels/secret/messages', withKey)).length > 0,
    );
    t.same((await read('/irc/channels')).body, [
      { name: '#Agents[1]', users: 2, topic: '' },
      { name: '#lobby', users: 2, topic: 'Welcome' },
    ]);
    t.match((await read('/irc/channels', withKey)).body, { length: 3 });
    t.match(await read('/irc/channels/secret/messages'), {
      status: 404,
      body: { error: 'Channel not found', hint: /GET \/irc\/channels, .*operators’ keys/ },
    });
    t.match(await read('/irc/stream?channel=secret'), { status: 404, body: { error: 'Channel not found' } });
    const wrong = { headers: { authorization: 'Bearer wrong' } };
    t.match(await read('/irc/channels/secret/messages', wrong), { status: 401 });
    const stream = await Listener.open(t, `${app.url}/irc/stream?channel=secret`, withKey.headers);
    await alice.ask('PRIVMSG #secret :hush again');
    await eventually('the line', () => stream.texts().includes('hush again'));
  });

  t.test('IRC-16 stats, also of the viewers of another process', async (t) => {
    const other = await startApp(t, { ...environment, ROLES: 'api,projections' });
    await alice.ask('JOIN #of-alice'); // and nobody else is in it
    const told = (await alice.ask('LUSERS')).join('\n');
    const users = Number(/ 266 .*users: (\d+)/.exec(told)?.[1]);
    const channels = Number(/ 254 \S+ (\d+)/.exec(told)?.[1]);
    t.ok(users > 2 && channels > 3, told);
    const body = await eventually('the numbers of the whole network', async () => {
      const answer = await read('/irc/stats');
      return answer.body.users === users && answer.body.channels === channels && answer.body;
    });
    t.match(body, { connected: true, messages: Number, viewers: 0, uptime: Number });
    t.ok(body.messages >= 122 && body.uptime < 600, JSON.stringify(body));
    const here = await Listener.open(t, `${app.url}/irc/stream?channel=lobby`);
    await Listener.open(t, `${other.url}/irc/stream?channel=lobby`);
    for (const { url } of [app, other]) {
      const viewers = async () =>
        ((await (await fetch(`${url}/irc/stats`)).json()) as { viewers: number }).viewers;
      await eventually('two viewers', async () => (await viewers()) === 2);
    }
    here.stop();
    await eventually('one viewer', async () => (await read('/irc/stats')).body.viewers === 1);
    const health = (await read('/health')).body.services.bridge;
    t.match(health, { status: 'ok', recorder: { connected: true, oper: false, nick: 'relay' } });
  });

  t.test('IRC-17 what is no id of a line is refused', async (t) => {
    for (const id of ['x', '12', '1-2-3', '-1-0', ' 1-0 x', '9999999999999999-0']) {
      const headers = { 'last-event-id': id };
      t.match(
        await read('/irc/stream?channel=lobby', { headers }),
        { status: 400, body: { code: 'validation_failed', details: [{ path: 'last-event-id' }] } },
        id,
      );
    }
    t.match(await read('/irc/stream?channel=lobby&after=x'), {
      status: 400,
      body: { code: 'validation_failed', details: [{ path: 'after' }] },
    });
    const none = await Listener.open(t, `${app.url}/irc/stream?channel=lobby&after=`, {
      'last-event-id': '',
    });
    none.stop();
  });

  t.test('IRC-17 a live stream goes on where its reader was', async (t) => {
    const first = await Listener.open(t, `${app.url}/irc/stream?channel=%23LOBBY`);
    t.equal(first.response.headers.get('access-control-allow-origin'), '*');
    await alice.ask('PRIVMSG #lobby :live 0', 'PRIVMSG #lobby :live 1');
    await eventually('two lines', () => first.messages.length === 2);
    const listed = await eventually('the read model to have them, too', async () => {
      const { body } = await read('/irc/channels/lobby/messages?limit=2');
      return body.at(-1)?.id === first.lastId && body;
    });
    t.same(first.messages, listed, 'the same messages as are listed');
    first.stop();
    await alice.ask(...Array.from({ length: 300 }, (_, n) => `PRIVMSG #lobby :live ${n + 2}`));

    const other = await startApp(t, { ...environment, ROLES: 'api,projections' });
    const second = await Listener.open(t, `${other.url}/irc/stream?channel=lobby`, {
      'last-event-id': first.lastId,
    });
    await eventually('what was missed', () => second.messages.length >= 300);
    await alice.ask('PRIVMSG #lobby :live 302');
    await eventually('what is new', () => second.texts().at(-1) === 'live 302');
    t.same(
      [...first.texts(), ...second.texts()],
      Array.from({ length: 303 }, (_, n) => `live ${n}`),
    );

    const third = await Listener.open(
      t,
      `${app.url}/irc/stream?channel=lobby&after=${second.messages[199]!.id}`,
    );
    await eventually('the rest', () => third.messages.length === 101);
    t.same(third.texts(), second.texts().slice(200));
    const future = await Listener.open(t, `${app.url}/irc/stream?channel=lobby&after=999999999-0`);
    await alice.ask('PRIVMSG #lobby :live 303');
    await eventually('a line in spite of an id of another log', () => future.texts().includes('live 303'));

    await other.stop();
    await eventually('the end of its streams', () => second.ended);
    const back = await Listener.open(t, `${app.url}/irc/stream?channel=lobby`, {
      'last-event-id': second.lastId,
    });
    await alice.ask('PRIVMSG #lobby :live 304');
    await eventually('the end', () => back.texts().at(-1) === 'live 304');
    const all = [...first.texts(), ...second.texts(), ...back.texts()];
    t.same(
      all,
      Array.from({ length: 305 }, (_, n) => `live ${n}`),
      'each line once',
    );
  });

  t.test('IRC-11 IRC-14 the bridge answers the same from another process', async (t) => {
    const services = await startApp(t, { ...environment, ROLES: 'services,projections' });
    const api = await startApp(t, {
      ...environment,
      ROLES: 'api,projections',
      BRIDGE_URL: `${services.url}/bridge`,
    });
    const get = async (url: string) => await (await fetch(url)).json();
    for (const path of ['channels', 'channels/%23LOBBY/messages?limit=3', 'channels/nowhere/messages']) {
      t.same(await get(`${api.url}/irc/${path}`), (await read(`/irc/${path}`)).body, path);
    }
    t.match(await get(`${services.url}/bridge/api/activity/ALICE`), {
      channels: ['#Agents[1]', '#lobby'],
      messages: Number,
      first_seen: /^\d{4}-/,
      last_active: /^\d{4}-/,
    });
    t.match(await get(`${services.url}/bridge/api/activity/nobody`), {
      channels: [],
      messages: 0,
      first_seen: null,
    });
  });

  t.test('IRC-18 a channel that becomes private loses its keyless readers', async (t) => {
    const open = await Listener.open(t, `${app.url}/irc/stream?channel=agents[1]`);
    const keyed = await Listener.open(t, `${app.url}/irc/stream?channel=agents[1]`, withKey.headers);
    await alice.ask('PRIVMSG #agents[1] :public', 'SAMODE #agents[1] +i', 'PRIVMSG #agents[1] :private');
    await eventually('the end', () => open.ended);
    await eventually('the line', () => keyed.texts().includes('private'));
    t.same(open.texts(), ['public']);
    t.notOk(keyed.ended);
    t.equal((await fetch(`${app.url}/irc/stream?channel=agents[1]`)).status, 404);
  });

  t.test('IRC-18 a reader that does not read is cut off, and the others are not held up', async (t) => {
    const { port, hostname } = new URL(app.url);
    const slow = connect({ port: Number(port), host: hostname });
    t.teardown(() => slow.destroy());
    let received = '';
    let closed = false;
    slow.on('close', () => {
      closed = true;
    });
    slow.on('error', () => {});
    slow.write('GET /irc/stream?channel=lobby HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise<void>((resolve) => {
      slow.once('data', (chunk) => {
        received += chunk;
        slow.pause();
        resolve();
      });
    });
    t.match(received, /200 OK/);
    const quick = await Listener.open(t, `${app.url}/irc/stream?channel=lobby`);
    let said = 0;
    const text = 'x'.repeat(380);
    // more than the kernel's buffers hold
    await eventually('the slow reader to be cut off', async () => {
      const lines = Array.from({ length: 500 }, () => `PRIVMSG #lobby :${said++} ${text}`);
      await alice.ask(...lines);
      const { viewers } = (await read('/irc/stats')).body;
      return viewers === 1;
    });
    await eventually('every line', () => quick.messages.length === said);
    slow.resume();
    await eventually('its connection to be closed', () => closed);
  });
});
