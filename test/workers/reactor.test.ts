import { AckPolicy, nanos } from 'nats';
import pino from 'pino';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { defineStream, Log, Unavailable } from '../../streams/core/index.js';
import { operations } from '../../streams/operations/facts.js';
import { consumerStatuses, skipWork } from '../../workers/core/consumers.js';
import { Reactor, type ReactorOptions, type Try, type Verdict } from '../../workers/core/reactor.js';
import { Recorder } from '../../workers/core/record.js';
import { eventually } from '../support/eventually.js';
import { startNats, type TestNats } from '../support/nats.js';

const logger = pino({ level: 'silent' });
const by = { by: 'test' };
const jobs = defineStream({
  name: 'JOBS',
  subjects: ['jobs.>'],
  facts: {
    'job.asked': z.object({ key: z.string(), n: z.int() }),
    'job.given_up': z.object({ n: z.int(), tries: z.int(), reason: z.string() }),
  },
});
const streams = [jobs, operations];

interface Item {
  key: string;
  n: number;
}

async function openLog(t: Test, nats: TestNats): Promise<Log> {
  const log = await Log.open({ urls: nats.url, name: 'test', streams, replicas: 1, maxBytes: 50e6, logger });
  t.teardown(() => log.close());
  return log;
}

async function stage(t: Test) {
  const nats = await startNats(t);
  const log = await openLog(t, nats);
  const ask = (key: string, n: number) =>
    log.append(jobs, `jobs.asked.${key}`, { type: 'job.asked', data: { key, n } }, by);
  const react = (
    handle: (item: Item, attempt: Try) => Verdict | Promise<Verdict>,
    over: Partial<ReactorOptions<typeof jobs, Item>> = {},
  ) => {
    const reactor = new Reactor<typeof jobs, Item>({
      log,
      logger,
      stream: jobs,
      durable: 'do-jobs',
      filter: 'jobs.asked.>',
      maxInHand: 100,
      atOnce: 8,
      plan: ({ type, data }) => (type === 'job.asked' ? [{ key: data.key, item: data }] : []),
      handle,
      ...over,
    });
    t.teardown(() => reactor.stop());
    reactor.start();
    return reactor;
  };
  const acknowledged = (seq: number) =>
    eventually(`all up to ${seq}`, async () => {
      const [status] = await consumerStatuses(log, streams);
      return status?.position === seq && status;
    });
  return { nats, log, ask, react, acknowledged };
}

/** A promise and its key. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

t.test(
  'WORK-01 work of one key is done in order, that of others beside it, and so much at once',
  async (t) => {
    const { ask, react, acknowledged } = await stage(t);
    for (const [key, n] of [
      ['a', 1],
      ['a', 2],
      ['b', 3],
      ['c', 4],
    ] as const)
      await ask(key, n);
    const began: number[] = [];
    const first = gate();
    react(
      async ({ n }) => {
        began.push(n);
        if (n === 1) await first.opened;
        return { is: 'done' };
      },
      { atOnce: 2 },
    );
    await eventually('the other keys', () => began.includes(4));
    t.same(began, [1, 3, 4], 'the second of a key waits for the first, the others for nobody');
    first.open();
    await acknowledged(4);
    t.same(began, [1, 3, 4, 2]);
  },
);

t.test('WORK-02 a retry is a strike and keeps its place; a wait is none', async (t) => {
  const { ask, react, acknowledged } = await stage(t);
  const seen: [n: number, tries: number, reason: string | undefined][] = [];
  const verdicts: Verdict[] = [
    { is: 'wait', afterMs: 5 },
    { is: 'retry', afterMs: 5, reason: 'refused' },
    { is: 'wait', afterMs: 5 },
    { is: 'done' },
  ];
  await ask('a', 1);
  await ask('a', 2);
  react(({ n }, { tries, reason }) => {
    seen.push([n, tries, reason]);
    return verdicts.shift() ?? { is: 'done' };
  });
  await acknowledged(2);
  t.same(seen, [
    [1, 0, undefined],
    [1, 0, undefined],
    [1, 1, 'refused'],
    [1, 1, 'refused'],
    [2, 0, undefined],
  ]);
});

t.test('WORK-03 who is away is waited for, which is no strike either', async (t) => {
  const { ask, react, acknowledged } = await stage(t);
  const tried: number[] = [];
  await ask('a', 1);
  const reactor = react((_, { tries }) => {
    tried.push(tries);
    if (tried.length < 7) throw new Unavailable('irc_unavailable');
    return { is: 'done' };
  });
  await acknowledged(1);
  t.same(tried, [0, 0, 0, 0, 0, 0, 0]);
  t.same(reactor.halted, []);
});

t.test('WORK-03 what many pieces of work wait for is told of once', async (t) => {
  const { ask, react, acknowledged } = await stage(t);
  for (let n = 1; n <= 20; n++) await ask(`key-${n}`, n);
  const told: { msg: string; level: number }[] = [];
  const listening = pino({ level: 'warn' }, { write: (line: string) => told.push(JSON.parse(line)) });
  let isAway = true;
  let tries = 0;
  react(
    () => {
      tries += 1;
      if (isAway) throw new Unavailable('irc_unavailable');
      return { is: 'done' };
    },
    { logger: listening },
  );
  await eventually('all have been tried', () => tries >= 40);
  isAway = false;
  await acknowledged(20);
  t.match(told, [{ msg: 'work has to wait', level: 40 }]);
});

t.test('WORK-03 a fact that cannot be planned yet is planned again, before any later one', async (t) => {
  const { ask, react, acknowledged } = await stage(t);
  const planned: number[] = [];
  const handled: number[] = [];
  await ask('a', 1);
  await ask('b', 2);
  const reactor = react(
    ({ n }) => {
      handled.push(n);
      return { is: 'done' };
    },
    {
      plan: ({ type, data }) => {
        if (type !== 'job.asked') return [];
        planned.push(data.n);
        if (planned.length < 4) throw new Unavailable('log_unavailable');
        return [{ key: data.key, item: data }];
      },
    },
  );
  await acknowledged(2);
  t.same(planned, [1, 1, 1, 1, 2]);
  t.same(handled, [1, 2]);
  t.same(reactor.halted, []);
});

t.test('WORK-07 a stop does not wait for a fact that cannot be planned: a restart plans it', async (t) => {
  const { ask, react, acknowledged } = await stage(t);
  let tries = 0;
  await ask('a', 1);
  await ask('a', 2);
  const first = react(() => ({ is: 'done' }), {
    stopBoundMs: Number.POSITIVE_INFINITY,
    plan: () => {
      tries += 1;
      throw new Unavailable('log_unavailable');
    },
  });
  await eventually('a second try', () => tries > 1);
  await first.stop();
  const before = tries;
  const handled: number[] = [];
  react(({ n }) => {
    handled.push(n);
    return { is: 'done' };
  });
  await acknowledged(2);
  t.same(handled, [1, 2]);
  t.equal(tries, before, 'nothing is planned after the stop');
});

t.test('WORK-04 what is given up is recorded before anything else of its key', async (t) => {
  const { log, ask, react, acknowledged } = await stage(t);
  const recorded: unknown[] = [];
  await ask('a', 1);
  await ask('a', 2);
  react(async ({ n }, { tries, reason = '' }) => {
    recorded.push((await log.last(jobs, 'jobs.outcomes'))?.data);
    if (n === 2) return { is: 'done' };
    if (tries < 2) return { is: 'retry', afterMs: 1, reason: `no ${tries}` };
    const fact = { type: 'job.given_up', data: { n, tries, reason } };
    return { is: 'dead', reason, fact: { stream: jobs, subject: 'jobs.outcomes', fact, by: 'do-jobs' } };
  });
  await acknowledged(2);
  const fact = { n: 1, tries: 2, reason: 'no 1' };
  t.same(recorded, [undefined, undefined, undefined, fact]);
  const last = await log.last(jobs, 'jobs.outcomes');
  t.match(last, { by: 'do-jobs', data: fact });
});

t.test('a worker is seen among the consumers that many readers leave', async (t) => {
  const { log, ask, react, acknowledged } = await stage(t);
  await ask('a', 1);
  react(() => ({ is: 'done' }));
  await acknowledged(1);
  const left = { ack_policy: AckPolicy.None, mem_storage: true, inactive_threshold: nanos(30_000) };
  // by their names they come first
  for (let n = 0; n < 300; n++) await log.manager.consumers.add('JOBS', { ...left, name: `A${n}` });
  t.match(await consumerStatuses(log, streams), [{ worker: 'do-jobs', position: 1 }]);
});

t.test(
  'WORK-05 a fact that does not decode is named, keeps no other back, and is skipped by command',
  async (t) => {
    const { log, ask, react, acknowledged } = await stage(t);
    await ask('a', 1);
    await log.connection
      .jetstream()
      .publish('jobs.asked.a', JSON.stringify({ type: 'job.asked', v: 1, data: {} }));
    await ask('a', 3);
    const seen: number[] = [];
    const handle = ({ n }: Item): Verdict => {
      seen.push(n);
      return { is: 'done' };
    };
    const reactor = react(handle);
    const status = await eventually('the name of it', async () => {
      const [one] = await consumerStatuses(log, streams);
      return one && one.halted.length > 0 && one;
    });
    t.match(status, {
      worker: 'do-jobs',
      stream: 'JOBS',
      position: 1,
      halted: [{ seq: 2, reason: /invalid/i }],
    });
    t.same(seen, [1, 3]);
    t.equal(reactor.position, 1);
    await t.rejects(skipWork(log, streams, 'do-jobs', { seq: 1, reason: 'x', ...by }), {
      code: 'not_halted',
    });
    await t.rejects(skipWork(log, streams, 'no-jobs', { seq: 2, reason: 'x', ...by }), { code: 'not_found' });
    t.same(await skipWork(log, streams, 'do-jobs', { seq: 2, reason: 'a broken producer', ...by }), {
      stream: 'JOBS',
      seq: 2,
    });
    await acknowledged(3);
    const after = await eventually('no name', async () => {
      const [one] = await consumerStatuses(log, streams);
      return one?.halted.length === 0 && one;
    });
    t.equal(after.unacknowledged, 0);
    t.same(reactor.halted, []);
    const command = await log.last(operations, 'operations.worker.do-jobs');
    t.match(command, { by: 'test', type: 'work.skipped', data: { seq: 2, reason: 'a broken producer' } });
  },
);

t.test(
  'WORK-06 a handler that fails every time halts its key only, and a restart tries it again',
  async (t) => {
    const { log, ask, react, acknowledged } = await stage(t);
    const seen: number[] = [];
    let isBroken = true;
    const handle = ({ n }: Item): Verdict => {
      seen.push(n);
      if (n === 1 && isBroken) throw new TypeError('no such thing');
      return { is: 'done' };
    };
    await ask('a', 1);
    await ask('a', 2);
    await ask('b', 3);
    const first = react(handle);
    await eventually('the halt', () => first.halted.length > 0);
    t.match(first.halted, [{ seq: 1, reason: 'no such thing' }]);
    t.same(seen, [1, 3, 1, 1, 1, 1], 'tried a few times, and then no more');
    await first.stop();
    isBroken = false;
    seen.length = 0;
    react(handle);
    await acknowledged(3);
    t.same(
      seen.filter((n) => n < 3),
      [1, 2],
    );
    const [status] = await consumerStatuses(log, streams);
    t.same(status?.halted, []);
  },
);

t.test('WORK-07 a restart goes on with what was not done, also after the log was away', async (t) => {
  const { nats, ask, react, acknowledged } = await stage(t);
  for (let n = 1; n <= 6; n++) await ask('a', n);
  const done: number[] = [];
  const held = gate();
  const first = react(async ({ n }) => {
    if (n === 3) await held.opened;
    done.push(n);
    return { is: 'done' };
  });
  await eventually('two of them', () => done.length === 2);
  const stopped = first.stop();
  held.open();
  await stopped;
  t.same(done, [1, 2, 3], 'what was under way came to its end, and nothing was begun');
  await nats.kill();
  react(({ n }) => {
    done.push(n);
    return { is: 'done' };
  });
  await nats.start();
  await acknowledged(6);
  t.same([...new Set(done)], [1, 2, 3, 4, 5, 6]);
});

t.test('WORK-08 what somebody else does is left to them until it is handed out anew', async (t) => {
  const { nats, ask, react, acknowledged } = await stage(t);
  await ask('a', 1);
  const other = await openLog(t, nats);
  let tries = 0;
  react(() => {
    tries += 1;
    return { is: 'left' };
  });
  await eventually('the try', () => tries === 1);
  react(() => ({ is: 'done' }), { log: other });
  await acknowledged(1);
  t.ok(tries <= 2);
});

t.test('WORK-06 an outcome that no schema takes halts its key, and is not tried for ever', async (t) => {
  const { log, ask, react } = await stage(t);
  const outcome = (n: unknown) => ({
    stream: jobs,
    subject: 'jobs.given_up',
    by: 'test',
    fact: { type: 'job.given_up' as const, data: { n: n as number, tries: 1, reason: 'none' } },
  });
  const reactor = react(({ n }) => ({ is: 'done', fact: outcome(n === 1 ? 'one' : n) }));
  await ask('a', 1);
  await ask('b', 2);
  await eventually('the halt', () => reactor.halted.length > 0);
  t.match(reactor.halted, [{ seq: 1, reason: /expected number/ }]);
  const recorded = await eventually('the other outcome', () => log.last(jobs, 'jobs.given_up'));
  t.match(recorded, { data: { n: 2 } });
});

t.test('a fact that its stream does not take is an error, not a try without end', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats);
  const recorder = new Recorder(log, logger, new AbortController().signal);
  const fact = { type: 'job.given_up', data: { n: 'one', tries: 1, reason: 'none' } };
  await t.rejects(recorder.record({ stream: jobs, subject: 'jobs.given_up.a', fact, by: 'test' }), {
    name: 'ZodError',
  });
  t.equal(await log.head(jobs), 0, 'nothing is stored');
});
