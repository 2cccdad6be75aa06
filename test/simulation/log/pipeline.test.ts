import t from 'tap';
import { type Run, simulate } from './pipeline.js';

/** Seeds that have found something once: they are run for ever. */
const kept: number[] = [];
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
