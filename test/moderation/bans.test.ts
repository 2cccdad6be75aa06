import t from 'tap';
import type { Enforcement } from '../../streams/moderation/index.js';
import { enforce } from '../../workers/channels/enforce.js';
import { credentials, startBot } from '../irc/bot.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startIrcd, type TestIrcd } from '../support/ircd.js';
import type { Teardown } from '../support/server-process.js';

/** A server whose lists of bans take few masks, its channel bot, and an operator who looks on. */
async function stage(t: Teardown, most: number) {
  const ircd = await startIrcd(t, { extraConfig: `<maxlist chan="*" mode="b" limit="${most}">` });
  const bot = startBot(t, { ...credentials(ircd), nick: 'channelserv' });
  const session = await bot.session();
  const witness = await person(t, ircd, 'witness');
  await witness.ask(`OPER ${ircd.operName} ${ircd.operPassword}`, 'JOIN #room');
  const bans = async () =>
    (await witness.ask('MODE #room +b'))
      .map((line) => line.replace(/^@\S+ /, '').split(' '))
      .filter((words) => words[1] === '367')
      .map((words) => words[4]!);
  const act = (act: Enforcement['act'], nick: string, host = '127.0.0.1') =>
    enforce(session, { act, channel: '#room', nick, host: `${nick}@${host}`, text: 'incident 1' });
  return { ircd, witness, bans, act };
}

async function person(t: Teardown, ircd: TestIrcd, nick: string, host = '127.0.0.1'): Promise<Observer> {
  const observer = await observe(ircd.port, { nick, host, password: ircd.serverPassword });
  t.teardown(() => observer.stop());
  return observer;
}

t.test('MOD-24 whoever cannot be banned is kicked all the same', async (t) => {
  const { ircd, witness, bans, act } = await stage(t, 3);
  await witness.ask('SAMODE #room +bbb one two three');
  const mallory = await person(t, ircd, 'mallory');
  await mallory.join('#room');
  t.same(await act('ban', 'mallory'), {
    is: 'failed',
    error: 'Kicked, but not banned: Channel ban list is full',
  });
  await mallory.waitUntil(() => mallory.raw.some((line) => / KICK #room mallory /.test(line)));
  t.same(await bans(), ['one!*@*', 'two!*@*', 'three!*@*'], 'what others have set stays');
});

t.test('MOD-24 of a list that fills up the oldest of our masks go', async (t) => {
  const { ircd, witness, bans, act } = await stage(t, 10);
  await witness.ask('SAMODE #room +bb one two');
  const nicks = Array.from({ length: 12 }, (_, n) => `evil${n}`);
  const evil = await Promise.all(nicks.map((nick, n) => person(t, ircd, nick, `127.0.1.${n}`)));
  for (const one of evil) await one.join('#room');
  for (const [n, nick] of nicks.entries()) {
    t.match(await act('ban', nick, `127.0.1.${n}`), { is: 'done' });
    const names = (await witness.ask('NAMES #room')).filter((line) => / 353 /.test(line));
    t.notMatch(names.join(' '), new RegExp(`\\b${nick}\\b`), 'and out');
  }
  const left = await bans();
  t.equal(left.length, 9, 'there is room for one by hand');
  t.ok(left.includes('one!*@*') && left.includes('two!*@*'), 'what others have set stays');
  t.ok(left.includes('U:*!*@127.0.1.11'), 'the newest is there');

  await witness.ask('SAMODE #room +b three');
  const last = await person(t, ircd, 'last', '127.0.2.1');
  await last.join('#room');
  t.match(await act('ban', 'last', '127.0.2.1'), { is: 'done' }, 'a full one is cleared of ours, too');
  t.ok((await bans()).some((mask) => mask === 'U:*!*@127.0.2.1'));
});
