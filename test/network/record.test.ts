import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.js';
import { type Observer, observe } from '../support/irc-observer.js';
import { startIrcd, type TestIrcd } from '../support/ircd.js';
import { startTcpRelay } from '../support/tcp-relay.js';
import { created, Stage } from './stage.js';

// each on servers of its own, and most of it is waiting
t.jobs = 3;

const placeOf = (ircd: TestIrcd) => ({
  url: ircd.url,
  password: ircd.serverPassword,
  oper: { name: ircd.operName, password: ircd.operPassword },
});

/** Somebody on the network with operator state, who does things. */
async function person(t: Test, ircd: TestIrcd, nick = 'alice'): Promise<Observer> {
  const observer = await observe(ircd.port, { nick, password: ircd.serverPassword });
  t.teardown(() => observer.stop());
  await observer.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
  return observer;
}

t.test('IRC-01 IRC-07 what is said and done is recorded in order', async (t) => {
  const [stage, ircd] = await Promise.all([Stage.open(t), startIrcd(t)]);
  const alice = await person(t, ircd);
  await alice.join('#lobby');
  await stage.record(['#Lobby'], placeOf(ircd));
  const snapshot = await stage.entered('#lobby');
  t.match(snapshot, { modes: 'HPnt', topic: 'The place to meet. Agents and people are welcome.' });
  t.same(new Set((snapshot as { members: string[] }).members), new Set(['alice', 'relay']));

  const bob = await person(t, ircd, 'bob');
  await bob.join('#lobby');
  await bob.ask(
    'PRIVMSG #lobby :hello \x02all',
    'PRIVMSG #LOBBY :\x01ACTION waves\x01',
    'NOTICE #lobby :a notice',
  );
  await bob.ask('SATOPIC #lobby :new topic', 'SAMODE #lobby +io bob', 'NICK rob');
  await bob.ask('AWAY :at lunch', 'AWAY :at lunch', 'NICK bobby', 'AWAY', 'NICK rob');
  await bob.ask('KICK #lobby alice :enough');
  await alice.ask('SAJOIN alice #lobby');
  await alice.ask('PART #lobby :bye');
  await bob.stop();
  await stage.untilRecorded('the end', ({ is }) => is === 'quit');
  const after = stage.of('#lobby').slice(stage.of('#lobby').findIndex(({ is }) => is === 'snapshot') + 1);
  t.match(after, [
    { is: 'join', nick: 'bob', host: /^\S+@127\.0\.0\.1$/ },
    { is: 'message', nick: 'bob', text: 'hello \x02all', msgid: /\S/, host: /@/ },
    { is: 'action', nick: 'bob', text: 'waves' },
    { is: 'notice', nick: 'bob', text: 'a notice' },
    { is: 'topic', nick: 'bob', text: 'new topic' },
    { is: 'mode', change: '+io bob', modes: 'HPint' },
    { is: 'nick', nick: 'bob', to: 'rob' },
    { is: 'away', nick: 'rob', message: 'at lunch' },
    { is: 'nick', nick: 'rob', to: 'bobby' },
    { is: 'away', nick: 'bobby', message: 'at lunch' },
    { is: 'away', nick: 'bobby', message: undefined },
    { is: 'nick', nick: 'bobby', to: 'rob' },
    { is: 'kick', nick: 'rob', kicked: 'alice', reason: 'enough' },
    { is: 'join', nick: 'alice' },
    { is: 'part', nick: 'alice', reason: 'bye' },
    { is: 'quit', nick: 'rob' },
  ]);
  t.equal(after.length, 16, 'and nothing else');
  const times = after.map(({ at }) => at);
  t.same(
    times,
    [...times].sort((a, b) => a - b),
  );
  t.ok(Math.abs(times[0]! - Date.now()) < 60_000);
  t.same(stage.gaps('#lobby'), []);
});

t.test('IRC-02 IRC-07 managed channels come and go; who kicks the recorder sees it again', async (t) => {
  const [stage, ircd] = await Promise.all([Stage.open(t), startIrcd(t)]);
  const alice = await person(t, ircd);
  await alice.join('#task-open', '#task-shut');
  await alice.ask('SAMODE #task-shut +i');
  await stage.manage(created('#task-open'));
  const recorder = await stage.record([], placeOf(ircd));
  await stage.entered('#task-open');
  await stage.manage(created('#task-shut'));
  t.match(await stage.entered('#task-shut'), { modes: /i/ });
  await alice.ask('PRIVMSG #task-shut :secret', 'SAMODE #task-open +o alice', 'KICK #task-open relay :out');
  await stage.said('#task-shut', 'secret');
  await stage.entered('#task-open', 2);
  t.match(
    stage.of('#task-open').filter(({ is }) => is === 'kick' || is === 'left'),
    [
      { is: 'kick', kicked: 'relay' },
      { is: 'left', reason: 'out' },
    ],
  );

  await stage.manage({ type: 'channel.deleted', data: { name: '#task-open', cause: 'request' } });
  await alice.waitUntil(() => alice.raw.some((line) => /:relay!\S+ PART :?#task-open/.test(line)));
  await stage.untilRecorded(
    'it to be left',
    ({ is, channel }) => is === 'left' && channel === '#task-open',
    2,
  );
  t.equal(recorder.worker.rooms, 1);

  await recorder.stop();
  await stage.manage({ type: 'channel.deleted', data: { name: '#task-shut', cause: 'request' } });
  await stage.record([], placeOf(ircd));
  await stage.untilRecorded(
    'the other one too',
    ({ is, channel }) => is === 'left' && channel === '#task-shut',
  );
});

t.test('IRC-03 what was said while nobody recorded comes from the history', async (t) => {
  const [stage, ircd] = await Promise.all([Stage.open(t), startIrcd(t)]);
  const alice = await person(t, ircd);
  await alice.join('#lobby', '#bounties');
  await alice.ask('SAMODE #bounties +v alice', 'PRIVMSG #lobby :before anybody came');
  const first = await stage.record(['#lobby', '#bounties'], placeOf(ircd));
  await stage.said('#lobby', 'before anybody came');
  await alice.ask('PRIVMSG #lobby :one', 'PRIVMSG #bounties :feed');
  await stage.said('#lobby', 'one');

  await first.stop();
  await alice.ask('PRIVMSG #lobby :two', 'NOTICE #lobby :three', 'PRIVMSG #lobby :\x01ACTION four\x01');
  const relay = await startTcpRelay(t, ircd.port);
  const second = await stage.record(['#lobby', '#bounties'], { ...placeOf(ircd), url: relay.url });
  await stage.entered('#lobby', 2);
  await alice.ask('PRIVMSG #lobby :five');
  await stage.said('#lobby', 'five');

  relay.cut();
  await alice.ask('PRIVMSG #lobby :six');
  await stage.entered('#lobby', 3);
  await alice.ask('PRIVMSG #lobby :seven');
  await stage.said('#lobby', 'seven');
  await stage.entered('#bounties', 3);
  const texts = ['before anybody came', 'one', 'two', 'three', 'four', 'five', 'six', 'seven'];
  t.same(stage.texts('#lobby'), texts);
  t.same(stage.texts('#bounties'), ['feed']);
  t.same([...stage.gaps('#lobby'), ...stage.gaps('#bounties')], []);
  t.match(
    stage.of('#lobby').find((one) => 'text' in one && one.text === 'four'),
    { is: 'action', nick: 'alice' },
  );
  await second.stop();
});

t.test('IRC-04 a history that is gone or too short leaves a gap with its times', async (t) => {
  const [stage, ircd] = await Promise.all([Stage.open(t), startIrcd(t)]);
  const alice = await person(t, ircd);
  await alice.join('#lobby');
  const first = await stage.record(['#lobby'], placeOf(ircd));
  await stage.entered('#lobby');
  await alice.ask('PRIVMSG #lobby :known');
  const { at } = await stage.said('#lobby', 'known');
  await first.stop();
  for (let n = 0; n < 12; n++) {
    await alice.ask(...Array.from({ length: 10 }, (_, k) => `PRIVMSG #lobby :missed ${n * 10 + k}`));
  }
  const second = await stage.record(['#lobby'], placeOf(ircd));
  await stage.entered('#lobby', 2);
  t.equal(stage.texts('#lobby').length, 101, 'what the history had');
  t.equal(stage.texts('#lobby').at(-1), 'missed 119');
  const [gap] = stage.gaps('#lobby') as ((typeof stage.recorded)[number] & { is: 'gap' })[];
  t.ok(gap && gap.from >= at && gap.from < gap.to && gap.to <= Date.now(), JSON.stringify(gap));

  await ircd.kill();
  await ircd.start();
  await stage.entered('#lobby', 3);
  t.match(stage.gaps('#lobby'), [{}, { from: Number }], 'the server has forgotten, and was away');
  t.equal(stage.gaps('#lobby').length, 2);
  t.equal(stage.texts('#lobby').length, 101);
  await second.stop();
});

t.test('IRC-05 while the log is away what is seen is held, up to a bound', async (t) => {
  const [stage, ircd] = await Promise.all([Stage.open(t), startIrcd(t)]);
  const alice = await person(t, ircd);
  await alice.join('#lobby');
  const recorder = await stage.record(['#lobby'], placeOf(ircd), { maxWaitingBytes: 20_000 });
  await stage.entered('#lobby');
  await stage.nats.kill();
  const say = (from: number, count: number) =>
    alice.ask(...Array.from({ length: count }, (_, n) => `PRIVMSG #lobby :${from + n} ${'x'.repeat(50)}`));
  await say(0, 10);
  await stage.nats.start();
  await eventually('ten lines', () => stage.texts('#lobby').length === 10);
  t.same(stage.gaps('#lobby'), []);

  await stage.nats.kill();
  await eventually('the connection to be lost', () => !recorder.log.connected);
  for (let from = 100; from < 300; from += 20) await say(from, 20);
  await stage.nats.start();
  await eventually('the last line', () => stage.texts('#lobby').at(-1)?.startsWith('299 '));
  const numbers = stage.texts('#lobby').map((text) => Number(text.split(' ')[0]));
  t.same(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
    'in order and once',
  );
  t.equal(stage.gaps('#lobby').length, 1);
  t.ok(numbers.length < 150, `${numbers.length} of 210 lines are left`);
  const gapAt = stage.of('#lobby').findIndex(({ is }) => is === 'gap');
  t.match(stage.of('#lobby')[gapAt + 1], { is: 'message' });
});

/** A server tells its age in whole seconds: of a younger one a restart cannot be ruled out, and a gap would be right. */
async function threeSecondsUp(somebody: Observer): Promise<void> {
  await eventually('the server to be up for three seconds', async () => {
    const told = (await somebody.ask('STATS u')).join('\n');
    return /Server up \d+ days/.test(told) && !/Server up 0 days, 0+:00:0[0-2]/.test(told);
  });
}

t.test('IRC-06 two recorders record each line once', async (t) => {
  const [stage, ircd] = await Promise.all([Stage.open(t), startIrcd(t)]);
  const alice = await person(t, ircd);
  await alice.join('#lobby');
  await threeSecondsUp(alice);
  const texts: string[] = [];
  const say = async () => {
    texts.push(`line ${texts.length}`);
    await alice.ask(`PRIVMSG #lobby :${texts.at(-1)}`);
  };
  const first = await stage.record(['#lobby'], placeOf(ircd));
  await stage.entered('#lobby');
  // both listen, and what each records the other has seen too
  const other = await stage.record(['#lobby'], placeOf(ircd), { nick: 'relay2' });
  await alice.waitUntil(() => alice.raw.some((line) => /:relay2!\S+ JOIN/.test(line)));
  for (let n = 0; n < 40; n++) await say();
  await stage.said('#lobby', 'line 39');
  // whoever was left is gone: the one that had given way looks for what was missed
  await Promise.all([first.stop(), other.stop()]);
  for (let n = 0; n < 10; n++) await say();
  // a new one under the old nick, which ends the session of the one before it
  await stage.record(['#lobby'], placeOf(ircd));
  await stage.said('#lobby', 'line 49');
  await stage.record(['#lobby'], placeOf(ircd));
  await alice.waitUntil(() => alice.raw.some((line) => /:relay!\S+ QUIT :Killed/.test(line)));
  for (let n = 0; n < 10; n++) await say();
  await stage.said('#lobby', 'line 59');
  t.same(stage.texts('#lobby'), texts);
  t.same(stage.gaps('#lobby'), []);
});

t.test('IRC-08 five thousand channels', async (t) => {
  const [stage, ircd] = await Promise.all([Stage.open(t), startIrcd(t)]);
  const names = Array.from({ length: 5_000 }, (_, n) => `#room-${n}`);
  const recorder = await stage.record(names, placeOf(ircd));
  await stage.untilRecorded('all channels to be recorded', ({ is }) => is === 'snapshot', 5_000);
  t.equal(recorder.worker.rooms, 5_000);
  const alice = await person(t, ircd);
  await alice.join('#room-4999');
  await alice.ask('PRIVMSG #room-4999 :the last one');
  t.match(await stage.said('#room-4999', 'the last one'), { nick: 'alice' });
});
