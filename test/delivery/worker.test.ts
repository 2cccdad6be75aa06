import t from 'tap';
import { eventually } from '../support/eventually.js';
import { drafts, Stage } from './stage.js';

t.test('QUEUE-09 QUEUE-11 a working queue', async (t) => {
  const stage = await Stage.open(t, 24);
  const worker = await stage.start({ retryMs: 1_500 });
  await stage.publish({ id: 'warm', channels: stage.channels });
  await stage.outcomes.end('warm');

  t.test('QUEUE-09 a line is shown at once', async (t) => {
    const times: number[] = [];
    for (let n = 0; n < 20; n++) {
      const began = performance.now();
      await stage.publish({ id: `at-once${n}`, channels: [stage.channels[n]!] });
      await stage.witness.waitFor((line) => line.text.startsWith(`at-once${n} `));
      times.push(performance.now() - began);
    }
    times.sort((a, b) => a - b);
    t.comment(`median ${times[10]!.toFixed(1)} ms, worst ${times[19]!.toFixed(1)} ms`);
    t.ok(times[10]! < 250, 'without a poll or a pause');
  });

  t.test('QUEUE-11 3,000 events over 24 channels keep their order', async (t) => {
    const before = stage.events.size;
    await stage.publish(...drafts('load', 3_000, stage.channels));
    await stage.settled();
    t.equal(stage.events.size, before + 3_000);
    await stage.judge(t);
    await eventually('everything to be off its hands', () => worker.deliver.inHand === 0);
  });

  t.test('an event for nobody is let go, a name that cannot be a channel is a dead letter', async (t) => {
    const good = stage.channels.slice(0, 2);
    const names = ['nochannel', '#two words', `#${'x'.repeat(250)}`, '#a,b'];
    const hostile = { id: 'hostile', channels: [good[0]!, ...names, good[1]!] };
    await stage.publish({ id: 'nobody', channels: [] }, hostile, ...drafts('behind', 500, stage.channels));
    await stage.outcomes.until(
      () => [...stage.events.keys()].every((id) => !id.startsWith('behind') || stage.outcomes.ended.has(id)),
      5_000,
      'the neighbours to be delivered while the names are tried',
    );
    t.notOk(stage.outcomes.ended.has('hostile'), 'it does not hold up the others');
    await stage.outcomes.end('hostile', 15_000);
    t.match(stage.outcomes.of('event.dead_lettered', 'hostile'), [
      { retry_count: 3, delivered: good, undelivered: names, last_error: /^476/ },
    ]);
    await eventually('everything to be off its hands', () => worker.deliver.inHand === 0);
    await stage.judge(t);
  });
});

t.test('QUEUE-11 a backlog of 20,000 events from before the start', { timeout: 60_000 }, async (t) => {
  const stage = await Stage.open(t, 40);
  await stage.publish(...drafts('old', 20_000, stage.channels));
  const began = performance.now();
  await stage.start();
  await stage.settled(40_000);
  const lines = stage.witness.lines.length;
  t.comment(`${lines} lines in ${Math.round(performance.now() - began)} ms`);
  await stage.judge(t);
});
