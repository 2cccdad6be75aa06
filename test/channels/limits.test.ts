import t from 'tap';
import type { Refusal } from '../../streams/core/index.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { HourlyLimit, type Hours, type Spent } from '../../workers/channels/hourly-limit.js';

const at = (minutes: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + minutes * 60_000);

/** The hour of one process alone. */
function ownHours(): Hours {
  let spent: readonly Spent[] | undefined;
  return {
    change: async (_what, change) => {
      spent = change(spent);
    },
  };
}

/** Seconds after which a limit says that there is room. */
async function wait(limit: HourlyLimit, count: number, now: Date): Promise<number | undefined> {
  try {
    await limit.take(count, now);
  } catch (error) {
    return (error as Refusal).extra.retryAfter;
  }
  return undefined;
}

t.test('CHAN-08 so many in any hour, and when there is room again', async (t) => {
  const limit = new HourlyLimit('deletions', 3, ownHours(), [at(0), at(10)]);
  await limit.take(1, at(20));
  await t.rejects(limit.take(1, at(30)), {
    code: 'rate_limited',
    status: 429,
    message: 'Too many deletions: at most 3 an hour',
  });
  t.equal(await wait(limit, 1, at(30)), 30 * 60);
  t.equal(await wait(limit, 2, at(30)), 40 * 60);
  await limit.take(1, at(60));
  t.equal(await wait(limit, 1, at(60)), 10 * 60);
  t.equal(await wait(limit, 4, at(600)), 3_600, 'more than there ever is room for');
});

t.test('CHAN-09 what was not done gives its place back, and 0 lifts the limit', async (t) => {
  const limit = new HourlyLimit('creations', 2, ownHours());
  await limit.take(1, at(0));
  const giveBack = await limit.take(1, at(0));
  await giveBack();
  await limit.take(1, at(1));
  await t.rejects(limit.take(1, at(1)), { code: 'rate_limited' });
  await new HourlyLimit('creations', 0, ownHours()).take(1_000_000, at(0));
});

t.test('CHAN-01 what concerns one channel runs in turn, also behind a failure', async (t) => {
  const lanes = new KeyedLock();
  const order: string[] = [];
  const work = (name: string, says: string, fails = false) =>
    lanes.run(name, async () => {
      order.push(`${says} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${says} ends`);
      if (fails) throw new Error(says);
      return says;
    });
  const [a, b, c] = await Promise.allSettled([work('#a', '1', true), work('#a', '2'), work('#b', '3')]);
  t.match(a, { status: 'rejected' });
  t.match(b, { value: '2' });
  t.match(c, { value: '3' });
  t.ok(order.indexOf('1 ends') < order.indexOf('2 begins'));
  t.ok(order.indexOf('3 begins') < order.indexOf('1 ends'));
});
