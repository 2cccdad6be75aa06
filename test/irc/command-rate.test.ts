import t from 'tap';
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
