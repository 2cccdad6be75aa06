import t from 'tap';
import { market } from '../../streams/events/index.js';
import { eventually } from '../support/eventually.js';
import { startTcpRelay } from '../support/tcp-relay.js';
import { drafts, Stage } from './stage.js';

t.jobs = 3; // they mostly wait: for silence, for registration, for the end of a time to live

t.test(
  'QUEUE-15 QUEUE-11 QUEUE-06 ten cuts and three half-open connections under load',
  { timeout: 240_000 },
  async (t) => {
    const stage = await Stage.open(t, 24);
    const relay = await startTcpRelay(t, stage.irc.port);
    const worker = await stage.start({ ircUrl: relay.url, confirmTimeoutMs: 5_000 });
    const events = drafts('e', 14_000, stage.channels);
    const lines = events.reduce((sum, { channels }) => sum + channels.length, 0);
    await stage.publish(...events);
    for (let fault = 1; fault <= 13; fault++) {
      await stage.seen((lines * fault) / 14);
      // the witness may read the lines of two faults at once: each is to hit a session of its own
      await eventually(`session ${fault}`, () => worker.irc.session()?.id === fault);
      if (fault % 4 === 0) relay.freeze();
      else relay.cut();
    }
    await stage.settled();
    relay.thaw(); // what a frozen connection held comes out now: it must have been fenced off
    t.equal(relay.connections, 14);
    t.comment(`${stage.outcomes.fromHistory} lines found in histories`);
    t.same(stage.outcomes.of('attempt.failed'), [], 'a lost connection is no failure');
    await stage.judge(t);
  },
);

t.test('QUEUE-10 the IRC server stands still for eight seconds', { timeout: 240_000 }, async (t) => {
  const stage = await Stage.open(t, 20);
  await stage.start();
  await stage.publish(...drafts('before', 2_000, stage.channels));
  await stage.seen(1_000);
  stage.irc.pause();
  const until = Date.now() + 8_000;
  await stage.publish(...drafts('meanwhile', 1_000, stage.channels));
  await eventually('eight seconds to pass', () => Date.now() >= until);
  stage.irc.resume();
  await stage.settled();
  t.same(stage.outcomes.of('attempt.failed'), [], 'no failed attempt');
  await stage.judge(t);
});

t.test(
  'QUEUE-10 QUEUE-05 IRC is away from the start: events expire, later ones are shown',
  { timeout: 240_000 },
  async (t) => {
    const stage = await Stage.open(t, 20);
    const relay = await startTcpRelay(t, stage.irc.port);
    relay.refuse(true);
    // long enough for the lines of 500 events after the connection, also where the machine is slow
    const worker = await stage.start({ ircUrl: relay.url, ttlMs: 30_000 });
    await stage.publish(...drafts('early', 3_000, stage.channels));
    await stage.settled();
    t.equal(stage.outcomes.of('event.expired').length, 3_000);
    t.match(stage.outcomes.of('event.expired', 'early4'), [
      { delivered: [], undelivered: stage.events.get('early4')!.channels },
    ]);
    await eventually('everything to be off its hands', () => worker.deliver.inHand === 0);
    const late = drafts('late', 500, stage.channels);
    await stage.publish(...late);
    relay.refuse(false);
    await stage.settled();
    t.same(stage.outcomes.of('attempt.failed'), [], 'none is a failed attempt');
    t.same(stage.outcomes.of('event.dead_lettered'), []);
    await stage.judge(t, { unless: (id) => id.startsWith('early') });

    await stage.redrive('early7');
    await stage.outcomes.end('early7');
    t.equal(stage.outcomes.ended.get('early7'), 'delivered', 'QUEUE-07 a redrive has a fresh time to live');
    await worker.stop();
    await stage.publish({ id: 'stale', channels: stage.channels });
    const { at } = (await stage.log.at(market, stage.events.get('stale')!.seq))!;
    await eventually('it to be too old', () => Date.now() - at.getTime() > 2_000);
    await stage.start({ ttlMs: 2_000 });
    await stage.outcomes.end('stale');
    t.equal(
      stage.outcomes.ended.get('stale'),
      'expired',
      'what is too old at the start is not shown any more',
    );
  },
);
