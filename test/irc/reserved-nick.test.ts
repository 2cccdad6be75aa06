import t from 'tap';
import { serviceNicks } from '../../src/config/service-nicks.js';
import { answers } from '../../src/servers/net.js';
import { lookalikesOf, looksLikeAny } from '../../streams/nick-looks.js';
import { hangMs } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { credentials, joinOne, startBot, until } from './bot.js';

const readAsOurs = [
  ...['Re-lay', 're_lay', 're`lay', 're^lay', 'rel|ay', 'e-mbot', 'em--bot', 'em-b_ot'],
  ...['relay-', 'relay__', 'relay1', 'relay-2', 'Relay42', 'em-bot_7', 'embot2'],
  ...['relay-bot', 'relaybot', 'Relay_Admin', 'relay|help', 'em-bot-support', 'relay-service'],
  ...['_relay_', '^relay^', 'r-elay_', '_em-bot_', '__relay-'],
  ...['_relay', '[relay]', '{Relay}', 'the-relay', 'official_relay', 'RealRelay'],
];
const innocent = [
  'relayer-alice',
  'relay-alice',
  'relays',
  'replay',
  'delay2',
  'em-boat',
  'emma-bot',
  'alice-bot',
];

t.test('NET-10 nicks that read like one of ours are told from others', async (t) => {
  for (const nick of readAsOurs) t.ok(looksLikeAny(nick, ['em-bot', 'relay']), nick);
  for (const nick of innocent) t.notOk(looksLikeAny(nick, ['em-bot', 'relay']), nick);
  for (const nick of ['chanserv1', 'ChanServ-Help', 'N1ckServ2', 'the_global', 'em.bot'])
    t.ok(looksLikeAny(nick, ['em-bot', ...serviceNicks]), nick);
  for (const nick of ['em-bot', 'channelserv', ...serviceNicks])
    t.ok(
      lookalikesOf(nick).length < 1_500,
      `${nick}: ${lookalikesOf(nick).length} in the server's configuration`,
    );
});

t.test('NET-10 a nick that the server keeps for a bot is nobody else’s, and the bot’s at once', async (t) => {
  const ircd = await startIrcd(t, { reservedNicks: ['em-bot', 'other[1]', 'relay'] });
  const { url, password } = credentials(ircd);
  const greeting = 'NICK em-bot\r\nUSER a a a :a\r\n';
  t.ok(
    await answers({ port: ircd.port }, greeting, / 432 \S+ em-bot :.*Kept for/, hangMs),
    'at registration',
  );
  const stranger = await observe(ircd.port, { nick: 'mallory', password });
  t.teardown(() => stranger.stop());
  for (const nick of ['em-bot', 'EM-BOT', 'other[1]', 'other{1}'])
    t.match(
      (await stranger.ask(`NICK ${nick}`)).join('\n'),
      / 432 mallory \S+ :.*Kept for the service/,
      nick,
    );
  for (const nick of ['em-b0t', 'EM-8OT', 'EMBOT', 'ern-bot', 'em_8o7', 'em-bot_'])
    t.match(
      (await stranger.ask(`NICK ${nick}`)).join('\n'),
      / 432 mallory \S+ :.*Kept/,
      `${nick} looks like it`,
    );
  for (const nick of readAsOurs)
    t.match(
      (await stranger.ask(`NICK ${nick}`)).join('\n'),
      / 432 mallory \S+ :.*Kept/,
      `${nick} reads like one of ours`,
    );
  for (const nick of innocent) {
    t.match((await stranger.ask(`NICK ${nick}`)).join('\n'), RegExp(`NICK :?${nick}`), `${nick} is free`);
    await stranger.ask('NICK mallory');
  }
  for (const [nick, spare] of [
    ['em-bot', /^em-bo_...$/],
    ['relay', /^relay_...$/],
  ] as const) {
    const plain = startBot(t, { url, password, nick, nickWaitMs: 100 });
    t.match((await plain.session()).nick, spare, 'the password of the bots is not enough');
    await plain.connection.stop();
  }

  const bot = startBot(t, credentials(ircd));
  const session = await bot.session();
  t.same([session.nick, session.oper], ['em-bot', true]);
  t.match(await joinOne(session, '#a'), { is: 'joined' });
  t.match(await session.say('#a', 'as myself'), { is: 'confirmed' });
  t.ok((await stranger.ask('WHOIS em-bot')).some((line) => / 313 .*em-bot/.test(line)));

  await ircd.kill('SIGKILL');
  await ircd.start();
  t.equal((await bot.session(2)).nick, 'em-bot');
});

t.test(
  'NET-10 a bot has its nick back from an older session of its own, also where it is kept',
  async (t) => {
    const ircd = await startIrcd(t, { reservedNicks: ['em-bot'] });
    const older = startBot(t, credentials(ircd));
    await older.session();
    const newer = startBot(t, credentials(ircd));
    t.equal((await newer.session()).nick, 'em-bot');
    await until(() => older.lost.length > 0, 'the older session to end');
    await older.connection.stop();
    t.ok(newer.logged.some(({ msg }) => msg === 'irc nick taken back from another session'));
  },
);

t.test('NET-10 on a server that keeps no nicks a stranger is put off the bot’s', async (t) => {
  const ircd = await startIrcd(t);
  const stranger = await observe(ircd.port, { nick: 'em-bot', reconnect: false });
  t.teardown(() => stranger.stop());
  const bot = startBot(t, credentials(ircd));
  t.equal((await bot.session()).nick, 'em-bot');
  const told = bot.logged.filter(({ msg }) => msg === 'irc nick taken back from another session');
  t.match(told, [{ nick: 'em-bot' }]);
  t.equal(told.length, 1);
  await until(() => !stranger.connected, 'the stranger to be gone');
});
