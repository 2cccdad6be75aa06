import t from 'tap';
import { keysStage, operator } from '../keys/stage.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';

const room = '#task-0fe11ow5';
const path = `/irc/channels/${room.slice(1)}/messages`;

t.test('IRC-21 agents read the private channels that they are in', async (t) => {
  const ircd = await startIrcd(t);
  const { ask, given, tool, app, proven } = await keysStage(t, {
    ...settingsOf(ircd),
    IRC_GATEWAY_PASSWORD: ircd.gatewayPassword,
    KEY_RATE_LIMIT: '0',
    NICK_RATE_LIMIT: '0',
    ROLES: 'all',
  });
  const witness = await observe(ircd.port, { nick: 'witness', password: ircd.serverPassword });
  t.teardown(() => witness.stop());
  await witness.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
  await proven('carol');
  const [alice, bob, carol, dave, erin] = await Promise.all(
    ['alice', 'bob', 'carol', 'dave', 'erin'].map((nick) => given(nick, ['read', 'speak'])),
  );
  const writer = await given('alice', ['speak']);
  const make = () =>
    ask(
      'POST',
      '/channels',
      { name: room, type: 'task', modes: '+int', topic: 'private', invite_list: ['alice'] },
      operator,
    );
  const bringIn = async (nick: string) =>
    t.match(
      await ask('POST', `/channels/${room.slice(1)}/members`, { action: 'sajoin', nicks: [nick] }, operator),
      { body: { successful: [nick] } },
    );
  const texts = async ({ headers }: { headers: Record<string, string> }, query = '?limit=100') => {
    const { status, body } = await ask('GET', path + query, undefined, headers);
    return status === 200 ? (body as { text: string }[]).map(({ text }) => text) : status;
  };
  const say = async (text: string) => {
    await witness.ask(`PRIVMSG ${room} :${text}`);
    await eventually(`"${text}" to be recorded`, async () => {
      const found = await texts({ headers: operator });
      return Array.isArray(found) && found.includes(text);
    });
  };
  const enter = async () => {
    await eventually('the recorder to be there', async () => {
      const { body } = await ask('GET', '/irc/channels', undefined, operator);
      return body.some(({ name, users }: { name: string; users: number }) => name === room && users > 0);
    });
    await witness.ask(`SAJOIN witness ${room}`);
  };
  const join = (one: { headers: Record<string, string> }) =>
    ask('POST', '/irc/connection/channels', { channel: room }, one.headers);

  t.equal((await make()).status, 201);
  await enter();
  await say('first');

  await t.test('nobody who is not there', async (t) => {
    for (const one of [alice!, bob!]) t.equal(await texts(one), 404);
    t.equal((await join(bob!)).status, 409);
    t.equal(await texts(bob!), 404);
  });

  await t.test('who it was made for reads all of it, when there', async (t) => {
    await eventually('alice to be let in', async () => (await join(alice!)).status === 200);
    t.same(
      await eventually('her to be seen there', async () => {
        const found = await texts(alice!);
        return Array.isArray(found) && found;
      }),
      ['first'],
    );
    t.equal(await texts(writer), 404, 'not with a key that is good for speaking alone');
    const listed = (await ask('GET', '/irc/channels', undefined, alice!.headers)).body;
    t.match(
      listed.find(({ name }: { name: string }) => name === room),
      { topic: 'private' },
    );
    const missed = await tool('svc_catch_up', { channels: [room] }, alice!.headers);
    t.match(missed.result.structuredContent.channels, [{ channel: room, lines: [/<witness> first/] }]);
    const got = await tool('svc_get_messages', { channel: room }, alice!.headers);
    t.match(JSON.stringify(got.result), /first/);
  });

  await t.test('who came later reads from there on, by who they are and not by nick', async (t) => {
    for (const one of [carol!, erin!])
      t.equal((await ask('POST', '/irc/connection', {}, one.headers)).status, 200);
    const impostor = await observe(ircd.port, { nick: 'dave' });
    t.teardown(() => impostor.stop());
    for (const nick of ['carol', 'erin', 'dave']) await bringIn(nick);
    await say('second');
    await say('third');
    for (const one of [carol!, erin!]) t.same(await texts(one), ['second', 'third']);
    t.same(await texts(carol!, '?limit=1'), ['third']);
    t.same(await texts(carol!, '?limit=1&after=1-0'), ['second']);
    t.equal(await texts(dave!), 404, 'another has the nick of dave');
    t.same(await texts(alice!), ['first', 'second', 'third']);
    const [, second] = (await ask('GET', path, undefined, operator)).body;
    t.same(await texts(carol!, `?before=${second.id}`), []);
    t.same(await texts(carol!, `?after=${second.id}`), ['third']);
    t.same(await texts(alice!, `?before=${second.id}&limit=5`), ['first']);
  });

  await t.test('the stream too, until they are put out', async (t) => {
    const response = await fetch(`${app.url}/irc/stream?channel=${room.slice(1)}&after=1-0`, {
      headers: carol!.headers,
    });
    t.equal(response.status, 200);
    let seen = '';
    const read = (async () => {
      for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) seen += piece;
    })();
    await say('fourth');
    await eventually('it to be streamed', () => seen.includes('fourth'));
    const out = { action: 'sapart', nicks: ['carol'] };
    t.match(await ask('POST', `/channels/${room.slice(1)}/members`, out, operator), {
      body: { successful: ['carol'] },
    });
    await say('fifth');
    await read;
    t.match(seen, /second.*third.*fourth/s);
    t.notMatch(seen, /first|fifth/);
    t.equal(await texts(carol!), 404);
    const again = await fetch(`${app.url}/irc/stream?channel=${room.slice(1)}`, { headers: carol!.headers });
    t.equal(again.status, 404);
    await witness.ask(`SAMODE ${room} +o witness`, `KICK ${room} alice :out`);
    await eventually('alice to be out', async () => (await texts(alice!)) === 404);
  });

  await t.test('nothing of an earlier life of the channel', async (t) => {
    t.equal((await ask('DELETE', `/channels/${room.slice(1)}`, { immediate: true }, operator)).status, 200);
    await eventually('its name to be free', async () => (await make()).status === 201);
    await enter();
    await say('sixth');
    await eventually('alice to be let in', async () => (await join(alice!)).status === 200);
    await eventually('her to be seen there', async () => Array.isArray(await texts(alice!)));
    t.same(await texts(alice!), ['sixth']);
    t.equal(await texts(erin!), 404);
  });
});
