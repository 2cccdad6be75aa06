import { readFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { createEnforcement } from '../../workers/channels/index.js';
import { postEvent } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { asker, creation, reconciled, startKeeper } from './keeper.js';
import { channelStage, operatorOn } from './stage.js';

/** Lists that other servers have, and a prefix above that of an operator. */
const everyList = `
<module name="inviteexception">
<module name="customprefix">
<customprefix name="owner" letter="q" prefix="~" rank="50000" ranktoset="50000" depriv="no">`;

/** The masks of a list of a channel, each with who set it. */
async function listOf(witness: Observer, channel: string, flag: 'b' | 'e' | 'I'): Promise<string[]> {
  const numeric = { b: '367', e: '348', I: '346' }[flag];
  return (await witness.ask(`MODE ${channel} +${flag}`))
    .map((line) => line.replace(/^@\S+ /, '').split(' '))
    .filter(([, command]) => command === numeric)
    .map(([, , , , mask = '', by = '']) => `${mask} ${by}`);
}

async function stage(t: Test) {
  const place = await channelStage(t, {}, startIrcd(t, { extraConfig: everyList }));
  let events = 0;
  const post = async (event_type: string, payload: Record<string, unknown>) => {
    const event = { event_id: `evt-${++events}`, event_type, source: 'marketplace', payload };
    t.equal((await postEvent(place.app.url, event)).status, 202, event_type);
  };
  return { ...place, post };
}

t.test('CHAN-89 whoever makes a channel of their own rules it, and invites others', async (t) => {
  const { agent, names } = await stage(t);
  const [ann, bob] = await Promise.all([agent('ann'), agent('bob')]);
  await ann.join('#place-of-ann');
  t.same(await names('#place-of-ann'), ['@ann']);
  const answers = (await ann.ask('MODE #place-of-ann +i', 'INVITE bob #place-of-ann')).join('\n');
  t.match(answers, / MODE #place-of-ann :?\+i/);
  t.match(answers, / 341 ann bob :?#place-of-ann/);
  t.notMatch(answers, / 482 /);
  await bob.join('#place-of-ann');
  t.match((await bob.ask('MODE #place-of-ann -i')).join(), / 482 /, 'who comes later is no operator');
  t.same(await names('#place-of-ann'), ['@ann', 'bob']);
});

/** Somebody makes a room first, and does to it what an operator can. */
async function prepare(stranger: Observer, room: string, friends: readonly string[]): Promise<void> {
  await stranger.join(room);
  const answers = await stranger.ask(
    `MODE ${room} +klsimHC key 90 9:1d`,
    `MODE ${room} +bbbb em-bot!*@* channelserv!*@* relay!*@* *!*@127.0.0.1`,
    `MODE ${room} +eee stranger!*@* *!*@127.0.1.* m:*!*@*`,
    `MODE ${room} +II stranger!*@* *!*@127.0.1.*`,
    ...Array.from({ length: 5 }, (_, n) =>
      [`MODE ${room} +bbbbbbb`, ...Array.from({ length: 7 }, (_, m) => `w${n}-${m}!*@*`)].join(' '),
    ),
    `TOPIC ${room} :send your wallet to me`,
    `PRIVMSG ${room} :send your wallet to me`,
    ...friends.map((friend) => `INVITE ${friend} ${room}`),
  );
  const refused = answers.filter((line) => / (?:482|472|696|47\d) /.test(line));
  if (refused.length > 0) throw new Error(refused.join('\n'));
}

t.test('CHAN-90 who made the room of a task first has nothing of it when the task is assigned', async (t) => {
  const { agent, post, names, modes, topic, witness } = await stage(t);
  const [worker, stranger, friend, late] = await Promise.all(
    ['worker', 'stranger', 'friend', 'late'].map((nick) => agent(nick)),
  );
  const room = '#task-early002';
  await prepare(stranger!, room, ['friend', 'late']);
  await friend!.join(room);
  await post('task.assigned', { id: 'early002-1', title: 'Secret', worker_nick: 'worker' });
  await worker!.waitFor(({ channel, text }) => channel === room && text.includes('[ASSIGNED]'));
  t.equal(await modes(room), 'HPinst 100:1d');
  t.match(await topic(room), /Secret/);
  for (const flag of ['b', 'e', 'I'] as const) t.same(await listOf(witness, room, flag), [], `+${flag}`);
  t.same((await names(room)).map((nick) => nick.replace(/^[@+]/, '')).sort(), [
    'channelserv',
    'em-bot',
    'worker',
  ]);
  t.notOk((await names(room)).includes('@worker'));
  for (const one of [stranger!, friend!]) {
    await one.waitUntil(() => one.raw.some((line) => line.includes(` KICK ${room} ${one.nick} :`)));
    t.notOk(one.raw.some((line) => line.includes('Secret')));
  }
  // invited before by the one who ruled it, and not there yet
  for (const one of [stranger!, friend!, late!])
    t.match((await one.ask(`JOIN ${room} key`)).join(), / 473 /, one.nick);
  t.notOk(
    worker!.raw.some((line) => line.includes('send your wallet')),
    'nor is what they said shown',
  );
  await post('submission.received', { id: 'early002-1' });
  await worker!.waitFor(({ channel, text }) => channel === room && text.includes('[SUBMITTED]'));
});

t.test('CHAN-90 an open room is everybody’s, and not of who made it first', async (t) => {
  const { agent, post, names, modes, witness } = await stage(t);
  const [stranger, guest, reader] = await Promise.all(
    ['stranger', 'guest', 'reader'].map((nick) => agent(nick)),
  );
  const room = '#city-porto';
  await stranger!.join(room);
  await guest!.join(room);
  await stranger!.ask(`MODE ${room} +v guest`);
  await prepare(stranger!, room, []);
  await post('task.published', { id: 'open0001-1', title: 'Photo', location: 'Porto' });
  await guest!.waitFor(({ channel, text }) => channel === room && text.includes('Photo'));
  t.equal(await modes(room), 'HPnt 100:1d');
  for (const flag of ['b', 'e', 'I'] as const) t.same(await listOf(witness, room, flag), [], `+${flag}`);
  const there = await names(room);
  t.ok(there.includes('stranger') && there.includes('guest'), there.join(' '));
  await reader!.join(room);
  await reader!.waitUntil(() => reader!.replayed.length > 0);
  t.notOk(reader!.raw.some((line) => line.includes('send your wallet')));
});

t.test('CHAN-91 in a managed channel only those are operators whom the service made so', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t, { extraConfig: everyList })]);
  const recorded: string[] = [];
  const keeper = await startKeeper(t, { nats, ircd }, { masksIn: async () => recorded });
  const witness = await operatorOn(t, ircd);
  const user = async (nick: string) => {
    const one = await observe(ircd.port, { nick, password: ircd.serverPassword });
    t.teardown(() => one.stop());
    return one;
  };
  const [ann, mallory] = await Promise.all(['ann', 'mallory', 'em-bot'].map(user));
  const room = '#den';
  const made = creation(room, { type: 'special', modes: '+nt', invite_list: ['em-bot'] });
  await keeper.channels.create(made, asker);
  await ann!.join(room);
  await mallory!.join(room);
  const names = async () =>
    (await witness.ask(`NAMES ${room}`))
      .filter((line) => / 353 /.test(line))
      .flatMap((line) => line.split(' :').at(-1)!.trim().split(' '))
      .sort();
  const operator = { name: room, action: 'op' as const, nicks: ['ann'], reason: '' };
  t.match(await keeper.channels.members(operator, asker), { successful: ['ann'] });
  const act = createEnforcement(keeper.log);
  const who = { channel: room, nick: 'spammer', host: 'spam@203.0.113.9', text: 'Attack' };
  const ours: string[] = [];
  for (const kind of ['ban', 'quiet'] as const) {
    const done = await act({ act: kind, ...who, sparing: ['em-bot', 'channelserv'] });
    t.match(done, { is: 'done' });
    const { mask } = done as { mask: string };
    recorded.push(mask);
    ours.push(`${mask} channelserv`);
  }
  const spared = await listOf(witness, room, 'e');
  t.equal(spared.length, 4);

  await t.test('somebody who is made one by others', async (t) => {
    await witness.ask(`SAMODE ${room} +q mallory`);
    await eventually('mallory to have lost the rights', async () => (await names()).includes('mallory'));
    const isClean = async () => (await listOf(witness, room, 'b')).length === ours.length;
    await eventually('the lists to be ours', isClean);
    t.same((await listOf(witness, room, 'b')).sort(), [...ours].sort(), 'what moderation set has stayed');
    t.same((await listOf(witness, room, 'e')).sort(), spared.sort());
    t.same(await names(), ['@ann', '@channelserv', 'em-bot', 'mallory']);
  });

  await t.test('somebody who uses the rights at once and gives them back', async (t) => {
    const before = keeper.logged.length;
    const lines = [
      `SAMODE ${room} +o mallory`,
      `SAMODE ${room} +beI em-bot!*@* *!*@127.* mallory!*@*`,
      `SAMODE ${room} +Cik key`,
      `SAMODE ${room} -o mallory`,
    ];
    await witness.ask(...lines);
    const isDone = () =>
      keeper.logged
        .slice(before)
        .some(({ msg, changed }) => msg === 'channel looked after' && /masks/.test(String(changed)));
    await eventually('the channel to be looked after', isDone);
    t.same((await listOf(witness, room, 'b')).sort(), [...ours].sort());
    t.same((await listOf(witness, room, 'e')).sort(), spared.sort());
    t.same(await listOf(witness, room, 'I'), []);
    t.match((await witness.ask(`MODE ${room}`)).join(), / 324 witness #den :?\+HPnt /);
  });

  await t.test('the server and the bot begin again', async (t) => {
    await eventually('the server to have saved it', async () => {
      // it saves what is permanent every five seconds
      const saved = await readFile(`${ircd.dir}/permchannels.conf`, 'utf8').catch(() => '');
      return saved.includes('#den') && saved.includes('203.0.113.9');
    });
    await ircd.kill();
    await ircd.start();
    await reconciled(keeper, 2);
    await operatorAgain(witness, ircd);
    const masks = (lines: readonly string[]) => lines.map((line) => line.split(' ')[0]!).sort();
    const bans = await listOf(witness, room, 'b');
    t.ok(masks(ours).every((mask) => masks(bans).includes(mask)));
    t.notMatch(bans.join(), /channelserv/, 'the server has forgotten who set them');
    await eventually('mallory', async () => (await witness.ask('ISON mallory')).join().includes('mallory'));
    const bad = ['em-*!*@*', 'em-bot!*@*', '*!*@203.0.113.10'];
    await witness.ask(`SAJOIN mallory ${room}`, `SAMODE ${room} +qbbb mallory ${bad.join(' ')}`);
    const isClean = async () => {
      const bans = masks(await listOf(witness, room, 'b'));
      return !bad.some((mask) => bans.includes(mask));
    };
    await eventually('the lists to be ours', isClean);
    t.same(masks(await listOf(witness, room, 'b')), masks(ours));
  });
});

async function operatorAgain(
  witness: Observer,
  { operName, operPassword }: { operName: string; operPassword: string },
): Promise<void> {
  await witness.waitUntil(() => witness.connected, 'the witness to be back');
  await witness.ask(`OPER ${operName} ${operPassword}`);
}

t.test('CHAN-92 a room that was lost and made again by somebody else is ours again', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t, { extraConfig: everyList })]);
  const witness = await operatorOn(t, ircd);
  const first = await startKeeper(t, { nats, ircd }, { bots: ['em-bot'] });
  const user = async (nick: string, host: string) => {
    const one = await observe(ircd.port, { nick, host });
    t.teardown(() => one.stop());
    return one;
  };
  const [ann, mallory, late] = await Promise.all([
    user('ann', '127.0.1.1'),
    user('mallory', '127.0.1.2'),
    user('late', '127.0.1.3'),
  ]);
  const room = '#task-lost';
  await first.channels.create(creation(room, { invite_list: ['ann'], topic: 'Ours' }), asker);
  await first.stop();
  await witness.ask(`SAMODE ${room} -P`, `SAKICK ${room} ann :the server has lost it`);
  await mallory.join(room);
  await mallory.ask(`MODE ${room} +e *!*@127.0.1.*`, `MODE ${room} +I *!*@127.0.1.*`, `INVITE late ${room}`);
  await mallory.ask(`INVITE ann ${room}`);
  await ann.join(room);
  await mallory.ask(`MODE ${room} -o mallory`);
  const { log, read } = first;
  const second = await startKeeper(t, { nats, ircd }, { log, read, bots: ['em-bot'] });
  t.match(second.logged, [{}]);
  const modes = (await witness.ask(`MODE ${room}`)).join();
  t.match(modes, / \+HPinst /);
  for (const flag of ['b', 'e', 'I'] as const) t.same(await listOf(witness, room, flag), [], `+${flag}`);
  for (const one of [mallory, late]) t.match((await one.ask(`JOIN ${room}`)).join(), / 473 /, one.nick);
  const there = async () => (await witness.ask(`NAMES ${room}`)).join();
  await eventually('who is invited to be back', async () => /\bann\b/.test(await there()));
  t.notMatch(await there(), /mallory|late|@ann/);
});

t.test('CHAN-92 a room that one of our bots is about to make is no stranger’s', async (t) => {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const keeper = await startKeeper(t, { nats, ircd }, { bots: ['em-bot'] });
  const bot = await observe(ircd.port, { nick: 'em-bot', password: ircd.serverPassword });
  t.teardown(() => bot.stop());
  await bot.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
  const room = '#task-made';
  await bot.join(room);
  const created = keeper.channels.create(creation(room, { invite_list: ['em-bot'] }), asker);
  await bot.waitUntil(() =>
    bot.raw.some((line) => line.includes(`:channelserv!`) && line.includes(' JOIN ')),
  );
  await bot.ask(`SAMODE ${room} +P`);
  await created;
  t.notOk(
    bot.raw.some((line) => / (?:KICK|PART) #task-made/.test(line)),
    'it stays in it',
  );
  t.match((await bot.ask(`MODE ${room}`)).join(), / \+HPinst /);
});
