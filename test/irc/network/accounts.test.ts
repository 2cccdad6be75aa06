import t, { type Test } from 'tap';
import { identified } from '../../../workers/irc/identified.js';
import { Stage } from '../../network/stage.js';
import { startAccountNetwork, withoutAnope } from '../../support/anope.js';
import { type Observer, observe } from '../../support/irc-observer.js';
import type { TestIrcd } from '../../support/ircd.js';
import { startTcpRelay } from '../../support/tcp-relay.js';
import { credentials, startBot, until } from '../bot.js';
import { startFakeServer } from '../fake-server.js';

const skip = { skip: withoutAnope };

async function person(t: Test, ircd: TestIrcd, nick: string): Promise<Observer> {
  const one = await observe(ircd.port, { nick, password: ircd.serverPassword, reconnect: false });
  t.teardown(() => one.stop());
  return one;
}

t.test('NET-03 lines are recorded with the account of who said them', skip, async (t) => {
  const [stage, network] = await Promise.all([Stage.open(t), startAccountNetwork(t)]);
  const { ircd } = network;
  const alice = await person(t, ircd, 'alice');
  await network.register(alice, 'alices-own');
  await alice.join('#lobby');
  const relay = await startTcpRelay(t, ircd.port);
  await stage.record(['#lobby'], { ...credentials(ircd), url: relay.url });
  await stage.entered('#lobby');

  const bob = await person(t, ircd, 'bob');
  await bob.join('#lobby');
  await bob.ask('PRIVMSG #lobby :before');
  await network.register(bob, 'bobs-own');
  await bob.ask('PRIVMSG #lobby :registered');
  await bob.ask('PRIVMSG NickServ :LOGOUT');
  await bob.waitUntil(() => bob.raw.some((line) => / 901 /.test(line)), 'being logged out');
  await bob.ask('PRIVMSG #lobby :logged out');
  await alice.ask('PRIVMSG #lobby :hers', 'NICK alice2', 'PRIVMSG #lobby :still hers');
  await alice.ask('PART #lobby', 'JOIN #lobby');
  const impostor = await person(t, ircd, 'alice');
  await impostor.join('#lobby');
  await impostor.ask('PRIVMSG #lobby :not hers');
  await stage.said('#lobby', 'not hers');

  const seen = stage.of('#lobby').filter(({ is }) => is !== 'snapshot' && is !== 'mode');
  const said = seen.map((one) => [
    one.is,
    'nick' in one ? one.nick : '',
    'text' in one ? one.text : '',
    'account' in one ? one.account : undefined,
  ]);
  t.same(said, [
    ['join', 'bob', '', undefined],
    ['message', 'bob', 'before', undefined],
    ['message', 'bob', 'registered', 'bob'],
    ['message', 'bob', 'logged out', undefined],
    ['message', 'alice', 'hers', 'alice'],
    ['nick', 'alice', '', 'alice'],
    ['message', 'alice2', 'still hers', 'alice'],
    ['part', 'alice2', '', 'alice'],
    ['join', 'alice2', '', 'alice'],
    ['join', 'alice', '', undefined],
    ['message', 'alice', 'not hers', undefined],
  ]);

  t.test('without services nobody gains an account, and nobody loses theirs', async (t) => {
    await network.services.kill('SIGTERM');
    await alice.ask('PRIVMSG #lobby :services gone');
    await impostor.ask('PRIVMSG #lobby :no services');
    await network.services.start();
    await impostor.ask('PRIVMSG #lobby :services back');
    await alice.ask('PRIVMSG #lobby :back too');
    await stage.said('#lobby', 'back too');
    const accounts = ['services gone', 'no services', 'services back', 'back too'].map((text) => {
      const line = stage.of('#lobby').find((one) => 'text' in one && one.text === text);
      return line && 'account' in line ? line.account : undefined;
    });
    t.same(accounts, ['alice', undefined, undefined, 'alice']);
  });

  t.test('what is recorded later from the history claims no account that was not there', async (t) => {
    relay.refuse(true);
    relay.cut();
    await alice.ask('PRIVMSG #lobby :away, hers');
    await impostor.ask('PRIVMSG #lobby :away, not hers');
    relay.refuse(false);
    await stage.said('#lobby', 'away, not hers');
    const of = (text: string) => stage.of('#lobby').find((one) => 'text' in one && one.text === text);
    t.notOk(Object.hasOwn(of('away, not hers')!, 'account'));
    const hers = of('away, hers')!;
    t.ok(!('account' in hers) || hers.account === 'alice');
    t.comment(`of a line from the history the account is ${'account' in hers ? 'known' : 'not known'}`);
  });
});

t.test('NET-04 who has shown that a nick is theirs', skip, async (t) => {
  const network = await startAccountNetwork(t);
  const { ircd } = network;
  const session = await startBot(t, credentials(ircd)).session();
  const is = async (nick: string) => await identified(session, nick);
  const hers = { is: 'identified', account: 'alice' };
  const [alice, bob] = await Promise.all([person(t, ircd, 'alice'), person(t, ircd, 'bob')]);
  t.same(await is('alice'), { is: 'not identified' });
  await network.register(alice, 'alices-own');
  t.same(await is('alice'), hers);
  t.same(await is('ALICE'), hers, 'in any case');
  t.same(await is('bob'), { is: 'not identified' });
  t.same(await is('nobody'), { is: 'away' });
  t.same(await is('alice,bob'), { is: 'away' }, 'not a nick');
  t.notOk(session.isAmbiguous('al{ce'), 'the server compares nicks as we do');

  await alice.ask('NICK alice2');
  t.same(await is('alice2'), { is: 'not identified' }, 'logged in, and the nick is nobody’s');
  t.same(await is('alice'), { is: 'away' });
  await bob.ask('NICK alice');
  t.same(await is('alice'), { is: 'not identified' }, 'who took the nick that was left');

  await network.services.kill('SIGTERM');
  await bob.ask('NICK bob');
  await alice.ask('NICK alice');
  t.same(await is('alice'), hers, 'her login outlives the services');
  await alice.ask('NICK elsewhere');
  await bob.ask('NICK alice');
  t.same(await is('alice'), { is: 'not identified' }, 'the services are away');
  await network.services.start();
  t.same(await is('alice'), { is: 'not identified' }, 'and back');
  t.same(await is('elsewhere'), { is: 'not identified' });

  await network.identify(bob, 'alice', 'alices-own');
  t.same(await is('alice'), hers, 'whoever has the password');
  const from = bob.raw.length;
  bob.send('NICK grouped', 'PRIVMSG NickServ :GROUP alice alices-own');
  await bob.waitUntil(() => bob.raw.slice(from).some((line) => /MODE grouped :?\+r/.test(line)));
  t.same(await is('grouped'), hers, 'another nick of the same account');
});

t.test('NET-04 a network that does not answer identifies nobody', async (t) => {
  let isSilent = false;
  const server = await startFakeServer(t, (line) => (isSilent && /WHOIS/.test(line) ? [] : undefined));
  const bot = startBot(t, { url: server.url, confirmTimeoutMs: 3_000 });
  const session = await bot.session();
  t.same(await identified(session, 'alice'), { is: 'away' }, 'an answer without anybody');
  isSilent = true;
  await t.rejects(identified(session, 'alice'), { code: 'irc_unavailable', kind: 'unavailable' });
  await until(() => session.lost.aborted, 'the end of the session');
  await t.rejects(identified(session, 'alice'), { code: 'irc_unavailable' });
});
