import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { Session } from '../../workers/irc/session.js';
import { observe } from '../support/irc-observer.js';
import { startIrcd } from '../support/ircd.js';
import { startTcpRelay } from '../support/tcp-relay.js';
import { credentials, joinOne, startBot, until } from './bot.js';

// each on servers of its own, and most of it is waiting
t.jobs = 3;

t.test('a server that is frozen is lost, and found again when it goes on', async (t) => {
  const ircd = await startIrcd(t);
  const bot = startBot(t, { ...credentials(ircd), confirmTimeoutMs: 3_000 });
  const first = await bot.session();
  await joinOne(first, '#a');
  ircd.pause();
  t.teardown(() => ircd.resume());
  t.same(await first.say('#a', 'into the ice', 'evt-1'), { is: 'lost', written: true });
  t.same(bot.lost, ['the server does not answer']);
  // So long that one attempt is over, and a second one under way when the server wakes up.
  const isOver = () => /not registered within/.test(bot.connection.status().lastError ?? '');
  await until(isOver, 'an attempt to be over');
  await delay(1_500);
  t.equal(bot.connection.session(), undefined);
  t.match(bot.connection.status(), { connected: false });
  ircd.resume();
  const second = await bot.session(2);
  t.equal(second.nick, 'em-bot');
  const { history } = await joinOne(second, '#a', true);
  // The server may or may not have read the line before it saw the old connection's end; its history knows.
  t.comment(`the line in doubt was ${history?.lines.length ? 'shown' : 'not shown'}`);
  t.ok((history?.lines.length ?? 0) <= 1);
});

t.test(
  'QUEUE-15 cuts and freezes under load: history settles each doubt',
  { timeout: 240_000 },
  async (t) => {
    const ircd = await startIrcd(t);
    const relay = await startTcpRelay(t, ircd.port);
    const channels = Array.from({ length: 30 }, (_, i) => `#load-${i}`);
    const perChannel = 400;
    const rounds = 10;
    const bot = startBot(t, { ...credentials(ircd), url: relay.url, confirmTimeoutMs: 3_000 });
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
      const session = await bot.session(n);
      if (n > 1) await reconcile(session);
      const lanes = Promise.all(channels.map((channel) => lane(session, channel)));
      const target = Math.min(total, (total / (rounds + 1)) * (faults + 1));
      while (done() < target && !session.lost.aborted) await delay(1);
      const isFrozen = (faults + 1) % 3 === 0;
      if (done() < total && !session.lost.aborted) {
        faults += 1;
        if (isFrozen) relay.freeze();
        else relay.cut();
      }
      await lanes;
      if (isFrozen) setTimeout(() => relay.thaw(), 1_500);
    }
    t.comment(`${faults} faults, ${count.inDoubt} lines in doubt, ${count.shown} of them had been shown`);
    t.ok(faults >= rounds, 'every fault has struck');
    t.ok(count.inDoubt > 0, 'lines were in doubt');
    const seen = () => witness.lines.filter(({ nick }) => nick === 'em-bot').length;
    await witness.waitUntil(() => seen() >= total, `${total} lines`);
    await witness.ask();
    t.equal(seen(), total, 'lost 0, twice 0');
    const wrong = channels.filter((channel) =>
      witness.texts(channel).some((text, n) => text !== `${channel} ${n}`),
    );
    t.same(wrong, [], 'out of order 0');
  },
);

t.test('after a KILL it comes back, and does not hurry', async (t) => {
  const ircd = await startIrcd(t);
  const relay = await startTcpRelay(t, ircd.port);
  const bot = startBot(t, { ...credentials(ircd), url: relay.url });
  await bot.session();
  const killer = await observe(ircd.port, { nick: 'killer', password: ircd.serverPassword });
  t.teardown(() => killer.stop());
  await killer.ask(`OPER ${ircd.operName} ${ircd.operPassword}`);
  await killer.ask('KILL em-bot :begone');
  await bot.session(2);
  t.match(bot.lost[0], /begone/);
  await killer.ask('KILL em-bot :begone again');
  await bot.session(3);
  t.equal(relay.connections, 3, 'at the first try');
  const ends = bot.logged.filter(({ msg }) => msg === 'irc connection');
  t.match(ends, [{ rejected: true }, { rejected: true }]);
  t.ok(
    ends.every(({ nextMs }) => (nextMs as number) >= 1_000),
    'the next one waits',
  );
});
