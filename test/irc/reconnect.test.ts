import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { Session } from '../../workers/irc/session.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startTcpRelay } from '../support/tcp-relay.js';
import { credentials, joinOne, startBot, until } from './bot.js';

t.test('a half-open session is fenced off: what it still holds is never shown', async (t) => {
  const ircd = await startIrcd(t);
  const relay = await startTcpRelay(t, ircd.port);
  const witness = await observe(ircd.port, {
    nick: 'witness',
    password: ircd.serverPassword,
    channels: ['#a', '#b'],
  });
  t.teardown(() => witness.stop());
  const bot = startBot(t, { ...credentials(ircd), url: relay.url, confirmTimeoutMs: 1_000 });
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
  relay.thaw();
  const { history } = await joinOne(second, '#a', true);
  t.equal(history, null, 'the witness made this channel, without history');
  await delay(300);
  t.match(await second.say('#a', 'again', 'evt-1'), { is: 'confirmed' });
  await witness.waitFor((line) => line.text === 'again');
  t.same(witness.texts('#a'), ['before', 'again']);
  t.same(witness.texts('#b'), []);
});

t.test('an idle half-open connection is found within 10 s', async (t) => {
  const ircd = await startIrcd(t);
  const relay = await startTcpRelay(t, ircd.port);
  const bot = startBot(t, { ...credentials(ircd), url: relay.url });
  await bot.session();
  relay.freeze();
  const began = performance.now();
  await until(() => bot.lost.length > 0, 12_000, 'the loss to be noticed');
  const ms = performance.now() - began;
  t.ok(ms <= 10_000, `noticed after ${Math.round(ms)} ms`);
  t.same(bot.lost, ['the server is silent']);
});

t.test('QUEUE-14 after a kill -9 the bot is back soon after its server', async (t) => {
  const ircd = await startIrcd(t);
  const bot = startBot(t, credentials(ircd));
  const first = await bot.session();
  await joinOne(first, '#a');
  await ircd.kill('SIGKILL');
  await until(() => first.lost.aborted, 2_000, 'the loss');
  t.match(bot.connection.status(), { connected: false, oper: false, nick: 'em-bot', lastError: String });
  t.equal(bot.connection.session(), undefined);
  await delay(2_500);
  await ircd.start();
  const began = performance.now();
  const second = await bot.session(2, 10_000);
  const ms = performance.now() - began;
  t.ok(ms <= 3_200, `back ${Math.round(ms)} ms after the server answered`);
  t.equal(second.oper, true);
  t.equal(second.isIn('#a'), false, 'nothing of the old session is left');
  t.match(await joinOne(second, '#a', true), { status: 'voice' });
  t.match(await second.say('#a', 'back'), { is: 'confirmed' });
});

t.test('a server that is frozen is lost, and found again when it goes on', async (t) => {
  const ircd = await startIrcd(t);
  const bot = startBot(t, { ...credentials(ircd), confirmTimeoutMs: 1_000 });
  const first = await bot.session();
  await joinOne(first, '#a');
  ircd.pause();
  t.teardown(() => ircd.resume());
  const began = performance.now();
  t.same(await first.say('#a', 'into the ice', 'evt-1'), { is: 'lost', written: true });
  const ms = performance.now() - began;
  t.ok(ms < 2_000, `told after ${Math.round(ms)} ms`);
  t.same(bot.lost, ['the server does not answer']);
  // Longer than one attempt may take, so that a second one is under way when the server wakes up.
  await delay(11_500);
  t.equal(bot.connection.session(), undefined);
  t.match(bot.connection.status(), { connected: false, lastError: /not registered within/ });
  ircd.resume();
  const second = await bot.session(2, 6_000);
  t.equal(second.nick, 'em-bot');
  const { history } = await joinOne(second, '#a', true);
  // The server may or may not have read the line before it saw the old connection's end; its history knows.
  t.comment(`the line in doubt was ${history?.lines.length ? 'shown' : 'not shown'}`);
  t.ok((history?.lines.length ?? 0) <= 1);
});

t.test(
  'QUEUE-15 cuts and freezes under load: history settles each doubt',
  { timeout: 120_000 },
  async (t) => {
    const ircd = await startIrcd(t);
    const relay = await startTcpRelay(t, ircd.port);
    const channels = Array.from({ length: 30 }, (_, i) => `#load-${i}`);
    const perChannel = 400;
    const rounds = 10;
    const bot = startBot(t, { ...credentials(ircd), url: relay.url, confirmTimeoutMs: 1_000 });
    await (await bot.session()).join(channels, { history: false });
    const witness = await observe(ircd.port, { nick: 'witness', password: ircd.serverPassword, channels });
    t.teardown(() => witness.stop());

    const total = channels.length * perChannel;
    const next = new Map(channels.map((channel) => [channel, 0]));
    const doubts = new Map<string, number>();
    const count = { inDoubt: 0, shown: 0 };
    const done = () => [...next.values()].reduce((sum, n) => sum + n, 0);

    async function lane(session: Session, channel: string) {
      for (let n = next.get(channel)!; n < perChannel; n = next.get(channel)!) {
        const outcome = await session.say(channel, `${channel} ${n}`, `${channel}/${n}`);
        if (outcome.is === 'confirmed') next.set(channel, n + 1);
        else if (outcome.is === 'lost') {
          if (outcome.written) doubts.set(channel, n);
          return;
        } else throw new Error(JSON.stringify(outcome));
        // Slow enough that every fault finds lines under way.
        if (n % 8 === 0) await delay(5);
      }
    }

    async function reconcile(session: Session): Promise<void> {
      const outcomes = await session.join(channels, { history: true });
      for (const [channel, n] of doubts) {
        const outcome = outcomes.get(channel)!;
        if (outcome.is !== 'joined' || !outcome.history) throw new Error(JSON.stringify(outcome));
        count.inDoubt += 1;
        if (!outcome.history.lines.some(({ tag }) => tag === `${channel}/${n}`)) continue;
        count.shown += 1;
        next.set(channel, n + 1);
      }
      doubts.clear();
    }

    let faults = 0;
    for (let n = 1; done() < total; n++) {
      const session = await bot.session(n, 20_000);
      if (n > 1) await reconcile(session);
      const lanes = Promise.all(channels.map((channel) => lane(session, channel)));
      const target = Math.min(total, (total / (rounds + 1)) * n);
      while (done() < target && !session.lost.aborted) await delay(1);
      if (done() < total && !session.lost.aborted) {
        faults += 1;
        if (n % 3 === 0) relay.freeze();
        else relay.cut();
      }
      await lanes;
      if (n % 3 === 0) setTimeout(() => relay.thaw(), 1_500);
    }
    t.comment(`${faults} faults, ${count.inDoubt} lines in doubt, ${count.shown} of them had been shown`);
    t.ok(faults >= rounds, 'every fault has struck');
    t.ok(count.inDoubt > 0, 'lines were in doubt');
    const seen = () => witness.lines.filter(({ nick }) => nick === 'em-bot').length;
    await witness.waitUntil(() => seen() >= total, 5_000, `${total} lines`);
    await witness.ask();
    t.equal(seen(), total, 'lost 0, twice 0');
    const wrong = channels.filter((channel) =>
      witness.texts(channel).some((text, n) => text !== `${channel} ${n}`),
    );
    t.same(wrong, [], 'out of order 0');
  },
);

t.test('after a KILL it comes back, at most once a second', async (t) => {
  const ircd = await startIrcd(t);
  const relay = await startTcpRelay(t, ircd.port);
  const bot = startBot(t, { ...credentials(ircd), url: relay.url });
  await bot.session();
  const killer = await observe(ircd.port, { nick: 'killer', password: ircd.serverPassword });
  t.teardown(() => killer.stop());
  await killer.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
  const began = performance.now();
  await killer.ask('KILL em-bot :begone');
  await bot.session(2);
  t.match(bot.lost[0], /begone/);
  const once = performance.now() - began;
  await killer.ask('KILL em-bot :begone again');
  await bot.session(3);
  const seconds = (performance.now() - began) / 1_000;
  t.ok(relay.connections <= 1 + seconds, `${relay.connections} connections, ${seconds.toFixed(1)} s`);
  t.ok(seconds * 1_000 - once > once - 1_000, 'the second wait is no shorter than the first');
  t.ok(bot.logged.some((line) => line.rejected === true));
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
  t.ok(impatient.logged.some((line) => line.msg === 'irc nick not to be had' && line.spare === spare.nick));
  t.match(impatient.connection.status(), { connected: true, nick: spare.nick });
  await joinOne(spare, '#a');
  t.match(await spare.say('#a', 'x'.repeat(600)), { is: 'confirmed' });
  t.equal(patient.sessions.length, 0, 'silent while the nick is not its own');
  t.match(patient.connection.status(), { connected: true, nick: /^em-bo_/ });
  await holder.stop();
  await until(
    () => patient.sessions.length > 0 || spare.nick === 'em-bot',
    12_000,
    'one of them to get the nick',
  );
  const owners = [...patient.sessions, spare].filter(({ nick }) => nick === 'em-bot');
  t.equal(owners.length, 1);
  t.equal(spare.lost.aborted, false, 'a session goes on when it gets its own nick');
});

t.test('stopping is bounded and leaves nothing behind', async (t) => {
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
  let began = performance.now();
  await frozen.connection.stop();
  t.ok(performance.now() - began < 1_500, 'a frozen server does not hold it up');

  const trying = startBot(t, credentials(ircd));
  await delay(300);
  began = performance.now();
  await trying.connection.stop();
  t.ok(performance.now() - began < 200, 'nor one that does not register it');
  ircd.resume();

  const waiting = startBot(t, { ...credentials(ircd), url: 'irc://127.0.0.1:9' });
  await delay(400);
  began = performance.now();
  await waiting.connection.stop();
  t.ok(performance.now() - began < 200, 'nor the pause between attempts');
  t.equal(waiting.sessions.length, 0);

  const never = startBot(t, credentials(ircd));
  const stopped = never.connection.stop();
  await stopped;
  t.equal(never.connection.session(), undefined);
});
