import t from 'tap';
import { networkSize } from '../../workers/irc/index.js';
import { observe } from '../support/irc-observer.js';
import { ngircdOper, startNgircd, withoutNgircd } from '../support/ngircd.js';
import { startTcpRelay } from '../support/tcp-relay.js';
import { joinOne, startBot } from './bot.js';

t.test('on a server without capabilities a PING fence confirms', { skip: withoutNgircd }, async (t) => {
  const server = await startNgircd(t);
  const relay = await startTcpRelay(t, server.port);
  const oper = ngircdOper;
  const bot = startBot(t, { url: relay.url, oper, confirmTimeoutMs: 4_000 });
  const session = await bot.session();
  const witness = await observe(server.port, { nick: 'witness', tags: false, channels: ['#a', '#m'] });
  t.teardown(() => witness.stop());
  t.match(bot.connection.status(), { connected: true, oper: true, confirmation: 'fence' });
  const ambiguous = ['alice', 'al{ce', 'al[ce', 'al~ce'].map((nick) => session.isAmbiguous(nick));
  t.same(ambiguous, [false, true, true, true], 'IDENT-31: it compares nicks by the letters of ASCII');
  t.ok(bot.logged.some(({ casemapping }) => casemapping === 'ascii'));

  t.test('joins and refusals are told per channel', async (t) => {
    await witness.ask('MODE #m +m', 'JOIN #i', 'MODE #i +i', 'JOIN #s', 'MODE #s +n');
    const outcomes = await session.join(['#a', '#m', '#i', '#own'], { history: true });
    t.match(outcomes.get('#a'), { is: 'joined', created: false, status: 'none', history: null });
    t.match(outcomes.get('#own'), { is: 'joined', created: true, status: 'op' });
    t.same([...(outcomes.get('#own') as { modes: string }).modes].sort(), ['+', 'n', 't']);
    t.equal(session.isIn('#own'), true);
    const said = await Promise.all([
      session.say('#a', 'one', 'tag'),
      session.say('#m', 'silenced'),
      session.say('#nowhere', 'x'),
      session.say('#own', 'two'),
      session.say('#a', 'three'),
      session.say('#a', 'four'),
    ]);
    t.match(said, [
      { is: 'confirmed', msgid: null },
      { is: 'refused', code: '404' },
      { is: 'refused', code: /40[13]/ },
      { is: 'confirmed' },
      { is: 'confirmed' },
      { is: 'confirmed' },
    ]);
    await witness.waitFor((line) => line.text === 'four');
    t.same(witness.texts('#a'), ['one', 'three', 'four']);
    t.same(witness.texts('#m'), []);
  });

  t.test('commands have their answers', async (t) => {
    const answer = await session.command('WHOIS', 'witness');
    t.ok(answer.is === 'answered' && answer.lines.some(({ command }) => command === '311'));
    t.match(await session.command('SAMODE', '#a', '+m'), { error: { code: '421' } });
    // #a, #m, #i, #s, #own, and the server’s own &SERVER
    t.same(await networkSize(session), { users: 2, channels: 6, servers: 1 });
  });

  t.test('lines stay in order', async (t) => {
    const began = performance.now();
    for (let n = 0; n < 10; n++) {
      const said = await Promise.all(
        ['#a', '#own'].flatMap((c) => [session.say(c, `${n}`), session.say(c, `${n}b`)]),
      );
      t.ok(said.every(({ is }) => is === 'confirmed'));
    }
    t.comment(`40 lines in ${Math.round(performance.now() - began)} ms`);
    await witness.waitFor((line) => line.text === '9b');
    const wanted = Array.from({ length: 10 }, (_, n) => [`${n}`, `${n}b`]).flat();
    t.same(witness.texts('#a').slice(3), wanted);
  });

  t.test('a half-open session is lost and fenced off here too', async (t) => {
    relay.freeze();
    t.same(await session.say('#a', 'held'), { is: 'lost', written: true });
    const next = await bot.session(2);
    t.equal(next.nick, 'em-bot');
    relay.thaw();
    await joinOne(next, '#a');
    t.match(await next.say('#a', 'after'), { is: 'confirmed' });
    await witness.waitFor((line) => line.text === 'after');
    t.notOk(witness.texts('#a').includes('held'));
  });
});
