import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { startBot, until } from './bot.js';
import { startFakeServer } from './fake-server.js';

t.test('a swallowed line on a live server is unconfirmed, and the connection is made anew', async (t) => {
  const server = await startFakeServer(t, (line) => (line.includes(':swallow') ? [] : undefined));
  const bot = startBot(t, { url: server.url, confirmTimeoutMs: 600, bytesInFlight: 200 });
  const session = await bot.session();
  const swallowed = session.say('#a', 'swallow this');
  t.match(await session.say('#b', 'and answer this'), { is: 'confirmed' });
  t.same(await swallowed, { is: 'unconfirmed' });
  t.same(bot.lost, ['an answer is missing']);
  const next = await bot.session(2);
  // Alone on the line: only the probe that is sent meanwhile tells that the server is alive.
  t.same(await next.say('#a', 'swallow that'), { is: 'unconfirmed' });
});

t.test('a line is lost, not unconfirmed, when the server answers nothing at all', async (t) => {
  let deaf = false;
  const server = await startFakeServer(t, () => (deaf ? [] : undefined));
  const bot = startBot(t, { url: server.url, confirmTimeoutMs: 500, bytesInFlight: 400 });
  const session = await bot.session();
  deaf = true;
  const outcomes = await Promise.all(
    Array.from({ length: 10 }, (_, n) => session.say(`#c${n}`, 'x'.repeat(80))),
  );
  t.same(new Set(outcomes.map(({ is }) => is)), new Set(['lost']));
  const written = outcomes.filter((outcome) => outcome.is === 'lost' && outcome.written).length;
  t.equal(written, 3, 'as many as fit the window were written, the others certainly never shown');
});

t.test('our own standstill is not taken for the server’s silence', async (t) => {
  const server = await startFakeServer(t);
  const bot = startBot(t, { url: server.url, confirmTimeoutMs: 500 });
  const session = await bot.session();
  const said = session.say('#a', 'x');
  await delay(20);
  const asked = session.say('#a', 'y');
  const end = performance.now() + 2_000;
  while (performance.now() < end);
  t.match(await said, { is: 'confirmed' });
  t.match(await asked, { is: 'confirmed' });
  await delay(600);
  t.same(bot.lost, []);
});

t.test('a nick that is taken away in the moment of the welcome is asked for again', async (t) => {
  // two parts of a network that are joined give one of two with the same nick its id as nick
  const welcome = [':fake 001 em-bot :Welcome', ':fake 422 em-bot :No MOTD', ':em-bot!u@h NICK :1RNAAAAA3'];
  const server = await startFakeServer(t, (line) =>
    line === 'CAP END' ? [welcome.join('\r\n')] : undefined,
  );
  const bot = startBot(t, { url: server.url });
  const session = await bot.session();
  t.equal(session.nick, 'em-bot');
  t.ok(
    server.received.slice(server.received.indexOf('CAP END')).some((line) => line.endsWith(' NICK em-bot')),
    'it has asked for it',
  );
});

t.test('answers in other forms than an echo', async (t) => {
  const server = await startFakeServer(t, (line) => {
    const [, label, rest = ''] = /^@label=(\w+)\S* (.*)$/.exec(line) ?? [];
    const tag = `@label=${label} `;
    if (rest.includes(':ack')) return [`${tag}:fake ACK`];
    if (rest.includes(':notice')) return [`${tag}:fake NOTICE em-bot :*** Not today`];
    if (rest.includes(':away')) {
      return [
        `${tag}:fake BATCH +x labeled-response`,
        '@batch=x;msgid=m1 :em-bot!u@h PRIVMSG #a :away',
        '@batch=x :fake 301 em-bot #a :gone fishing',
        ':fake BATCH -x',
      ];
    }
    if (rest.includes(':batch')) {
      return [
        `${tag}:fake BATCH +x labeled-response`,
        '@batch=x :fake NOTICE em-bot :*** No',
        '@batch=x :fake 408 em-bot #a :No colours here',
        ':fake BATCH :-x',
      ];
    }
    return undefined;
  });
  const session = await startBot(t, { url: server.url }).session();
  t.match(await session.say('#a', 'ack'), { is: 'confirmed', msgid: null });
  t.same(await session.say('#a', 'notice'), { is: 'refused', code: 'NOTICE', error: '*** Not today' });
  t.match(await session.say('#a', 'away'), { is: 'confirmed', msgid: 'm1' });
  t.same(await session.say('#a', 'batch'), { is: 'refused', code: '408', error: 'No colours here' });
});

t.test('whatever comes in, the connection stands', async (t) => {
  const server = await startFakeServer(t);
  const bot = startBot(t, { url: server.url });
  const session = await bot.session();
  bot.connection.on('line', () => undefined);
  server.send(
    '',
    ' ',
    ':',
    '@',
    '@ ',
    '@label= x',
    '@label=zzz :fake ACK',
    '@label',
    ':fake',
    ':fake ',
    ':fake BATCH',
    ':fake BATCH -nope',
    ':fake BATCH +1',
    '@batch=1',
    'PING',
    ':fake CAP * NEW',
    ':fake MODE',
    ':fake NICK',
    ':fake JOIN',
    ':x!y@z KICK',
    `:fake ${'x'.repeat(100_000)}`,
    ':fake 005',
    '\u0000\u0001',
  );
  t.match(await session.say('#a', 'still'), { is: 'confirmed' });
  t.same(bot.lost, []);
});

t.test('a nick changed by force ends the session', async (t) => {
  const server = await startFakeServer(t);
  const bot = startBot(t, { url: server.url });
  const session = await bot.session();
  server.send(':somebody!u@h NICK :else', ':em-bot!u@h NICK :Guest1');
  await until(() => session.lost.aborted, 'the end');
  t.same(bot.lost, ['our nick was changed to Guest1']);
});

t.test('being sent away again and again it does not hurry', async (t) => {
  const server = await startFakeServer(t, (line, socket) => {
    if (!line.startsWith('NICK')) return undefined;
    socket.end('ERROR :Closing link: you are not welcome\r\n');
    return [];
  });
  const bot = startBot(t, { url: server.url });
  await until(() => bot.logged.length >= 2, 'two attempts in vain');
  t.match(bot.connection.status(), { connected: false, lastError: /not welcome/ });
  const waits = bot.logged.map(({ nextMs }) => nextMs as number);
  t.ok(
    waits.every((ms) => ms >= 1_000),
    `waits of ${waits} ms`,
  );
});

t.test('a server that closes before registration is tried again', async (t) => {
  const server = await startFakeServer(t, (_, socket) => {
    socket.destroy();
    return [];
  });
  startBot(t, { url: server.url });
  await until(() => server.connections >= 3, 'three attempts');
});

t.test('no nick can be taken at all', async (t) => {
  const server = await startFakeServer(t, (line) => {
    if (line.startsWith('NICK')) return [':fake 432 * x :Erroneous nickname'];
    return line === 'CAP END' ? [] : undefined;
  });
  const bot = startBot(t, { url: server.url });
  await until(() => bot.logged.length > 0, 'the first attempt to end');
  t.match(bot.logged[0], { reason: 'no nick can be taken: Erroneous nickname' });
  t.equal(server.received.filter((line) => line.startsWith('NICK')).length, 6);
});

t.test('wrong operator credentials: it goes on without, and says so', async (t) => {
  const server = await startFakeServer(t, (line) => {
    const label = /^@label=(\w+) OPER/.exec(line)?.[1];
    return label === undefined ? undefined : [`@label=${label} :fake 491 em-bot :Invalid oper credentials`];
  });
  const bot = startBot(t, { url: server.url, oper: { name: 'x', password: 'secret-pass' } });
  t.equal((await bot.session()).oper, false);
  t.match(bot.connection.status(), { oper: false, connected: true });
  t.match(
    bot.logged.find(({ msg }) => msg === 'irc operator state refused'),
    { code: '491' },
  );
  t.notOk(JSON.stringify(bot.logged).includes('secret-pass'));
});
