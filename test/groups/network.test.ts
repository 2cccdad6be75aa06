import t from 'tap';
import { keysStage, operator } from '../keys/stage.js';
import { attack } from '../moderation/stage.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';

const channels = ['#lobby', '#agents', '#closed'];

t.test('groups on a real network', async (t) => {
  const ircd = await startIrcd(t);
  const stage = await keysStage(t, {
    ...settingsOf(ircd),
    IRC_GATEWAY_PASSWORD: ircd.gatewayPassword,
    IRC_CHANNELS: channels.join(','),
    ROLES: 'all',
  });
  const { ask, given } = stage;
  let hosts = 0;
  const on = async (nick: string, ...names: string[]) => {
    const one = await observe(ircd.port, { nick, channels: names, host: `127.0.2.${++hosts}` });
    t.teardown(() => one.stop());
    return one;
  };
  const witness = await on('witness', ...channels);
  await witness.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
  for (const name of channels)
    await eventually(`${name} to be recorded`, async () =>
      (await witness.ask(`NAMES ${name}`)).some((line) => / 353 .*[ :@+]relay\b/.test(line)),
    );
  const can = async (nick: string, ...abilities: string[]) => {
    const { status } = await ask('PUT', `/agents/${nick}`, { abilities, ask: 'pay 5 USDC' }, operator);
    t.equal(status, 200, nick);
  };
  await stage.proven('carol');
  const bob = await given('bob', ['read', 'speak']);
  const carol = await given('carol', ['read', 'speak']);
  for (const nick of ['bob', 'carol', 'dora', 'eve', 'ann']) await can(nick, 'translate');
  await can('eve', 'translate', 'review');
  await can('dora', 'translate', 'summarise');
  const join = async (channel: string, { headers }: typeof bob) =>
    t.equal((await ask('POST', '/irc/connection/channels', { channel }, headers)).status, 200);
  await eventually(
    'the gateway',
    async () => (await ask('GET', '/irc/connection', undefined, bob.headers)).status === 200,
  );
  await join('#lobby', bob);
  await join('#lobby', carol);
  await on('Dora', '#lobby');
  const eve = await on('eve', '#agents');
  const ann = await on('ann', '#lobby', '#agents');
  const inbox = async ({ headers }: typeof bob) =>
    (await ask('GET', '/irc/inbox', undefined, headers)).body.messages;
  const named = (channel: string) =>
    witness.lines.filter((line) => line.nick === 'relay' && line.channel === channel).map(({ text }) => text);
  const isNamed = (channel: string, count: number) =>
    witness.waitUntil(() => named(channel).length >= count, `line ${count} of the bridge in ${channel}`);
  const whoIn = (text: string) => text.split(': ')[1]!.split(', ').sort();

  await t.test('GROUP-01 GROUP-03 all of a channel who say that they can are reached', async (t) => {
    ann.send('PRIVMSG #lobby :who is free? @Translate please');
    await isNamed('#lobby', 1);
    t.match(named('#lobby')[0], /^@translate: /);
    t.same(whoIn(named('#lobby')[0]!), ['Dora', 'bob', 'carol'], 'eve is elsewhere, and ann has asked');
    const [heard] = await eventually('the inbox of bob', async () => {
      const messages = await inbox(bob);
      return messages.length > 0 && messages;
    });
    t.match(heard, {
      is: 'mention',
      from: 'ann',
      channel: '#lobby',
      text: 'who is free? @Translate please',
      group: '@translate',
      msgid: String,
    });
    t.equal((await inbox(bob)).length, 1, 'the line of the bridge is no second message');
    const lines = await eventually('the record of it', async () => {
      const { body } = await ask('GET', '/irc/channels/lobby/messages', undefined, operator);
      return body.some(({ nick }: { nick: string }) => nick === 'relay') && body;
    });
    const question = lines.find(({ nick }: { nick: string }) => nick === 'ann');
    t.match(lines.at(-1), { nick: 'relay', reply_to: question.id, text: named('#lobby')[0]! });
    t.notMatch(JSON.stringify(lines), 'USDC', 'nothing else of an entry is shown');
  });

  await t.test('GROUP-02 GROUP-03 a level leaves out those below it', async (t) => {
    ann.send('PRIVMSG #lobby :carol or another of @translate+2?');
    await isNamed('#lobby', 2);
    t.equal(named('#lobby')[1], '@translate+2: carol');
    await eventually('the inbox of carol', async () => (await inbox(carol)).length === 2);
    t.same(
      (await inbox(carol)).map(({ group }: { group?: string }) => group ?? null),
      ['@translate', null],
      'a line that names her as well comes once',
    );
  });

  await t.test('GROUP-04 GROUP-05 what is not resolved, and who asks whether anybody is there', async (t) => {
    const ben = await on('ben', '#lobby', '#agents');
    ben.send('PRIVMSG #lobby :@translate again', 'NOTICE #lobby :@review', 'PRIVMSG #lobby :hello @nosuch');
    const dirk = await on('dirk', '#lobby');
    dirk.send('PRIVMSG #lobby :and @missing?');
    await dirk.waitUntil(
      () => dirk.lines.some(({ channel }) => channel === 'dirk'),
      'the word that nobody is',
    );
    t.match(
      dirk.lines.find(({ channel }) => channel === 'dirk'),
      {
        nick: 'relay',
        command: 'NOTICE',
        text: 'Nobody else in #lobby has said in the directory: @missing',
      },
    );
    t.equal(named('#lobby').length, 2, 'nothing else was said');
    const flood = Array.from({ length: 30 }, (_, n) => `PRIVMSG #agents :@invented${n}? @another${n}?`);
    const ned = await on('ned', '#agents');
    ned.send(...flood);
    await witness.waitUntil(() => witness.texts('#agents').length >= flood.length, 'the flood to be heard');
    ned.send('PRIVMSG #lobby :@one-more?');
    const pia = await on('pia', '#agents');
    pia.send('PRIVMSG #agents :@last?');
    await pia.waitUntil(
      () => pia.lines.some(({ channel }) => channel === 'pia'),
      'an answer after the flood',
    );
    const told = ned.lines.filter(({ channel }) => channel === 'ned').map(({ text }) => text);
    t.equal(told.length, 6, 'a person gets so many answers, and one word of the limit');
    t.match(told[5], /^@invented5, @another5: not addressed\. Five lines of yours/);
    t.notOk(ben.lines.some(({ channel, nick }) => channel === 'ben' && nick === 'relay'));
  });

  await t.test('GROUP-05 the muted and attacks reach nobody', async (t) => {
    const mallory = await on('mallory', '#lobby', '#agents');
    const dealtWith = (count: number) =>
      eventually(`incident ${count}`, async () => {
        const { body } = await ask('GET', '/ops/incidents?limit=50', undefined, operator);
        const all = (body.incidents as Record<string, string>[]).filter(({ nick }) => nick === 'mallory');
        return all.length >= count && all.every(({ outcome }) => outcome === 'done') && all;
      });
    mallory.send(`PRIVMSG #lobby :${attack} @summarise`);
    await dealtWith(1);
    mallory.send(`PRIVMSG #lobby :${attack} @summarise`);
    t.match(await dealtWith(2), [{ action: 'quiet' }, { action: 'notice' }]);
    // in a channel where the network lets them speak
    mallory.send('PRIVMSG #agents :@review', ...[1, 2, 3, 4].map((n) => `PRIVMSG #agents :@mallory${n}`));
    await witness.waitUntil(() => witness.texts('#agents').includes('@mallory4'));
    const gil = await on('gil', '#agents');
    gil.send('PRIVMSG #agents :@review');
    await isNamed('#agents', 1);
    t.same(
      named('#agents').map((text) => text.split(': ')[0]),
      ['@review'],
      'what they said reached nobody, and kept nobody from the group',
    );
    t.equal(named('#lobby').length, 2);
  });

  await t.test('GROUP-06 in a private room only those who are there are named', async (t) => {
    await witness.ask('SAMODE #closed +si', 'SAJOIN ann #closed', 'SAJOIN eve #closed');
    await eve.waitUntil(() => eve.raw.some((line) => / JOIN :?#closed/.test(line)));
    // the bridge sees who comes in before it sees what is said then
    const hal = await on('hal');
    await witness.ask('SAJOIN hal #closed');
    await hal.waitUntil(() => hal.raw.some((line) => / JOIN :?#closed/.test(line)));
    hal.send('PRIVMSG #closed :@translate');
    await isNamed('#closed', 1);
    t.same(whoIn(named('#closed')[0]!), ['ann', 'eve']);
    t.equal((await inbox(bob)).filter(({ channel }: { channel: string }) => channel === '#closed').length, 0);
    const { status } = await ask('GET', '/irc/channels/closed/messages');
    t.equal(status, 404);
  });
});
