import t from 'tap';
import { Unavailable } from '../../streams/core/index.js';
import { delivery, deliveryDecider } from '../../streams/delivery/index.js';
import { eventToken } from '../../streams/events/index.js';
import { eventually } from '../support/eventually.js';
import { drafts, Stage } from './stage.js';

const seconds = (from: Date, to: Date) => (to.getTime() - from.getTime()) / 1_000;

t.test('one channel refuses', { timeout: 240_000 }, async (t) => {
  const stage = await Stage.open(t, 20);
  const [refusing, open] = stage.channels as [string, string];
  const others = stage.channels.slice(1);
  const { witness, outcomes } = stage;
  const worker = await stage.start({ oper: false, retryMs: 1_000 });
  await stage.publish({ id: 'warm', channels: stage.channels });
  await outcomes.end('warm');

  t.test(
    'QUEUE-18 QUEUE-04 QUEUE-02 QUEUE-03 QUEUE-09 only it is tried again, three times in all',
    async (t) => {
      await witness.ask(`MODE ${refusing} +m`);
      await stage.publish(
        { id: 'first', channels: [refusing, open] },
        { id: 'second', channels: [refusing] },
        { id: 'third', channels: [refusing, open] },
      );
      await stage.publish(...drafts('beside', 1_000, others));
      await outcomes.end('first');
      const beside = () =>
        [...stage.events.keys()].every((id) => !id.startsWith('beside') || outcomes.ended.has(id));
      await outcomes.until(beside, 'the other channels to be served');
      const ended = [...outcomes.ended.keys()];
      const before = ended.slice(0, ended.indexOf('first')).filter((id) => id.startsWith('beside'));
      t.not(before.length, 0, 'they were not held up');
      const failures = outcomes.of('attempt.failed', 'first');
      t.match(failures, [
        { channel: refusing, failures: 1, retry_count: 1, error: /^404/ },
        { channel: refusing, failures: 2, retry_count: 2 },
        { channel: refusing, failures: 3, retry_count: 3 },
      ]);
      const pauses = [1, 2].map((n) => seconds(failures[n - 1]!.at, failures[n]!.at));
      t.ok(
        pauses.every((pause) => pause >= 1),
        `a second apart at least: ${pauses}`,
      );
      t.match(outcomes.of('event.dead_lettered', 'first'), [
        { retry_count: 3, delivered: [open], undelivered: [refusing], last_error: /^404/ },
      ]);
    },
  );

  t.test('QUEUE-11 what waited behind it is shown in order when it is open again', async (t) => {
    await witness.ask(`MODE ${refusing} -m`);
    await outcomes.end('second');
    await outcomes.end('third');
    t.equal(outcomes.of('event.dead_lettered', 'second').length, 0);
    await stage.judge(t, { unless: (id, channel) => id === 'first' && channel === refusing });
  });

  t.test('QUEUE-07 QUEUE-06 a redrive shows what is missing, once', async (t) => {
    await stage.redrive('first');
    await outcomes.end('first');
    t.equal(outcomes.ended.get('first'), 'delivered');
    t.equal(await stage.times('first', refusing), 1);
    t.equal(await stage.times('first', open), 1);
    t.equal(outcomes.confirmed.get(`first ${open}`), 1);
    await t.rejects(stage.redrive('first'), { code: 'not_dead_lettered', status: 409 }, 'QUEUE-08');
  });

  t.test('QUEUE-07 a banned bot gives up, and a redrive begins to count anew', async (t) => {
    await witness.ask(`MODE ${refusing} +b em-bot!*@*`, `KICK ${refusing} em-bot`);
    await eventually('the bot to know', () => worker.irc.session()?.isIn(refusing) === false);
    await stage.publish({ id: 'banned', channels: [refusing, open] });
    await outcomes.end('banned');
    t.match(outcomes.of('attempt.failed', 'banned'), [{ error: /^474/ }, { failures: 2 }, { failures: 3 }]);
    await stage.redrive('banned');
    await t.rejects(stage.redrive('banned'), { code: 'not_dead_lettered' }, 'QUEUE-08 twice at once');
    await outcomes.end('banned');
    t.match(outcomes.of('attempt.failed', 'banned').slice(3), [
      { failures: 1, retry_count: 1 },
      { failures: 2 },
      { failures: 3 },
    ]);
    await stage.redrive('banned');
    await witness.ask(`MODE ${refusing} -b em-bot!*@*`);
    await outcomes.end('banned');
    t.equal(outcomes.ended.get('banned'), 'delivered');
    t.equal(await stage.times('banned', refusing), 1);
    t.equal(await stage.times('banned', open), 1);
    await eventually('everything to be off its hands', () => worker.deliver.inHand === 0);
  });

  t.test('a bot that was only kicked comes back without a failed attempt', async (t) => {
    await witness.ask(`KICK ${open} em-bot`);
    await eventually('the bot to know', () => worker.irc.session()?.isIn(open) === false);
    await stage.publish({ id: 'kicked', channels: [open] });
    await outcomes.end('kicked');
    t.equal(outcomes.ended.get('kicked'), 'delivered');
    t.same(outcomes.of('attempt.failed', 'kicked'), []);
  });

  t.test('OPERATE-02 redeliveries of an event that wait for each other are all shown', async (t) => {
    const { log, irc, events } = stage;
    const event = { event_id: 'kicked', seq: events.get('kicked')!.seq, token: eventToken('kicked') };
    const decider = deliveryDecider({ maxRetries: 3, ttlMs: 3_600_000 });
    irc.pause();
    for (const run of ['x', 'y', 'z']) {
      const redeliver = { is: 'redeliver' as const, event, run, channels: [open] };
      await log.handle(delivery, decider, redeliver, { by: 'stage' });
    }
    await eventually('the first to be in hand', () => worker.deliver.inHand === 1);
    irc.resume();
    await eventually('three more', async () => (await stage.times('kicked', open)) === 4);
    await eventually('everything to be off its hands', () => worker.deliver.inHand === 0);
    t.equal(await stage.times('kicked', open), 4);
  });
});

t.test('a hundred channels refuse together', async (t) => {
  const warnings: Error[] = [];
  const warned = (warning: Error) => warnings.push(warning);
  process.on('warning', warned);
  t.teardown(() => process.off('warning', warned));
  const stage = await Stage.open(t, 100);
  await stage.witness.ask(...stage.channels.map((channel) => `MODE ${channel} +i`));
  await stage.start({ oper: false });
  await stage.publish(...stage.channels.map((channel, n) => ({ id: `e${n}`, channels: [channel] })));
  await stage.settled();
  t.equal(stage.outcomes.of('event.dead_lettered').length, 100);
  t.same(warnings, [], 'nothing leaks');
});

t.test('NET-14 a silent channel waits for the channel bot, and no try counts', async (t) => {
  const stage = await Stage.open(t, 2);
  const [silent, open] = stage.channels as [string, string];
  const { witness, outcomes } = stage;
  await witness.ask(`MODE ${silent} +m`);
  let asked = 0;
  let isThere = false;
  const letSpeak = async ({ nick, channel }: { nick: string; channel: string }) => {
    asked += 1;
    if (!isThere) throw new Unavailable('irc_unavailable');
    await witness.ask(`SAMODE ${channel} +v ${nick}`);
    return true;
  };
  const hands = { giveNick: async () => false as const, letIn: async () => false, letSpeak };
  await stage.start({ oper: false, hands });
  await stage.publish(
    { id: 'first', channels: [silent] },
    { id: 'beside', channels: [open] },
    { id: 'second', channels: [silent] },
  );
  await outcomes.end('beside');
  await eventually('more tries than may fail', () => asked > 3);
  isThere = true;
  await stage.settled();
  t.same(outcomes.of('attempt.failed'), []);
  await stage.judge(t);
});
