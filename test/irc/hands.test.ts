import t from 'tap';
import { createChannels, createHands } from '../../workers/channels/index.js';
import type { Hands } from '../../workers/irc/hands.js';
import { openLog, startKeeper } from '../channels/keeper.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';
import { type Bot, startBot } from './bot.js';

t.jobs = 3; // they mostly wait: for sessions to end, for registration

/** A network that keeps the bot's nick, and a marketplace bot that is no operator on it, as often as one is wanted. */
async function stage(t: Teardown) {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t, { reservedNicks: ['em-bot'] })]);
  const log = await openLog(t, nats.url);
  const hands = createHands(log);
  const bot = (options: { hands?: Hands; nickWaitMs?: number; url?: string } = {}) =>
    startBot(t, { url: ircd.url, password: ircd.serverPassword, hands, ...options });
  const keeper = () => startKeeper(t, { nats, ircd });
  /** Somebody who makes a room, with these modes. */
  const room = async (name: string, ...modes: string[]) => {
    const maker = await observe(ircd.port, { nick: `m${name.slice(1)}`, channels: [name] });
    t.teardown(() => maker.stop());
    await maker.ask(
      `OPER ${ircd.operName} ${ircd.operPassword}`,
      ...modes.map((mode) => `SAMODE ${name} ${mode}`),
    );
    return maker;
  };
  return { ircd, bot, keeper, room, hands, log };
}

t.test('NET-14 the channel bot gets others their nicks, also from sessions that are half open', async (t) => {
  const { bot, keeper } = await stage(t);
  await keeper();
  const first = bot();
  await first.session();
  t.match(first.connection.status(), { nick: 'em-bot', oper: false });
  const second = bot();
  await second.session();
  t.match(second.connection.status(), { nick: 'em-bot', oper: false });
  t.match(first.lost, [/Superseded/], 'nothing that the first one still holds is shown');
  const tookBack = (one: Bot) => one.logged.some(({ msg }) => /taken back/.test(String(msg)));
  t.same([tookBack(first), tookBack(second)], [false, true]);
  await first.connection.stop();
});

t.test('NET-14 a bot waits for the channel bot, and then has its nick', async (t) => {
  const { bot, keeper } = await stage(t);
  const one = bot({ nickWaitMs: 0 });
  const session = await one.session();
  t.match(session.nick, /^em-bo_/, 'a spare one meanwhile');
  await keeper();
  await eventually('its nick', () => session.nick === 'em-bot');
});

t.test('NET-14 into closed rooms, with what their history shows, and heard under +m', async (t) => {
  const { bot, keeper, room } = await stage(t);
  await keeper();
  const maker = await room('#closed', '+H 100:1d', '-n');
  const one = bot();
  const session = await one.session();
  t.match(await session.say('#closed', 'said before', 'e1'), { is: 'confirmed' });
  await maker.ask('SAMODE #closed +ikmlb key 1 *!*@*');
  await room('#locked', '+k key');
  await room('#open');
  for (const history of [false, true]) {
    const outcomes = await session.join(['#closed', '#locked', '#open', '#new'], { history });
    t.match(Object.fromEntries(outcomes), {
      '#closed': { is: 'joined', created: false, status: 'voice' },
      '#locked': { is: 'joined', created: false },
      '#open': { is: 'joined', created: false, status: 'none' },
    });
    if (history)
      t.match(outcomes.get('#closed'), { history: { lines: [{ text: 'said before', tag: 'e1' }] } });
    t.match(await session.say('#closed', `with${history ? '' : 'out'} history`), { is: 'confirmed' });
  }
  const made = (await session.join(['#made'], { history: false })).get('#made');
  t.match(made, { is: 'joined', created: true, modes: /^\+(?=.*n)(?=.*t)(?=.*P)(?=.*H).* 100:1d$/ });
});

t.test('NET-14 heard in a room that fell silent while the bot was on its way back', async (t) => {
  const { bot, keeper, room, hands } = await stage(t);
  await keeper();
  const maker = await room('#closed', '+H 100:1d', '+P', '+i');
  const letIn: Hands['letIn'] = async (wanted) => {
    await maker.ask('SAMODE #closed +m');
    return await hands.letIn(wanted);
  };
  const session = await bot({ hands: { ...hands, letIn } }).session();
  await maker.ask('SAJOIN em-bot #closed');
  const outcome = (await session.join(['#closed'], { history: true })).get('#closed');
  t.match(outcome, { is: 'joined', status: 'voice', modes: /m/ });
  t.match(await session.say('#closed', 'heard'), { is: 'confirmed' });
});

t.test('NET-14 whoever is let into a silent room of ours is heard there', async (t) => {
  const { bot, keeper, hands, log } = await stage(t);
  await keeper();
  const name = '#task-quiet';
  const wanted = { name, type: 'task', modes: '+im', topic: '', metadata: {} } as const;
  await eventually('the room', () =>
    createChannels(log).create({ ...wanted, invite_list: [], cause: 'request' }, { by: 'ops' }),
  );
  const session = await bot().session();
  await hands.letIn({ nick: 'em-bot', channels: [name] });
  t.match(await session.say(name, 'heard'), { is: 'confirmed' });
});

t.test('NET-14 the history of each room, also where the channel bot is in the rooms', async (t) => {
  const { bot, keeper, room } = await stage(t);
  await keeper();
  const one = bot();
  const session = await one.session();
  const names = ['#one', '#two', '#three'];
  for (const name of names) {
    const maker = await room(name, '+H 100:1d', '-n');
    t.match(await session.say(name, `said in ${name}`, name), { is: 'confirmed' });
    // the answer to who lets us in then has lines that we are shown, with the references of its batch
    await maker.ask(`SAMODE ${name} +i`, `SAJOIN channelserv ${name}`);
  }
  const outcomes = await session.join(names, { history: true });
  for (const name of names) {
    const history = { lines: [{ tag: name, text: `said in ${name}` }] };
    t.match(outcomes.get(name), { is: 'joined', history }, name);
  }
});

t.test(
  'NET-14 a closed room waits for the channel bot, and is refused where that has no power',
  async (t) => {
    const { bot, keeper, room } = await stage(t);
    await room('#closed', '+i');
    const one = bot({ nickWaitMs: 0 });
    const session = await one.session();
    const join = async () => (await session.join(['#closed'], { history: false })).get('#closed');
    t.same(await join(), { is: 'waiting' });
    await keeper();
    await eventually('the room', async () => (await join())?.is === 'joined');

    const powerless = bot({
      nickWaitMs: 0,
      hands: { giveNick: async () => false, letIn: async () => false, letSpeak: async () => false },
    });
    const outcome = await (await powerless.session()).join(['#closed'], { history: false });
    t.match(outcome.get('#closed'), { is: 'refused', code: '473' });
  },
);

t.test(
  'NET-14 a silent room waits for the channel bot, and stays silent where that has no power',
  async (t) => {
    const { bot, keeper, room } = await stage(t);
    await room('#silent', '+m');
    const session = await bot({ nickWaitMs: 0 }).session();
    const join = async () => (await session.join(['#silent'], { history: false })).get('#silent');
    t.same([await join(), await join()], [{ is: 'waiting' }, { is: 'waiting' }]);
    await keeper();
    await eventually('a voice', async () => (await join())?.is === 'joined');
    t.match(await session.say('#silent', 'heard'), { is: 'confirmed' });

    const powerless = bot({
      nickWaitMs: 0,
      hands: { giveNick: async () => false, letIn: async () => false, letSpeak: async () => false },
    });
    const outcome = await (await powerless.session()).join(['#silent'], { history: false });
    t.match(outcome.get('#silent'), { is: 'joined', status: 'none' });
  },
);
