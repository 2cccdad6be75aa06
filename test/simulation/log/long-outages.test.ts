import pino from 'pino';
import t from 'tap';
import { Log, pause } from '../../../streams/core/index.js';
import { operations, workerSubject } from '../../../streams/operations/facts.js';
import { Recorder } from '../../../workers/core/record.js';
import { request } from '../../../workers/core/rpc.js';
import { runIn } from '../scenario.js';
import { World } from '../world.js';
import { SimulatedLogServer } from './server.js';

t.test('SIM-11 a clock that is set back meanwhile does not have a request wait longer', async (t) => {
  const world = new World(1);
  const server = new SimulatedLogServer(world);
  const waited = await runIn(world, 300_000, async () => {
    const log = await Log.open({
      urls: '',
      name: 'asker',
      streams: [operations],
      replicas: 1,
      maxBytes: 1e6,
      logger: pino({ level: 'silent' }),
      connect: (name) => server.connect(name),
    });
    const silent = await server.connect('silent');
    silent.subscribe('rpc.nobody', { callback: () => {} });
    await silent.flush();
    server.clockOffsetMs = -60_000;
    server.cut(server.links('asker'));
    for (; log.connected; ) await new Promise((resolve) => setTimeout(resolve, 1));
    const begun = world.elapsed;
    const asked = request({ log, name: 'nobody', timeoutMs: 2_000 }, 'x', {});
    await t.rejects(asked, { code: 'answer_overdue' });
    const ms = world.elapsed - begun;
    await Promise.all([log.close(), silent.close()]);
    return ms;
  });
  t.ok(waited < 2_100, `${waited} ms`);
});

t.test('SIM-11 what was stored before a long partition is not recorded again', async (t) => {
  const world = new World(1);
  const server = new SimulatedLogServer(world);
  const numbers = await runIn(world, 600_000, async () => {
    const open = (name: string) =>
      Log.open({
        urls: '',
        name,
        streams: [operations],
        replicas: 1,
        maxBytes: 1e6,
        logger: pino({ level: 'silent' }),
        connect: () => server.connect(name),
      });
    const [log, other] = await Promise.all([open('recorder'), open('other')]);
    const skipped = (seq: number) => ({
      stream: operations,
      subject: workerSubject('any'),
      by: 'a test',
      fact: { type: 'work.skipped', data: { worker: 'any', stream: 'JOBS', seq, reason: 'none' } },
    });
    const recorder = new Recorder(log, pino({ level: 'silent' }), new AbortController().signal);
    await recorder.record(skipped(1));
    server.partitionBehindAppend(130_000);
    const recorded = recorder.record(skipped(2));
    await pause(60_000);
    const { stream, subject, fact, by } = skipped(3);
    await other.append(stream, subject, fact as never, { by });
    t.equal(await recorded, true);
    const found: number[] = [];
    for await (const { data } of other.subject(operations, workerSubject('any')))
      found.push((data as { seq: number }).seq);
    await Promise.all([log.close(), other.close()]);
    return found;
  });
  t.same(numbers, [1, 2, 3]);
});
