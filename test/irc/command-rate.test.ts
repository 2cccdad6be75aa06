import t from 'tap';
import { clock } from '../../streams/core/clock.js';
import { RateLimit } from '../../workers/irc/command-rate.js';

t.test('IDENT-14 who writes too fast is told once', async (t) => {
  const rate = new RateLimit();
  // ten lines a second for a minute
  const flood = Array.from({ length: 600 }, (_, n) => rate.take('mallory', n * 100));
  t.equal(
    flood.filter((verdict) => verdict === 'tell').length,
    1,
    'once, also where some lines are answered',
  );
  t.equal(flood.filter((verdict) => verdict === 'go').length, 139);
  // after a rest, everything is as before
  const next = Array.from({ length: 22 }, () => rate.take('mallory', 120_000));
  t.same(next.slice(19), ['go', 'tell', 'drop']);
});

t.test('IDENT-14 a clock that is set back holds nobody back', async (t) => {
  const rate = new RateLimit({ burst: 1, everyMs: 1 });
  t.equal(rate.take('ann'), 'go');
  const { now } = clock;
  t.teardown(() => Object.assign(clock, { now }));
  clock.now = () => now() - 3_600_000;
  const until = performance.now() + 5;
  while (performance.now() < until);
  t.equal(rate.take('ann'), 'go');
});
