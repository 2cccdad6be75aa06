import t from 'tap';
import { askOf } from '../channels/stage.js';
import { keysStage, operator, operatorKey } from '../keys/stage.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';

const channels = ['#lobby', '#closed', '#muted'];

t.test('turns on a real network', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const settings = {
    ...settingsOf(ircd),
    IRC_GATEWAY_PASSWORD: ircd.gatewayPassword,
    IRC_CHANNELS: channels.join(','),
    ROLES: 'all',
  };
  const stage = await keysStage(t, settings, nats);
  let { url } = stage.app;
  const ask: typeof stage.ask = (...request) => askOf(url, ...request);
  let hosts = 0;
  const on = async (nick: string, ...names: string[]) => {
    const one = await observe(ircd.port, { nick, channels: names, host: `127.0.4.${++hosts}` });
    t.teardown(() => one.stop());
    return one;
  };
  const witness = await on('witness', ...channels);
  await witness.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
  const isRecorded = async (name: string) =>
    (await witness.ask(`NAMES ${name}`)).some((line) => / 353 .*[ :@+]relay\b/.test(line));
  for (const name of channels) await eventually(`${name} to be recorded`, () => isRecorded(name));
  const said = (channel = '#lobby') =>
    witness.lines
      .filter(({ nick, channel: to }) => nick === 'relay' && to === channel)
      .map(({ text }) => text);
  const floor = async (channel = 'lobby', headers: Record<string, string> = {}) =>
    (await ask('GET', `/irc/channels/${channel}/floor`, undefined, headers)).body;
  const isFloor = (what: string, holder: string | null, ...queue: string[]) =>
    eventually(what, async () => {
      const found = await floor();
      const isSo = (found.holder?.nick ?? null) === holder && found.queue?.join() === queue.join();
      return isSo && found;
    });
  const ann = await on('ann', '#lobby');
  const bob = await stage.given('bob', ['read', 'speak']);

  await t.test('FLOOR-01 FLOOR-06 who asks first has the floor, and the others wait', async (t) => {
    t.match(await floor(), { channel: '#lobby', holder: null, queue: [], opened_by: null });
    ann.send('PRIVMSG #lobby :/floor');
    await witness.waitUntil(() => said().length === 1, 'the announcement');
    t.match(said()[0], /^ann has the floor until \d\d:\d\d:\d\d UTC$/);
    const { holder } = await isFloor('ann to have it', 'ann');
    t.equal(Date.parse(holder.until) - Date.parse(holder.since), 120_000);
    await eventually('bob to ask', async () => {
      const { status } = await ask('POST', '/irc/channels/lobby/messages', { text: '/floor' }, bob.headers);
      return status === 200;
    });
    await isFloor('bob to wait', 'ann', 'bob');
    const answers = await eventually('the answer to bob', async () => {
      const { messages } = (await ask('GET', '/irc/inbox', undefined, bob.headers)).body;
      return messages.length > 0 && messages;
    });
    t.match(answers[0], { is: 'private', from: 'relay', text: /^You are number 1 of 1 who wait/ });
    const { result } = await stage.tool('svc_floor', { channel: 'lobby' }, bob.headers);
    t.match(result.structuredContent, { holder: { nick: 'ann' }, queue: ['bob'] });
    const listed = await ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, operator);
    t.notOk(
      listed.body.result.tools.some(({ name }: { name: string }) => name === 'svc_floor'),
      'the list of operators does not grow',
    );
  });

  await t.test('FLOOR-06 the same question again and again is answered once', async (t) => {
    const from = ann.raw.length;
    const told = () => ann.raw.slice(from).filter((line) => / NOTICE ann :/.test(line));
    for (let n = 0; n < 8; n++) ann.send('PRIVMSG #lobby :!floor status');
    ann.send('PRIVMSG #lobby :/floor nonsense');
    await ann.waitUntil(
      () => told().some((line) => line.includes('/floor done | status')),
      'the last answer',
    );
    t.equal(told().length, 2, told().join('\n'));
    t.match(told()[0], /#lobby: ann has the floor until .*; 1 wait: bob$/);
  });

  await t.test('FLOOR-08 it is passed on, and the next is told by a line that names them', async (t) => {
    ann.send('PRIVMSG #lobby :that was all', 'PRIVMSG #lobby :/floor done');
    await witness.waitUntil(() => said().length === 2, 'the next turn');
    t.match(said()[1], /^bob has the floor until/);
    await eventually('the mention', async () => {
      const { messages } = (await ask('GET', '/irc/inbox', undefined, bob.headers)).body;
      return messages.some(({ is, from }: Record<string, string>) => is === 'mention' && from === 'relay');
    });
  });

  await t.test('FLOOR-09 floors of private channels are for those who are there', async (t) => {
    await witness.ask('SAMODE #closed +si', 'SAJOIN ann #closed');
    ann.send('PRIVMSG #closed :/floor');
    await witness.waitUntil(() => said('#closed').length === 1);
    for (const headers of [{}, bob.headers])
      await eventually('nothing to be there', async () => {
        const { status, body } = await ask('GET', '/irc/channels/closed/floor', undefined, headers);
        t.notMatch(JSON.stringify(body), '"ann"', 'not even before it is known to be closed');
        return status === 404;
      });
    await eventually(
      'the operator to see it',
      async () => (await floor('closed', operator)).holder?.nick === 'ann',
    );
    t.equal((await ask('GET', '/irc/channels/nowhere/floor')).status, 404);
  });

  await t.test('FLOOR-05 a muted nick gets no place', async (t) => {
    const mallory = await on('mallory', '#muted');
    await witness.ask('SAMODE #muted +b m:mallory!*@*');
    t.match((await mallory.ask('PRIVMSG #muted :/floor')).join('\n'), / 404 /);
    const cas = await on('cas', '#muted');
    cas.send('PRIVMSG #muted :/floor');
    await witness.waitUntil(() => said('#muted').length === 1);
    t.match(said('#muted')[0], /^cas has the floor/, 'it was free');
  });

  await t.test('FLOOR-05 FLOOR-06 a crowd gets few places, and the channel few lines', async (t) => {
    const before = said('#muted').length;
    const dan = await on('dan', '#muted');
    // one person under many nicks
    const lines = Array.from({ length: 5 }, (_, n) => [`NICK dan${n}`, 'PRIVMSG #muted :/floor']).flat();
    dan.send(...lines, 'PRIVMSG #muted :this is all');
    await witness.waitUntil(() => witness.texts('#muted').includes('this is all'), 'the crowd');
    const { queue } = await eventually('the places', async () => {
      const found = await floor('muted');
      return found.queue.length > 0 && found;
    });
    t.ok(queue.length <= 3, `${queue}`);
    t.equal(said('#muted').length, before, 'nothing was said in the channel');
  });

  await t.test('FLOOR-07 another process goes on with it', async (t) => {
    await isFloor('bob to have it', 'bob');
    ann.send('PRIVMSG #lobby :/floor');
    await isFloor('ann to wait', 'bob', 'ann');
    await stage.app.stop();
    await eventually('the bridge to be gone', async () => !(await isRecorded('#lobby')));
    ann.send('PRIVMSG #lobby :I wait');
    const second = await startApp(t, { ...settings, NATS_URL: nats.url, API_KEYS: `ops:${operatorKey}` });
    url = second.url;
    // bob has left with the gateway, and is back: before the record goes on, and has it still, or later
    const now = await eventually('ann to have it', async () => {
      const found = await floor();
      if (found.holder?.nick === 'ann') return found;
      await ask('POST', '/irc/channels/lobby/messages', { text: '/floor done' }, bob.headers);
      return undefined;
    });
    t.same(now.queue, []);
    await witness.waitUntil(() => /^ann has the floor/.test(said().at(-1)!), 'the turn of ann');
  });
});
