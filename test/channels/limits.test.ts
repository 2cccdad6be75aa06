import { pino } from 'pino';
import t from 'tap';
import { Refusal, Unavailable } from '../../streams/core/index.js';
import { KeyedLock } from '../../streams/core/keyed-lock.js';
import { HourlyLimit, type Hours, type Spent } from '../../workers/channels/hourly-limit.js';
import { answerRequests, request } from '../../workers/core/rpc.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { openLog } from './keeper.js';

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

t.test('CHAN-24 an operation of another process, with its errors', async (t) => {
  const nats = await startNats(t);
  const [here, there] = await Promise.all([openLog(t, nats.url), openLog(t, nats.url)]);
  const ask = (operation: string, input: unknown, ms = 30_000) =>
    request({ log: here, name: 'things', timeoutMs: ms }, operation, input);
  await t.rejects(ask('double', 2), { code: 'nobody_answers', status: 503 });
  let release = () => {};
  const answering = answerRequests({
    log: there,
    service: 'things',
    logger: pino({ level: 'silent' }),
    operations: {
      double: async (n: number) => n * 2,
      refuse: async () => {
        throw new Refusal({ code: 'no', status: 409 }, 'No', {
          details: [{ path: 'a', message: 'a is b' }],
          retryAfter: 7,
        });
      },
      away: async () => {
        throw new Unavailable({ code: 'away', status: 503 }, 'Away', 9);
      },
      endless: async () => 'x'.repeat(2_000_000),
      circular: async () => {
        const ring: { of?: unknown } = {};
        ring.of = ring;
        return ring;
      },
      number: async () => 1n,
      broken: async () => {
        throw new Error('secret');
      },
      slow: () => new Promise<void>((resolve) => (release = resolve)),
    },
  });
  await there.connection.flush();
  t.equal(await ask('double', 21), 42);
  await t.rejects(ask('refuse', {}), {
    kind: 'refusal',
    code: 'no',
    status: 409,
    message: 'No',
    extra: { details: [{ path: 'a', message: 'a is b' }], retryAfter: 7 },
  });
  await t.rejects(ask('away', {}), { kind: 'unavailable', code: 'away', status: 503, retryAfter: 9 });
  await t.rejects(ask('broken', {}), {
    code: 'internal_error',
    status: 500,
    message: 'Something went wrong',
  });
  await t.rejects(ask('unknown', {}), { code: 'not_found' });
  for (const answer of ['endless', 'circular', 'number'])
    await t.rejects(ask(answer, {}), { code: 'internal_error' }, `${answer} is no answer, and ends nothing`);
  t.equal(await ask('double', 4), 8);
  await t.rejects(ask('slow', {}, 50), { code: 'answer_overdue', status: 503 });
  release();
  await answering.stop();
  await there.connection.flush();
  await t.rejects(ask('double', 1), { code: 'nobody_answers' });
});

t.test('CHAN-24 what nobody waits for any more is not begun', async (t) => {
  const nats = await startNats(t);
  const [here, there] = await Promise.all([openLog(t, nats.url), openLog(t, nats.url)]);
  const begun: string[] = [];
  let release = () => {};
  const turn = new Promise<void>((resolve) => (release = resolve));
  const answering = answerRequests({
    log: there,
    service: 'things',
    logger: pino({ level: 'silent' }),
    operations: {
      work: async (name: string, deadline) => {
        await turn;
        deadline.require();
        begun.push(name);
      },
    },
  });
  t.teardown(() => answering.stop());
  await there.connection.flush();
  const ask = (name: string, timeoutMs: number) =>
    request({ log: here, name: 'things', timeoutMs }, 'work', name);
  const patient = ask('patient', 10_000);
  await t.rejects(ask('hasty', 50), { code: 'answer_overdue' });
  const later = there.now().getTime() + 50;
  await eventually('both clocks to be past it', () => there.now().getTime() > later);
  release();
  await patient;
  t.same(begun, ['patient']);
});
