import t from 'tap';
import { clock, pause } from '../../streams/core/clock.js';

t.test('a wait that is longer than timers know is not over at once', async (t) => {
  let isOver = false;
  const timer = clock.setTimeout(() => {
    isOver = true;
  }, 3_000_000_000);
  const stop = new AbortController();
  const waiting = pause(3_000_000_000, stop.signal).then(() => {
    isOver = true;
  });
  await pause(20);
  t.notOk(isOver);
  clock.clearTimeout(timer);
  stop.abort();
  await waiting;
});
