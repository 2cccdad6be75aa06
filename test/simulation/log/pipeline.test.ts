import pino from 'pino';
import t from 'tap';
import { Log } from '../../../streams/core/index.js';
import { operations } from '../../../streams/operations/facts.js';
import { request } from '../../../workers/core/rpc.js';
import { World } from '../world.js';
import { type Run, simulate } from './pipeline.js';
import { runIn } from './run.js';
import { SimulatedLogServer } from './server.js';

/** Seeds that have found something once: they are run for ever. */
const kept = [77];
/** How long fresh seeds are tried, in milliseconds. */
const freshMs = 10_000;
const real = performance.now.bind(performance);

function told({ seed, broken }: Run): string {
  return `seed ${seed}: ${broken.slice(0, 5).join('; ')}`;
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
  for (let seed = 1; seeds < 10 || real() - started < freshMs; seed++, seeds++) {
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
