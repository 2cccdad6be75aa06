import { AckPolicy, DeliverPolicy } from 'nats';
import t, { type Test } from 'tap';
import { delivery } from '../../streams/delivery/index.js';
import { market } from '../../streams/events/index.js';
import { eventually } from '../support/eventually.js';
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.js';
import { type Draft, drafts, Stage, type Worker, type WorkerOptions } from './stage.js';

t.jobs = 2;

const linesOf = (events: Draft[]) => events.reduce((sum, { channels }) => sum + channels.length, 0);
const durables = [
  [market.name, 'deliver-to-irc-1'],
  [market.name, 'deliver-to-irc-2'],
  [delivery.name, 'redrive-to-irc-1'],
  [delivery.name, 'redrive-to-irc-2'],
] as const;

/** What an operator could do by mistake. Resolves with how many there were. */
async function deleteConsumers(stage: Stage): Promise<number> {
  const { consumers } = stage.log.manager;
  const deleted = await Promise.all(
    durables.map(([stream, name]) => consumers.delete(stream, name).catch(() => false)),
  );
  return deleted.filter(Boolean).length;
}

/** A worker that can be cut off from everything: for the rest of the world it has crashed. */
interface Remote extends Worker {
  ircRelay: TcpRelay;
  /** Its IRC connection is cut, or left half open with what it held. */
  crash(how: 'cut' | 'freeze'): void;
  comeBack(): void;
}

async function startRemote(t: Test, stage: Stage, options: WorkerOptions = {}): Promise<Remote> {
  const ircRelay = await startTcpRelay(t, stage.irc.port);
  const nats = await startTcpRelay(t, stage.nats.port);
  const natsUrl = `nats://127.0.0.1:${nats.port}`;
  const worker = await stage.start({ ...options, natsUrl, ircUrl: ircRelay.url });
  return Object.assign(worker, {
    ircRelay,
    crash(how: 'cut' | 'freeze') {
      for (const relay of [ircRelay, nats]) relay.refuse(true);
      nats.cut();
      ircRelay[how]();
    },
    comeBack() {
      for (const relay of [ircRelay, nats]) relay.refuse(false);
    },
  });
}

t.test('QUEUE-12 QUEUE-11 workers hand over under load, one stopped, two crashed', async (t) => {
  const stage = await Stage.open(t, 24);
  const events = drafts('e', 8_000, stage.channels);
  const lines = linesOf(events);
  const first = await stage.start();
  await stage.publish(...events);
  await stage.seen(lines / 5);
  await first.stop();
  const second = await startRemote(t, stage);
  await stage.seen((lines * 2) / 5);
  second.crash('cut');
  const third = await startRemote(t, stage);
  await stage.seen((lines * 3) / 5);
  third.crash('freeze');
  const fourth = await stage.start();
  await stage.settled();
  third.ircRelay.thaw();
  await eventually('everything to be off its hands', () => fourth.deliver.inHand === 0);
  t.comment(`${stage.outcomes.fromHistory} lines found in histories`);
  await stage.judge(t);
});

t.test('QUEUE-16 QUEUE-06 a worker that was cut off and replaced comes back', async (t) => {
  const stage = await Stage.open(t, 24);
  const events = drafts('e', 6_000, stage.channels);
  const lines = linesOf(events);
  const first = await startRemote(t, stage);
  await stage.publish(...events);
  await stage.seen(lines / 4);
  first.crash('cut');
  const second = await stage.start();
  await stage.seen(lines / 2);
  await second.stop();
  t.ok(first.deliver.inHand > 0, 'it still has in hand what was done meanwhile');
  first.comeBack();
  await stage.settled();
  await eventually('everything to be off its hands', () => first.deliver.inHand === 0);
  // lines that it had confirmed and not recorded when it was cut off were recorded by both
  await stage.judge(t, { repeated: true });
});

t.test('QUEUE-16 QUEUE-11 two workers at once', async (t) => {
  const stage = await Stage.open(t, 24);
  const events = drafts('e', 4_000, stage.channels);
  const first = await stage.start();
  await stage.publish(...events);
  await stage.seen(linesOf(events) / 4);
  const second = await stage.start();
  let sessions = 0;
  for (const worker of [first, second]) worker.irc.on('session', () => sessions++);
  await eventually('each to have sent the other away', async () => {
    await stage.publish({ id: `more${stage.events.size}`, channels: stage.channels });
    return sessions >= 3;
  });
  await first.stop();
  await stage.settled();
  await eventually('everything to be off its hands', () => second.deliver.inHand === 0);
  await stage.judge(t, { repeated: true });
});

t.test('QUEUE-13 QUEUE-11 the log server is killed twice under load', async (t) => {
  const stage = await Stage.open(t, 24);
  const worker = await stage.start();
  const events = drafts('e', 8_000, stage.channels);
  const lines = linesOf(events);
  const publishing = stage.publish(...events);
  for (const part of [3, 2]) {
    await stage.seen(lines / part);
    await stage.nats.kill();
    await stage.nats.start();
  }
  await publishing;
  await stage.settled();
  await eventually('everything to be off its hands', () => worker.deliver.inHand === 0);
  await stage.judge(t);
});

t.test('QUEUE-13 QUEUE-11 the connection to the log is cut eight times under load', async (t) => {
  const stage = await Stage.open(t, 24);
  const relay = await startTcpRelay(t, stage.nats.port);
  const worker = await stage.start({ natsUrl: `nats://127.0.0.1:${relay.port}` });
  const events = drafts('e', 9_000, stage.channels);
  const lines = linesOf(events);
  await stage.publish(...events);
  for (let n = 1; n <= 8; n++) {
    await stage.seen((lines * n) / 9);
    // the witness may read the lines of two cuts together: each must hit a connection of its own
    await eventually(`connection ${n}`, () => relay.connections === n && worker.log.connected);
    relay.cut();
  }
  await stage.settled();
  t.equal(relay.connections, 9);
  await eventually('everything to be off its hands', () => worker.deliver.inHand === 0);
  await stage.judge(t);
});

t.test('QUEUE-17 QUEUE-06 the durable consumers are deleted, or there are too many', async (t) => {
  const stage = await Stage.open(t, 24);
  const events = drafts('e', 6_000, stage.channels);
  const lines = linesOf(events);
  const first = await stage.start();
  await stage.publish(...events);
  await stage.seen(lines / 4);
  t.equal(await deleteConsumers(stage), 2, 'under a working worker');
  await stage.seen(lines / 2);
  await first.stop();
  t.equal(await deleteConsumers(stage), 2, 'while none works');
  const second = await stage.start();
  await stage.seen((lines * 3) / 4);
  await second.stop();
  // as after a crash between making the one and deleting the other
  const { consumers } = stage.log.manager;
  for (const [stream, name] of durables) {
    const twin = name.endsWith('1') ? name.replace(/1$/, '2') : name.replace(/2$/, '1');
    const info = await consumers.info(stream, name).catch(() => undefined);
    if (!info) continue;
    const { filter_subject, opt_start_seq = 1 } = info.config;
    await consumers.add(stream, {
      durable_name: twin,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: Math.max(info.ack_floor.stream_seq + 1, opt_start_seq),
      ...(filter_subject ? { filter_subject } : {}),
    });
  }
  const third = await stage.start();
  await stage.settled();
  await eventually('everything to be off its hands', () => third.deliver.inHand === 0);
  const left = await Promise.all(
    durables.map(([stream, name]) => consumers.info(stream, name).catch(() => undefined)),
  );
  t.equal(left.filter(Boolean).length, 2, 'one of each is left');
  await stage.judge(t);
});

t.test('QUEUE-19 QUEUE-07 redrives in hand at a crash', async (t) => {
  const stage = await Stage.open(t, 20);
  const [refusing, open] = stage.channels as [string, string];
  const { witness, outcomes } = stage;
  await witness.ask(`MODE ${refusing} +b em-bot!*@*`);
  const first = await startRemote(t, stage, { oper: false });
  const ids = Array.from({ length: 20 }, (_, n) => `dead${n}`);
  await stage.publish(
    ...ids.map((id, n) => ({ id, channels: [refusing, ...(n === 0 ? stage.channels.slice(1) : [open])] })),
    ...drafts('fine', 500, stage.channels.slice(1)),
  );
  await stage.settled();
  t.equal(outcomes.of('event.dead_lettered').length, 20);
  // once in vain, so that the log has two rounds of them; then once again, into the hands of a worker without
  // IRC
  await stage.redrive('dead0');
  await outcomes.end('dead0');
  first.ircRelay.refuse(true);
  first.ircRelay.cut();
  await eventually('the session to be over', () => !first.irc.session());
  for (const id of ids) await stage.redrive(id);
  await eventually('all redrives to be in hand', () => first.deliver.inHand === ids.length);
  first.crash('cut');
  await deleteConsumers(stage);
  await witness.ask(`MODE ${refusing} -b em-bot!*@*`);
  const second = await stage.start({ oper: false });
  await stage.settled();
  await eventually('everything to be off its hands', () => second.deliver.inHand === 0);
  t.ok(ids.every((id) => outcomes.ended.get(id) === 'delivered'));
  // and one that comes long after a takeover from the very beginning
  await witness.ask(`MODE ${refusing} +b em-bot!*@*`, `KICK ${refusing} em-bot`);
  await stage.publish({ id: 'again', channels: [refusing] });
  await outcomes.end('again');
  await witness.ask(`MODE ${refusing} -b em-bot!*@*`);
  await second.stop();
  await deleteConsumers(stage);
  const third = await stage.start({ oper: false });
  await eventually('it to have seen all', async () => {
    const found = await stage.log.manager.consumers.list(market.name).next();
    return found.every((info) => info.num_pending === 0 && info.num_ack_pending === 0);
  });
  await stage.redrive('again');
  await outcomes.end('again');
  t.equal(outcomes.ended.get('again'), 'delivered');
  await eventually('everything to be off its hands', () => third.deliver.inHand === 0);
  for (const id of [...ids, 'again']) t.equal(await stage.times(id, refusing), 1, `${id} is shown once`);
  // a redriven event comes after later ones, so the order is checked for the others only
  await stage.judge(t, { channels: stage.channels.slice(1) });
});
