import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { askOn } from '../../src/cli/core/terminal.js';
import { delivery, deliveryDecider } from '../../streams/delivery/index.js';
import { eventToken, market } from '../../streams/events/index.js';
import { drafts, Stage } from '../delivery/stage.js';
import { postEvent, sampleEvent, startApp, webhookSecret } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { observe } from '../support/irc-observer.js';
import { settingsOf, startIrcd } from '../support/ircd.js';
import { startNats } from '../support/nats.js';
import { startTcpRelay } from '../support/tcp-relay.js';
import { relay } from './terminal.js';

const count = 40;
const idOf = (n: number) => `evt-${String(n).padStart(3, '0')}`;

/** The service on real servers with delivered events, and a witness in the two channels of each. */
async function openHouse(t: Test) {
  const [nats, ircd] = await Promise.all([startNats(t), startIrcd(t)]);
  const witness = await observe(ircd.port, { nick: 'witness', password: ircd.serverPassword });
  t.teardown(() => witness.stop());
  await witness.join('#bounties', '#city-lisbon');
  const settings = {
    NATS_URL: nats.url,
    ...settingsOf(ircd),
  };
  const app = await startApp(t, settings);
  const env = { PORT: new URL(app.url).port, EM_WEBHOOK_SECRET: webhookSecret };
  for (let n = 0; n < count; n++) {
    const payload = { id: `task-${n}`, title: `Task ${idOf(n)}`, location: 'Lisbon, PT' };
    const { status } = await postEvent(app.url, sampleEvent(idOf(n), { payload }));
    t.equal(status, 202);
  }
  const queue = async () => {
    const answer = await fetch(`${app.url}/hooks/em/stats`);
    return (await answer.json()) as { pending: number; delivered_today: number };
  };
  await eventually('all to be delivered', async () => (await queue()).delivered_today === count);
  const taskOf = (text: string) => /evt-\d+/.exec(text)?.[0];
  const seen = (channel: string) => witness.texts(channel).map(taskOf);
  return { app, env, ircd, witness, seen, queue };
}

t.test('delivered events are shown again on purpose', async (t) => {
  const { app, env, ircd, witness, seen, queue } = await openHouse(t);
  const all = Array.from({ length: count }, (_, n) => idOf(n));
  const lines = () => witness.lines.length;
  const before = await queue();
  t.equal(lines(), 2 * count);

  await t.test('OPERATE-04 nothing is done before somebody agrees', async (t) => {
    const range = ['redeliver', '--from', '1', '--to', '10'];
    t.match(await relay(range, { env }), { code: 2, err: /say --yes, or look first with --dry-run/ });
    t.match(await relay([...range, '--dry-run'], { env }), {
      code: 0,
      out: '10 events, 20 lines in 2 channels: #bounties #city-lisbon',
    });
    const asked: string[] = [];
    const answering = (answer: string) => ({
      ask: async (question: string) => {
        asked.push(question);
        return answer;
      },
    });
    t.match(await relay(range, { env, terminal: answering('') }), { code: 1, err: /nothing was done/ });
    const ended = { ask: askOn({ input: new PassThrough().end(), output: new PassThrough() }) };
    t.match(await relay(range, { env, terminal: ended }), { code: 1, err: /nothing was done/ });
    await witness.ask();
    t.equal(lines(), 2 * count);
    t.match(await relay([...range, '--channel', 'City-Lisbon'], { env, terminal: answering('y') }), {
      code: 0,
      out: /^10 of 10 events shown again/,
      err: /^10 events, 10 lines in 1 channel: #city-lisbon\n/,
    });
    t.equal(asked.length, 2);
    await witness.waitUntil(() => lines() >= 2 * count + 10, 'ten lines more');
    t.same(seen('#city-lisbon').slice(count), all.slice(0, 10));
    t.same(seen('#bounties'), all, 'other channels stay as they are');
  });

  await t.test('OPERATE-01 OPERATE-02 OPERATE-05 a run, repeated and followed by another', async (t) => {
    const from = lines();
    const argv = ['redeliver', '--from', '1', '--to', '2999-01-01', '--yes', '--json'];
    const first = await relay(argv, { env });
    t.equal(first.code, 0, first.err);
    const report = JSON.parse(first.out);
    t.match(report, { events: count, channels: 2, lines: 2 * count, not_delivered: 0, redelivered: count });
    await witness.waitUntil(() => lines() >= from + 2 * count, 'every line once more');
    t.same(seen('#bounties').slice(count), all, 'in the order of the log');
    t.same(seen('#city-lisbon').slice(count + 10), all);
    const tags = witness.lines.filter(({ channel }) => channel === '#city-lisbon').map(({ tags }) => tags);
    const own = tags.map((of) => of['+svc/event']);
    t.equal(new Set(own).size, own.length, 'no two showings have the same tag');
    t.ok(own.includes('evt-000') && own.includes('evt-000.1') && own.includes('evt-000.2'));

    const repeated = await relay([...argv, '--run', report.run], { env });
    t.match(JSON.parse(repeated.out), { run: report.run, events: count, redelivered: 0 });
    const another = await relay([...argv, '--type', 'task.published', '--from=40'], { env });
    t.equal(another.code, 2, 'an option given twice');
    const last = await relay(['redeliver', '--from', '40', '--to', '40', '--yes'], { env });
    t.match(last, { code: 0, out: /^1 of 1 event shown again/ });
    await witness.waitUntil(() => lines() >= from + 2 * count + 2, 'the last one a third time');
    t.same(seen('#bounties').slice(2 * count), [idOf(39)], 'and nothing of the repeated run');
    t.same(await queue(), before, 'the queue is as it was');
  });

  await t.test('OPERATE-14 a range that holds nothing', async (t) => {
    const from = lines();
    const over = (first: string, last: string, ...more: string[]) =>
      relay(['redeliver', '--from', first, '--to', last, ...(more.length > 0 ? more : ['--yes'])], { env });
    const beyond = {
      code: 1,
      out: '',
      err: /no event was received from 99 to 120: .* MARKET ends with 40\n/,
    };
    t.match(await over('99', '120'), beyond);
    t.match(await over('99', '120', '--dry-run'), beyond);
    const { code, err } = await over('99', '120', '--yes', '--json');
    t.match(
      { code, ...JSON.parse(err) },
      { code: 'range_empty', error: String, hint: /relay events MARKET/ },
    );
    t.equal(code, 1);
    t.match(await over('2001-01-01', '2001-01-02'), { code: 1, err: /no event was received from 2001/ });
    t.match(await over('1', '40', '--yes', '--type', 'task.nothing', '--channel', 'city-lisbon'), {
      code: 1,
      err: /no event of the type task.nothing for the channel city-lisbon was received from 1 to 40/,
    });
    for (const [first, last] of [
      ['20', '10'],
      ['2026-02-01', '2026-01-01'],
    ] as const)
      t.match(await over(first, last), { code: 2, err: /--to is before --from\n.*usage: relay redeliver/ });
    t.match(await over('x', '1'), { code: 2 });
    await witness.ask();
    t.equal(lines(), from);
  });

  await t.test('OPERATE-05 what was not delivered is for others', async (t) => {
    await witness.ask();
    const url = `http://127.0.0.1:${env.PORT}/ops/events`;
    const post = (id: string, body: object) =>
      fetch(`${url}/${id}/redeliver`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    t.equal((await post('nobody', { run: 'x' })).status, 404);
    t.equal((await post(idOf(1), {})).status, 400);
    t.match(await (await post(idOf(1), { run: 'x', channels: ['#elsewhere'] })).json(), {
      code: 'no_such_channel',
    });
    const { events } = (await (await fetch(`${url}?from=2&to=3`)).json()) as { events: object[] };
    t.match(events, [
      { id: 2, event_id: idOf(1), status: 'delivered', target_channels: ['#bounties', '#city-lisbon'] },
      { id: 3 },
    ]);
    t.equal((await fetch(`${url}?from=yesterday&to=3`)).status, 400);
    const zoneless = await fetch(`${url}?from=2026-01-31T12:00:00&to=3`);
    t.match(await zoneless.json(), { error: /^from has no zone/ });
    await ircd.stop();
    t.equal((await postEvent(app.url, sampleEvent('evt-late'))).status, 202);
    t.match(await relay(['redeliver', '--from', '41', '--to', '41', '--yes'], { env }), {
      code: 1,
      out: '',
      err: /nothing was delivered there: 1 event of the range was not\n.*relay dead-letters/,
    });
  });
});

t.test('OPERATE-03 OPERATE-01 a redelivery in hand at a crash', async (t) => {
  const stage = await Stage.open(t, 8);
  const { witness } = stage;
  const ircRelay = await startTcpRelay(t, stage.irc.port);
  const natsRelay = await startTcpRelay(t, stage.nats.port);
  const natsUrl = `nats://127.0.0.1:${natsRelay.port}`;
  const first = await stage.start({ natsUrl, ircUrl: ircRelay.url });
  const events = drafts('e', 2_000, stage.channels);
  await stage.publish(...events);
  await stage.settled();
  const lines = witness.lines.length;
  const decider = deliveryDecider({ maxRetries: 3, ttlMs: 3_600_000 });
  const inOrder = [...stage.events.values()].sort((a, b) => a.seq - b.seq);
  for (const { id, seq, channels } of inOrder) {
    const command = {
      is: 'redeliver' as const,
      event: { event_id: id, seq, token: eventToken(id) },
      run: 'r',
      channels: [...new Set(channels)],
    };
    await stage.log.handle(delivery, decider, command, { by: 'test' });
    if (seq === 1_200) {
      await stage.seen(lines + 300);
      for (const relay of [ircRelay, natsRelay]) relay.refuse(true);
      for (const relay of [ircRelay, natsRelay]) relay.cut();
    }
  }
  await first.stop();
  const second = await stage.start();
  await stage.seen(2 * lines);
  await eventually('everything to be off its hands', () => second.deliver.inHand === 0);
  await second.stop();
  // without its positions a worker looks at everything again
  const durables = async () => {
    const found = await Promise.all(
      [market, delivery].map(({ name }) => stage.log.manager.consumers.list(name).next()),
    );
    return found.flat().filter(({ config }) => config.durable_name !== undefined);
  };
  for (const { stream_name, name } of await durables())
    await stage.log.manager.consumers.delete(stream_name, name);
  const third = await stage.start();
  await eventually('it to have seen all', async () => {
    const found = await durables();
    return found.length === 2 && found.every((it) => it.num_pending === 0 && it.num_ack_pending === 0);
  });
  await third.stop();
  await witness.ask();
  for (const channel of stage.channels) {
    const wanted = inOrder.filter(({ channels }) => channels.includes(channel)).map(({ id }) => id);
    const ids = witness.texts(channel).map((text) => text.split(' ', 1)[0]);
    t.same(ids, [...wanted, ...wanted], `${channel} has each line twice, in order`);
  }
});
