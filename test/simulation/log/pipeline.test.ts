import pino from 'pino';
import t from 'tap';
import { Log, pause } from '../../../streams/core/index.js';
import { operations, workerSubject } from '../../../streams/operations/facts.js';
import { Recorder } from '../../../workers/core/record.js';
import { request } from '../../../workers/core/rpc.js';
import { World } from '../world.js';
import { type Run, simulate } from './pipeline.js';
import { runIn } from './run.js';
import { SimulatedLogServer } from './server.js';

/** The only seed to run, where one is given. */
const only = process.env.SIM_SEED;
/** Seeds that have found something once: they are run for ever. */
const kept = only === undefined ? [77] : [Number(only)];
/** How long fresh seeds are tried, in milliseconds. */
const freshMs = 10_000;
const real = performance.now.bind(performance);

function told({ seed, broken }: Run): string {
  return `repeat with SIM_SEED=${seed} npm test -- simulation/log/pipeline: ${broken.slice(0, 5).join('; ')}`;
}

t.test('SIM-11 the same seed is the same run', async (t) => {
  const one = await simulate(1);
  t.same(await simulate(1), one);
  t.ok(one.events > 200 && one.messages > 1_000, `${one.events} events, ${one.messages} messages`);
});

t.test('SIM-11 nothing is lost, doubled or left out, whatever happens to the log', async (t) => {
  for (const seed of kept) {
    const run = await simulate(seed);
    t.same(run.broken, [], told(run));
  }
  const faults: Record<string, number> = {};
  const started = real();
  let seeds = 0;
  for (let seed = 1; only === undefined && (seeds < 10 || real() - started < freshMs); seed++, seeds++) {
    const run = await simulate(seed);
    for (const [name, count] of Object.entries(run.faults)) faults[name] = (faults[name] ?? 0) + count;
    t.same(run.broken, [], told(run));
  }
  t.comment(`${seeds} seeds`, faults);
});

t.test('SIM-11 a clock that is set back meanwhile does not have a request wait longer', async (t) => {
  const world = new World(1);
  const server = new SimulatedLogServer(world);
  const waited = await runIn(world, 300_000, async () => {
    const log = await Log.open({
      ...{ urls: '', name: 'asker', streams: [operations], replicas: 1, maxBytes: 1e6 },
      ...{ logger: pino({ level: 'silent' }), connect: (name) => server.connect(name) },
    });
    const silent = await server.connect('silent');
    silent.subscribe('rpc.nobody.*', { callback: () => {} });
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
        ...{ urls: '', name, streams: [operations], replicas: 1, maxBytes: 1e6 },
        ...{ logger: pino({ level: 'silent' }), connect: () => server.connect(name) },
      });
    const [log, other] = await Promise.all([open('recorder'), open('other')]);
    const skipped = (seq: number) => ({
      ...{ stream: operations, subject: workerSubject('any'), by: 'a test' },
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
