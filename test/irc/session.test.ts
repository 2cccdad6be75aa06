import t from 'tap';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { credentials, joinOne, startBot } from './bot.js';

t.test('a bot on a real server', async (t) => {
  const ircd = await startIrcd(t);
  const bot = startBot(t, { ...credentials(ircd), realname: 'Marketplace bot' });
  const session = await bot.session();
  const witness = await observe(ircd.port, {
    nick: 'witness',
    password: ircd.serverPassword,
    channels: ['#talk'],
  });
  t.teardown(() => witness.stop());

  t.test('registers, becomes operator and tells so', async (t) => {
    const status = bot.connection.status();
    t.match(status, {
      connected: true,
      oper: true,
      nick: 'em-bot',
      since: Date,
      confirmation: 'labels',
      lastError: null,
    });
    t.match(session, { id: 1, nick: 'em-bot', oper: true, confirmation: 'labels' });
    t.equal(bot.connection.session(), session);
    const whois = await witness.ask('WHOIS em-bot');
    t.ok(
      whois.some((line) => / 313 .*em-bot/.test(line)),
      'the network says that it is an operator',
    );
    t.ok(
      whois.some((line) => line.endsWith(':Marketplace bot')),
      'under its real name',
    );
    t.ok(
      whois.some((line) => / 335 .*em-bot/.test(line)),
      'and as a bot',
    );
    const modes = await session.command('MODE', 'em-bot');
    t.match(modes.is === 'answered' && modes.lines.map(({ params }) => params[1]), [/N/], 'no replay for it');
  });

  t.test('QUEUE-01 a line is confirmed by its echo, with what the server made of it', async (t) => {
    await joinOne(session, '#talk');
    const outcome = await session.say('#talk', 'hello, world', 'evt;1 \\x');
    if (outcome.is !== 'confirmed') throw new Error(outcome.is);
    const seen = await witness.waitFor((line) => line.text === 'hello, world');
    t.equal(seen.nick, 'em-bot');
    t.equal(seen.tags.msgid, outcome.msgid);
    t.equal(seen.tags['+svc/event'], 'evt;1 \\x', 'the tag survives its escaping');
  });

  t.test('refusals carry the numeric', async (t) => {
    t.match(await session.say('#nowhere', 'x'), { is: 'refused', code: '403', error: 'No such channel' });
    await witness.join('#closed');
    t.match(await session.say('#closed', 'x'), { is: 'refused', code: '404' }, '+n and not in it');
    t.same(await session.say('#talk', ''), { is: 'refused', code: '412', error: 'No text to send' });
    t.match(await session.say('em-bot', 'x'), { is: 'refused', code: '476' }, 'channels only');
    t.match(await session.say('#a,#talk', 'x'), { is: 'refused', code: '476' }, 'one channel only');
    t.match(await session.say('$*', 'x'), { is: 'refused', code: '476' }, 'no server-wide messages');
    t.match(await session.say('#talk', 'x', 'y'.repeat(4_100)), { is: 'refused', code: '417' });
  });

  t.test('the longest tag that is let through is taken by the server', async (t) => {
    t.match(await session.say('#talk', 'long tag', 'y'.repeat(4_000)), { is: 'confirmed' });
  });

  t.test('no text and no channel name makes a second command', async (t) => {
    const hostile = ['a\r\nQUIT :x', 'b\nJOIN #evil', 'c\0d', '\r\nOPER x', 'e\r\n\r\n', ':f', ' g'];
    for (const text of hostile) t.match(await session.say('#talk', text), { is: 'confirmed' });
    for (const channel of ['#talk\r\nQUIT', '#talk :x\r\nQUIT', '#t\0', '#talk x', '#é\n']) {
      t.match(await session.say(channel, 'x'), { is: 'refused', code: '476' });
    }
    t.match(await session.say('#talk', 'tag', 'evt\r\nQUIT :x'), { is: 'confirmed' });
    await t.rejects(session.command('TOPIC', '#talk', 'x\r\nQUIT'), TypeError);
    await t.rejects(session.command('MODE', '#talk x', '+m'), TypeError);
    const end = await session.say('#talk', 'still here');
    t.match(end, { is: 'confirmed' });
    await witness.waitFor((line) => line.text === 'still here');
    t.same(witness.texts('#talk').slice(2, 9), [
      'a QUIT :x',
      'b JOIN #evil',
      'c d',
      ' OPER x',
      'e ',
      ':f',
      ' g',
    ]);
    t.notOk(
      witness.raw.some((line) => /^\S* ?:em-bot\S* (?:QUIT|JOIN #evil)/.test(line)),
      'it never quit or joined elsewhere',
    );
    t.equal(bot.sessions.length, 1);
  });

  t.test('a long line is cut to 512 bytes between two graphemes', async (t) => {
    const channel = `#${'c'.repeat(63)}`;
    await joinOne(session, channel);
    await witness.join(channel);
    const family = '👨‍👩‍👧‍👦';
    const texts = ['x', 'é', '€', '🎉', family, 'e\u0301'].flatMap((unit) =>
      [0, 1, 2, 3].map((offset) => 'a'.repeat(offset) + unit.repeat(600)),
    );
    for (const text of texts) {
      const outcome = await session.say(channel, text);
      t.match(outcome, { is: 'confirmed' });
      const { msgid } = outcome as { msgid: string };
      const seen = await witness.waitFor((line) => line.tags.msgid === msgid);
      t.ok(seen.bytes <= 512, `${seen.bytes} bytes`);
      t.ok(seen.bytes > 512 - 26, `${seen.bytes} bytes: no room is wasted`);
      t.equal(seen.validUtf8, true);
      t.ok(text.startsWith(seen.text) && !seen.text.endsWith('\u200d'), 'cut between graphemes');
    }
  });

  t.test('a client that knows no tags sees the same line', async (t) => {
    const old = await observe(ircd.port, { nick: 'old', tags: false, channels: ['#talk'] });
    await session.say('#talk', 'for everybody', 'evt-9');
    t.same((await old.waitFor((line) => line.text === 'for everybody')).tags, {});
    await old.stop();
  });

  t.test('lines that are no answers are handed on, also when their listener fails', async (t) => {
    const heard: string[] = [];
    bot.connection.on('line', (line) => {
      heard.push(`${line.nick} ${line.command} ${line.params.join(' ')}`);
      if (line.command === 'PRIVMSG') throw new Error('a faulty listener');
    });
    witness.send('PRIVMSG #talk :good morning', 'NOTICE em-bot :psst');
    await session.command('PING', 'x');
    await witness.ask();
    await session.command('PING', 'y');
    t.ok(heard.includes('witness PRIVMSG #talk good morning'));
    t.ok(heard.includes('witness NOTICE em-bot psst'));
    t.notOk(
      heard.some((line) => line.startsWith('em-bot PRIVMSG')),
      'our own echoes are answers',
    );
    t.equal(bot.sessions.length, 1);
    t.ok(bot.logged.some((line) => line.msg === 'irc listener failed'));
  });

  t.test('a command answers with its lines', async (t) => {
    const names = await session.command('NAMES', '#talk');
    t.match(names, { is: 'answered', error: null });
    const unknown = await session.command('FROBNICATE', 'x');
    t.match(unknown, { is: 'answered', error: { code: '421', text: 'Unknown command' } });
    const nothing = await session.command('SAMODE', '#talk', '+n');
    t.same(nothing, { is: 'answered', lines: [], error: null }, 'no change: a bare ACK');
  });

  t.test('nothing secret and no text is in the log', async (t) => {
    await bot.connection.stop('Good night');
    const log = JSON.stringify(bot.logged);
    for (const secret of [ircd.serverPassword, ircd.operPassword, 'hello, world']) {
      t.notOk(log.includes(secret));
    }
    t.match(bot.logged.at(-1), { msg: 'irc connection', nick: 'em-bot', lines: { confirmed: Number } });
    await witness.waitUntil(() => witness.raw.some((line) => /em-bot\S* QUIT :.*Good night/.test(line)));
    t.match(bot.connection.status(), { connected: false, oper: false });
  });
});

t.test('a server that throttles us is slow, not dead: nothing is lost', async (t) => {
  const ircd = await startIrcd(t);
  const channels = Array.from({ length: 20 }, (_, n) => `#slow-${n}`);
  // Without the connect password it is one of the public, with ten commands at once and then one a second.
  const bot = startBot(t, { url: ircd.url, nick: 'guest-bot', confirmTimeoutMs: 2_500 });
  const session = await bot.session();
  await session.command('JOIN', channels.join(','));
  const began = performance.now();
  const outcomes = await Promise.all(channels.map((channel) => session.say(channel, 'patience')));
  t.comment(`20 lines in ${Math.round(performance.now() - began)} ms`);
  t.ok(outcomes.every(({ is }) => is === 'confirmed'));
  t.ok(performance.now() - began > 2_500, 'it did take longer than one line may');
  t.same(bot.lost, []);
});
