import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startTcpRelay } from '../support/tcp-relay.js';
import { credentials, joinOne, startBot, until } from './bot.js';

// each on servers of its own, and most of it is waiting
t.jobs = 3;

t.test('a half-open session is fenced off: what it still holds is never shown', async (t) => {
  const ircd = await startIrcd(t);
  const relay = await startTcpRelay(t, ircd.port);
  const witness = await observe(ircd.port, {
    nick: 'witness',
    password: ircd.serverPassword,
    channels: ['#a', '#b'],
  });
  t.teardown(() => witness.stop());
  const bot = startBot(t, { ...credentials(ircd), url: relay.url, confirmTimeoutMs: 3_000 });
  const first = await bot.session();
  await first.join(['#a', '#b'], { history: false });
  t.match(await first.say('#a', 'before', 'evt-0'), { is: 'confirmed' });

  relay.freeze();
  const outcomes = await Promise.all([first.say('#a', 'held', 'evt-1'), first.say('#b', 'held', 'evt-2')]);
  t.same(outcomes, [
    { is: 'lost', written: true },
    { is: 'lost', written: true },
  ]);
  t.equal(first.lost.aborted, true);
  t.same(await first.say('#a', 'too late'), { is: 'lost', written: false });
  t.match(await first.command('PING', 'x'), { is: 'lost', written: false });
  t.match((await first.join(['#c'], { history: true })).get('#c'), { is: 'lost' });

  const second = await bot.session(2);
  t.equal(second.id, 2);
  t.equal(second.nick, 'em-bot', 'it has its nick back from the session that the server still had');
  await witness.waitUntil(() => witness.raw.some((line) => /:em-bot!\S+ QUIT :.*Superseded/.test(line)));
  t.equal(relay.connections, 2, 'at the first try');
  relay.thaw();
  const { history } = await joinOne(second, '#a', true);
  t.equal(history, null, 'the witness made this channel, without history');
  await delay(300);
  t.match(await second.say('#a', 'again', 'evt-1'), { is: 'confirmed' });
  await witness.waitFor((line) => line.text === 'again');
  t.same(witness.texts('#a'), ['before', 'again']);
  t.same(witness.texts('#b'), []);
});

t.test('IRC-24 an older session that the network has given another nick is ended', async (t) => {
  const ircd = await startIrcd(t);
  const nick = 'embot';
  /** Somebody who was called as the bot is, until the network gave them their id for a nick. */
  const renamed = async () => {
    const one = await observe(ircd.port, { nick, password: ircd.serverPassword, reconnect: false });
    t.teardown(() => one.stop());
    return { one, lines: await one.ask('NICK 0') };
  };
  const { one: stranger, lines } = await renamed();
  t.match(lines.join(), /NICK :\d[0-9A-Z]{8}/);
  const { one: older } = await renamed();
  await older.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
  const bot = startBot(t, { ...credentials(ircd), nick, realname: 'observer' });
  const session = await bot.session();
  t.equal(session.nick, nick);
  await older.waitUntil(() => older.raw.some((line) => / ERROR .*Superseded/.test(line)));
  t.ok(
    bot.logged.some(({ msg, ended }) => msg === 'irc sessions ended that had lost our nick' && ended === 1),
  );
  await stranger.ask('LUSERS');
  t.ok(stranger.connected, 'somebody with our names who is no operator of ours is let be');
});

t.test('an idle half-open connection is found', async (t) => {
  const ircd = await startIrcd(t);
  const relay = await startTcpRelay(t, ircd.port);
  const bot = startBot(t, { ...credentials(ircd), url: relay.url });
  await bot.session();
  relay.freeze();
  await until(() => bot.lost.length > 0, 'the loss to be noticed');
  t.same(bot.lost, ['the server is silent']);
});

t.test('QUEUE-14 after a kill -9 the bot is back after its server', async (t) => {
  const ircd = await startIrcd(t);
  const bot = startBot(t, credentials(ircd));
  const first = await bot.session();
  await joinOne(first, '#a');
  await ircd.kill('SIGKILL');
  await until(() => first.lost.aborted, 'the loss');
  t.match(bot.connection.status(), { connected: false, oper: false, nick: 'em-bot', lastError: String });
  t.equal(bot.connection.session(), undefined);
  await delay(2_500);
  await ircd.start();
  const second = await bot.session(2);
  t.equal(second.oper, true);
  t.equal(second.isIn('#a'), false, 'nothing of the old session is left');
  t.match(await joinOne(second, '#a', true), { created: true, status: 'op' });
  t.match(await second.say('#a', 'back'), { is: 'confirmed' });
});

t.test('a nick that somebody else has, without operator state', async (t) => {
  const ircd = await startIrcd(t);
  const { url, password } = credentials(ircd);
  const holder = await observe(ircd.port, { nick: 'em-bot', password });
  t.teardown(() => holder.stop());
  const patient = startBot(t, { url, password });
  const impatient = startBot(t, { url, password, nickWaitMs: 500 });
  const spare = await impatient.session();
  t.match(spare.nick, /^em-bo_...$/);
  t.ok(impatient.logged.some((line) => line.msg === 'irc nick cannot be taken' && line.spare === spare.nick));
  t.match(impatient.connection.status(), { connected: true, nick: spare.nick });
  await joinOne(spare, '#a');
  t.match(await spare.say('#a', 'x'.repeat(600)), { is: 'confirmed' });
  t.equal(patient.sessions.length, 0, 'silent while the nick is not its own');
  t.match(patient.connection.status(), { connected: true, nick: /^em-bo_/ });
  await holder.stop();
  await until(() => patient.sessions.length > 0 || spare.nick === 'em-bot', 'one of them to get the nick');
  const owners = [...patient.sessions, spare].filter(({ nick }) => nick === 'em-bot');
  t.equal(owners.length, 1);
  t.equal(spare.lost.aborted, false, 'a session goes on when it gets its own nick');
});

t.test('stopping leaves nothing behind', async (t) => {
  const ircd = await startIrcd(t);
  const bot = startBot(t, credentials(ircd));
  const session = await bot.session();
  await joinOne(session, '#a');
  const last = session.say('#a', 'the last line');
  await bot.connection.stop('Enough');
  t.match(await last, { is: 'confirmed' }, 'a line on its way is still answered');
  t.equal(bot.logged.at(-1)?.reason, 'Enough');
  await bot.connection.stop();

  const frozen = startBot(t, credentials(ircd));
  await frozen.session();
  ircd.pause();
  t.teardown(() => ircd.resume());
  await frozen.connection.stop();

  const trying = startBot(t, credentials(ircd));
  await delay(300);
  await trying.connection.stop();
  ircd.resume();

  const waiting = startBot(t, { ...credentials(ircd), url: 'irc://127.0.0.1:9' });
  await delay(400);
  await waiting.connection.stop();
  t.equal(waiting.sessions.length, 0);

  const never = startBot(t, credentials(ircd));
  const stopped = never.connection.stop();
  await stopped;
  t.equal(never.connection.session(), undefined);
});
