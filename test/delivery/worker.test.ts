import t from 'tap';
import { Refusal, Unavailable } from '../../streams/core/index.js';
import { createChannels } from '../../workers/channels/index.js';
import { eventually } from '../support/eventually.js';
import { drafts, Stage } from './stage.js';

t.test('QUEUE-09 QUEUE-11 a working queue', async (t) => {
  const stage = await Stage.open(t, 24);
  const worker = await stage.start({ retryMs: 5_000 });
  await stage.publish({ id: 'warm', channels: stage.channels });
  await stage.outcomes.end('warm');

  t.test('QUEUE-09 lines are shown one by one', async (t) => {
    const times: number[] = [];
    for (let n = 0; n < 20; n++) {
      const began = performance.now();
      await stage.publish({ id: `at-once${n}`, channels: [stage.channels[n]!] });
      await stage.witness.waitFor((line) => line.text.startsWith(`at-once${n} `));
      times.push(performance.now() - began);
    }
    times.sort((a, b) => a - b);
    t.comment(`median ${times[10]!.toFixed(1)} ms, worst ${times[19]!.toFixed(1)} ms`);
  });

  t.test('QUEUE-11 3,000 events over 24 channels keep their order', async (t) => {
    const before = stage.events.size;
    await stage.publish(...drafts('load', 3_000, stage.channels));
    await stage.settled();
    t.equal(stage.events.size, before + 3_000);
    await stage.judge(t);
    await eventually('everything to be off its hands', () => worker.deliver.inHand === 0);
  });

  t.test(
    'QUEUE-18 an event for nobody is let go, a name that cannot be a channel is a dead letter',
    async (t) => {
      const good = stage.channels.slice(0, 2);
      const names = ['nochannel', '#two words', `#${'x'.repeat(250)}`, '#a,b'];
      const hostile = { id: 'hostile', channels: [good[0]!, ...names, good[1]!] };
      await stage.publish({ id: 'nobody', channels: [] }, hostile, ...drafts('behind', 500, stage.channels));
      await stage.outcomes.until(
        () =>
          [...stage.events.keys()].every((id) => !id.startsWith('behind') || stage.outcomes.ended.has(id)),
        'the neighbours to be delivered while the names are tried',
      );
      await stage.outcomes.end('hostile');
      const ended = [...stage.outcomes.ended.keys()];
      const before = ended.slice(0, ended.indexOf('hostile'));
      t.ok(
        before.some((id) => id.startsWith('behind')),
        'it does not hold up the others',
      );
      t.match(stage.outcomes.of('event.dead_lettered', 'hostile'), [
        { retry_count: 3, delivered: good, undelivered: names, last_error: /^476/ },
      ]);
      await eventually('everything to be off its hands', () => worker.deliver.inHand === 0);
      await stage.judge(t);
    },
  );
});

t.test(
  'CHAN-66 a room that cannot be opened holds up no line but its own',
  { timeout: 240_000 },
  async (t) => {
    const stage = await Stage.open(t, 6);
    const { create } = createChannels(stage.log); // there is no channel service
    let give = () => {};
    const given = new Promise<void>((resolve) => {
      give = resolve;
    });
    const plain = { modes: '+nt', topic: '', invite_list: [], metadata: {} };
    await stage.start({
      openChannel: async (room) => {
        await given;
        await create({ ...room, cause: 'automation' }, { by: 'test' });
      },
    });
    const room = '#task-held';
    const effects = { open: { name: room, type: 'task' as const, ...plain } };
    await stage.witness.join(room);
    await stage.publish({ id: 'held', channels: [room, stage.channels[0]!], effects });
    const others = drafts('e', 200, stage.channels);
    await stage.publish(...others);
    const ended = () => others.every(({ id }) => stage.outcomes.ended.has(id));
    await stage.outcomes.until(ended, 'every other line');
    t.ok(stage.outcomes.confirmed.has(`held ${stage.channels[0]}`), 'where else it is shown');
    t.notOk(stage.outcomes.confirmed.has(`held ${room}`), 'its own room is still waited for');
    give();
    await stage.settled();
    t.equal(await stage.times('held', room), 1, 'and it is not kept back for good');
    await stage.judge(t);
  },
);

t.test('CHAN-87 a line waits for its room where there are as many as there may be', async (t) => {
  const stage = await Stage.open(t, 2);
  const room = '#task-later';
  let tries = 0;
  let isFull = true;
  let waits = 0;
  await stage.start({
    openChannel: async () => {
      tries += 1;
      if (isFull) throw new Refusal('type_limit_reached');
      await stage.witness.join(room);
    },
    observe: {
      roomMissing: () => {
        waits += 1;
      },
    },
  });
  await stage.publish({ id: 'later', channels: [room, stage.channels[0]!] });
  await stage.publish({ id: 'behind', channels: [room] });
  await eventually('three tries', () => tries >= 3);
  t.ok(stage.outcomes.confirmed.has(`later ${stage.channels[0]}`), 'where else it is shown');
  t.match((await stage.witness.ask(`MODE ${room}`)).join(), / 403 /, 'nobody has made the room');
  t.ok(waits >= 2, 'each wait is counted');
  isFull = false;
  await stage.settled();
  t.ok(stage.outcomes.confirmed.has(`later ${room}`), 'shown there as soon as there is a place');
  await stage.judge(t);
});

t.test('QUEUE-18 what cannot be read is passed over, and left for who can', async (t) => {
  const stage = await Stage.open(t, 20);
  const { connection, manager } = stage.log;
  const unreadable = ['no JSON', '{"id":"x","type":"event.invented","v":1,"by":"x","cause":null,"data":{}}'];
  await stage.publish(...drafts('before', 200, stage.channels));
  for (const [n, text] of unreadable.entries()) {
    await connection.request(`market.event.unreadable${n}`, text, { timeout: 30_000 });
    await connection.request(`delivery.event.unreadable${n}`, text, { timeout: 30_000 });
  }
  await stage.publish(...drafts('behind', 200, stage.channels));
  const worker = await stage.start();
  await stage.settled();
  await eventually('everything to be off its hands', () => worker.deliver.inHand === 0);
  await worker.stop();
  await stage.publish(...drafts('later', 200, stage.channels));
  await stage.start();
  await stage.settled();
  await stage.judge(t);
  const [consumer] = await manager.consumers.list('MARKET').next();
  t.equal(consumer?.config.opt_start_seq, 201, 'each worker is handed them again');
});

t.test('QUEUE-11 a backlog of 20,000 events from before the start', { timeout: 240_000 }, async (t) => {
  const stage = await Stage.open(t, 40);
  await stage.publish(...drafts('old', 20_000, stage.channels));
  const began = performance.now();
  await stage.start();
  await stage.settled();
  const lines = stage.witness.lines.length;
  t.comment(`${lines} lines in ${Math.round(performance.now() - began)} ms`);
  await stage.judge(t);
});

t.test('CHAN-66 no line of a task is shown in a room that nobody has made private', async (t) => {
  const stage = await Stage.open(t, 2);
  const [assigned, later] = ['#task-private', '#task-later'];
  const tries = new Map<string, number>();
  await stage.start({
    openChannel: async ({ name }) => {
      tries.set(name, (tries.get(name) ?? 0) + 1);
      throw new Unavailable('nobody_answers', 'No process answers', 1);
    },
  });
  const opening = { type: 'task' as const, modes: '+int', topic: '', invite_list: [], metadata: {} };
  const effects = { open: { name: assigned, ...opening } };
  await stage.publish({ id: 'assigned', channels: [assigned, stage.channels[0]!], effects });
  await stage.publish({ id: 'rejected', channels: [later] });
  for (const room of [assigned, later]) {
    await eventually(`${room} to be asked for again`, () => (tries.get(room) ?? 0) >= 3);
    // a room that the bot has entered first is empty again at once
    await eventually(`nobody to be in ${room}`, async () =>
      / 403 /.test((await stage.witness.ask(`MODE ${room}`)).join()),
    );
  }
  t.ok(stage.outcomes.confirmed.has(`assigned ${stage.channels[0]}`), 'where else it is shown');
  t.notOk(stage.outcomes.confirmed.has(`assigned ${assigned}`));
  t.notOk(stage.outcomes.confirmed.has(`rejected ${later}`));
});
