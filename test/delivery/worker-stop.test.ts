import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { hangMs } from '../support/eventually.js';
import { nodeOptions, programFile } from '../support/programs.js';
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.js';
import { drafts, Stage } from './stage.js';

t.jobs = 3;

interface Stopping {
  child: ChildProcess;
  stage: Stage;
  /** The child's ways to the servers. */
  nats: TcpRelay;
  irc: TcpRelay;
}

/** A process with a worker in the middle of a backlog. */
async function setUp(t: Test): Promise<Stopping> {
  const stage = await Stage.open(t, 20);
  // one of the channels refuses, so that there always is a pause that a stop has to end
  await stage.witness.ask(`MODE ${stage.channels[0]} +i`);
  const [nats, irc] = await Promise.all([
    startTcpRelay(t, stage.nats.port),
    startTcpRelay(t, stage.irc.port),
  ]);
  const args = [`nats://127.0.0.1:${nats.port}`, irc.url, stage.irc.password!];
  const child = fork(programFile('test/delivery/stopping.ts'), args, { execArgv: [...nodeOptions] });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'message');
  await stage.publish(...drafts('e', 10_000, stage.channels));
  return { child, stage, nats, irc };
}

/** Tells it to stop: it must say that it has, and its process must end, with nothing left that holds it. */
async function stop(t: Test, { child }: Stopping): Promise<void> {
  const answered = once(child, 'message');
  const ended = once(child, 'exit');
  child.send('stop');
  const signal = AbortSignal.timeout(hangMs);
  const aborted = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const [ms] = (await Promise.race([answered, aborted])) as [number];
  t.comment(`stopped within ${Math.round(ms)} ms`);
  t.same(await Promise.race([ended, aborted]), [0, null], 'its process ends');
}

t.test('QUEUE-20 a stop in the middle of work', async (t) => {
  const it = await setUp(t);
  await it.stage.seen(2_000);
  await stop(t, it);
  // what it left is taken up by the next, which as operator is let in everywhere
  await it.stage.start();
  await it.stage.settled();
  await it.stage.judge(t);
});

t.test('QUEUE-20 a stop while both servers stand still', async (t) => {
  const it = await setUp(t);
  await it.stage.seen(2_000);
  it.stage.nats.pause();
  it.stage.irc.pause();
  await stop(t, it);
  it.stage.nats.resume();
  it.stage.irc.resume();
  await it.stage.start();
  await it.stage.settled();
  await it.stage.judge(t);
});

t.test('QUEUE-20 a stop while both servers are away', async (t) => {
  const it = await setUp(t);
  await it.stage.seen(2_000);
  for (const relay of [it.nats, it.irc]) {
    relay.refuse(true);
    relay.cut();
  }
  await stop(t, it);
});

t.test('QUEUE-20 a stop while the connections are half open', async (t) => {
  const it = await setUp(t);
  await it.stage.seen(2_000);
  it.nats.freeze();
  it.irc.freeze();
  await stop(t, it);
});
