import t from 'tap';
import type { JoinOutcome } from '../../workers/irc/join.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { credentials, joinOne, startBot } from './bot.js';

t.test('joining channels', async (t) => {
  const ircd = await startIrcd(t);
  const owner = await observe(ircd.port, { nick: 'owner', password: ircd.serverPassword });
  t.teardown(() => owner.stop());
  const session = await startBot(t, credentials(ircd)).session();
  const plain = await startBot(t, {
    url: ircd.url,
    password: ircd.serverPassword,
    nick: 'plain-bot',
  }).session();
  await owner.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);

  t.test('a channel we create gets its modes and its history, and we are its operator', async (t) => {
    const outcome = await joinOne(session, '#New-Room');
    t.match(outcome, { created: true, status: 'op', history: null });
    t.same(flags(outcome.modes), ['H', 'P', 'n', 't']);
    t.match(outcome.modes, / 100:1d$/);
    t.ok(session.isIn('#new-room'));
    const again = await joinOne(session, '#new-room');
    t.match(again, { created: false, status: 'op' });
  });

  t.test('without operator state a created channel stays as the server makes it', async (t) => {
    t.match(await joinOne(plain, '#modest'), { created: true, modes: '+nt', status: 'op' });
  });

  t.test('a channel of others is left as it is, and we get a voice there', async (t) => {
    await owner.join('#others');
    t.match(await joinOne(session, '#others'), { created: false, modes: '+nt', status: 'voice' });
  });

  t.test('+i, +k, +l and +b do not keep an operator out, and +m does not silence it', async (t) => {
    await closeRooms(owner);
    const outcomes = await session.join(Object.keys(closed), { history: false });
    for (const channel of Object.keys(closed)) {
      t.match(outcomes.get(channel), { is: 'joined', created: false, status: 'voice' }, channel);
      t.match(await session.say(channel, 'in here'), { is: 'confirmed' }, channel);
    }
  });

  t.test('without operator state each refusal is told', async (t) => {
    const outcomes = await plain.join(Object.keys(closed), { history: false });
    for (const [channel, code] of Object.entries(closed)) {
      const expected = code === null ? { is: 'joined', status: 'none' } : { is: 'refused', code };
      t.match(outcomes.get(channel), expected, channel);
    }
    t.match(await plain.say('#closed-m', 'x'), { is: 'refused', code: '404' });
  });

  t.test(
    'a name that operators have closed stays closed, also to an operator, and the refusal says so',
    async (t) => {
      await owner.ask('CBAN #banned 1h :closed for now');
      const outcomes = await session.join(['#banned', '#not-banned'], { history: false });
      t.match(outcomes.get('#banned'), { is: 'refused', code: '926', error: /closed for now/ });
      t.match(outcomes.get('#not-banned'), { is: 'joined' });
      t.notOk(session.isIn('#banned'));
    },
  );

  t.test('names that are none, and the same channel twice', async (t) => {
    const outcomes = await session.join(['#twice', '#TWICE', 'nick', '#a b', '#a\r\nQUIT', ''], {
      history: false,
    });
    t.match(outcomes.get('#twice'), { is: 'joined' });
    t.same(outcomes.get('#twice'), outcomes.get('#TWICE'));
    for (const name of ['nick', '#a b', '#a\r\nQUIT', '']) {
      t.match(outcomes.get(name), { is: 'refused', code: '476' }, JSON.stringify(name));
    }
    const long = `#${'x'.repeat(150)}`;
    t.match(
      (await session.join([long], { history: false })).get(long),
      { is: 'refused' },
      'longer than the server takes',
    );
  });

  t.test('a witness has no voice, and is told what there is to see', async (t) => {
    await owner.join('#seen');
    await owner.ask('SAMODE #seen +PHo 100:1d owner', 'TOPIC #seen :a topic');
    await owner.ask('PRIVMSG #seen :one', 'NOTICE #seen :two');
    for (const round of ['first', 'again']) {
      const outcome = (await session.join(['#seen'], { history: true, witness: true })).get('#seen');
      t.match(outcome, { is: 'joined', status: 'none', history: { from: null } }, round);
      const { snapshot } = outcome as JoinOutcome & { is: 'joined' };
      t.match(snapshot, {
        topic: 'a topic',
        lines: [{ nick: 'owner', tags: { msgid: /./ } }, { command: 'NOTICE' }],
      });
      t.same([...snapshot!.members].sort(), ['@owner', 'em-bot'], round);
    }
    t.notOk('snapshot' in (await joinOne(session, '#seen')), 'others are not bothered with it');
  });

  t.test('a kick and a forced part are noticed, and a forced join too', async (t) => {
    await joinOne(session, '#kicked');
    await owner.ask('SAJOIN owner #kicked', 'SAMODE #kicked +o owner', 'KICK #kicked em-bot :out');
    await session.command('PING', 'x');
    t.equal(session.isIn('#kicked'), false);
    t.match(await joinOne(session, '#kicked'), { created: false });
    await owner.ask('SAPART em-bot #kicked', 'SAJOIN em-bot #elsewhere');
    await session.command('PING', 'x');
    t.equal(session.isIn('#kicked'), false);
    t.equal(session.isIn('#elsewhere'), true);
  });

  t.test('1,000 channels at once, 500 of them closed', async (t) => {
    const open = Array.from({ length: 500 }, (_, i) => `#open-${i}`);
    const shut = Array.from({ length: 500 }, (_, i) => `#shut-${i}`);
    for (let from = 0; from < 500; from += 20) {
      await owner.ask(`SAJOIN owner ${shut.slice(from, from + 20).join(',')}`);
    }
    for (let from = 0; from < 500; from += 50) {
      await owner.ask(...shut.slice(from, from + 50).map((channel) => `SAMODE ${channel} +im`));
    }
    const began = performance.now();
    const outcomes = await session.join([...open, ...shut], { history: true });
    t.comment(`1,000 channels joined in ${Math.round(performance.now() - began)} ms`);
    const all = [...outcomes.values()];
    t.equal(all.length, 1_000);
    t.ok(all.every((one) => one.is === 'joined' && one.status === (one.created ? 'op' : 'voice')));
    t.equal(all.filter((outcome) => outcome.is === 'joined' && outcome.created).length, 500);
  });
});

t.test('history shows what became of our lines', async (t) => {
  const ircd = await startIrcd(t);
  const first = startBot(t, credentials(ircd));
  const session = await first.session();
  const witness = await observe(ircd.port, { nick: 'witness', password: ircd.serverPassword });
  t.teardown(() => witness.stop());
  await session.join(['#kept', '#full', '#empty'], { history: false });
  await witness.join('#kept', '#full', '#bare');
  await joinOne(session, '#bare');
  witness.send('PRIVMSG #kept :what is new?');
  await witness.ask();
  await session.say('#kept', 'one', 'evt-1');
  await session.say('#kept', 'two; and a half', 'evt 2');
  await session.say('#kept', 'without a tag');
  await session.say('#bare', 'gone', 'evt-3');
  for (let n = 0; n < 105; n++) await session.say('#full', `line ${n}`, `evt-full-${n}`);
  await first.connection.stop();

  const second = startBot(t, credentials(ircd));
  const later = await second.session();
  const heard: string[] = [];
  second.connection.on('line', (line) => heard.push(line.command));
  const names = ['#kept', '#full', '#empty', '#bare', '#fresh'];
  const outcomes = await later.join(names, { history: true });
  const history = (name: string) => {
    const outcome = outcomes.get(name) as JoinOutcome & { is: 'joined' };
    return outcome.history;
  };
  t.match(
    history('#kept')?.lines.map(({ channel, tag, text }) => [channel, tag, text]),
    [
      ['#kept', 'evt-1', 'one'],
      ['#kept', 'evt 2', 'two; and a half'],
      ['#kept', null, 'without a tag'],
    ],
    'ours only, in order',
  );
  t.match(history('#kept')?.lines[0], { msgid: String, at: Date });
  t.equal(history('#kept')?.from, null, 'nothing has fallen out');
  t.equal(history('#full')?.lines.length, 100);
  t.equal(history('#full')?.lines[0]?.tag, 'evt-full-5');
  t.type(history('#full')?.from, Date, 'older lines may have fallen out');
  t.same(history('#empty'), { lines: [], from: null }, 'kept, and nothing was shown');
  t.equal(history('#bare'), null, 'a channel without history');
  t.equal(history('#fresh'), null, 'a new channel');
  t.notOk(heard.includes('PRIVMSG'), 'a replay is nobody else’s business');

  const quiet = await later.command('MODE', later.nick);
  t.match(quiet.is === 'answered' && quiet.lines[0]?.params[1], /N/, '+N is back');
  const again = await later.join(['#kept', '#empty'], { history: true });
  t.match(again.get('#kept'), { history: { lines: { length: 3 } } }, 'also when we were in it already');
  t.match(again.get('#empty'), { history: { lines: [] }, created: false });
  t.match(await joinOne(later, '#kept'), { history: null }, 'not asked for');
});

const closed: Record<string, string | null> = {
  '#closed-i': '473',
  '#closed-k': '475',
  '#closed-l': '471',
  '#closed-b': '474',
  '#closed-m': null,
};

async function closeRooms(owner: Observer) {
  await owner.join(...Object.keys(closed));
  await owner.ask(
    'SAMODE #closed-i +i',
    'SAMODE #closed-k +k secret',
    'SAMODE #closed-l +l 1',
    'SAMODE #closed-b +bb em-bot!*@* plain-bot!*@*',
    'SAMODE #closed-m +m',
  );
}

const flags = (modes: string) => [...modes.split(' ')[0]!.slice(1)].sort();
