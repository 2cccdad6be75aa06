import { AckPolicy } from 'nats';
import pino from 'pino';
import t, { type Test } from 'tap';
import { z } from 'zod';
import {
  type Decider,
  defineStream,
  type FactOf,
  Log,
  type PulledMessage,
} from '../../streams/core/index.js';
import { startNats, type TestNats } from '../support/nats.js';

const things = defineStream({
  name: 'THINGS',
  subjects: ['things.>'],
  facts: { 'thing.counted': z.object({ n: z.number() }) },
});
const counted = (n: number) => ({ type: 'thing.counted' as const, data: { n } });

async function openLog(t: Test, nats: TestNats): Promise<Log> {
  const logger = pino({ level: 'silent' });
  const log = await Log.open({
    urls: nats.url,
    name: 'test',
    streams: [things],
    replicas: 1,
    maxBytes: 100_000_000,
    // these tests remove facts
    importing: true,
    logger,
  });
  t.teardown(() => log.close());
  return log;
}

const append = (log: Log, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, n) => log.append(things, 'things.a', counted(n), { by: 'test' })),
  );

/** A consumer that has delivered nothing yet. */
async function newConsumer(log: Log): Promise<string> {
  return (await log.manager.consumers.add(things.name, { ack_policy: AckPolicy.None })).name;
}

t.test('a pull', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats);
  await append(log, 500);

  t.test('never brings more than its owner has room for', async (t) => {
    const room = 7;
    const held: PulledMessage[] = [];
    let most = 0;
    let got = 0;
    const consumer = await newConsumer(log);
    await new Promise<void>((resolve, reject) => {
      const pull = log.pull({
        stream: things.name,
        consumer,
        capacity: () => room - held.length,
        message: (message) => {
          held.push(message);
          most = Math.max(most, held.length);
          setImmediate(() => {
            held.shift();
            if (++got === 500) {
              pull.stop();
              resolve();
            } else pull.refill();
          });
        },
        broken: (reason) => reject(new Error(reason)),
      });
    });
    t.ok(most <= room, `${most} held at most`);
  });

  t.test('LOG-06 breaks when messages are missing, and hands out none behind the gap', async (t) => {
    const consumer = await newConsumer(log);
    const { connection } = log;
    await new Promise((resolve) => {
      connection.subscribe('elsewhere', { max: 1, callback: resolve });
      connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${things.name}.${consumer}`, '1', { reply: 'elsewhere' });
    });
    const reason = await new Promise((resolve) => {
      log.pull({
        stream: things.name,
        consumer,
        capacity: () => 10,
        message: (message) => resolve(`handed out ${message.seq}`),
        broken: resolve,
      });
    });
    t.match(reason, /gap/);
  });

  t.test('breaks when its owner fails, and the connection goes on', async (t) => {
    const consumer = await newConsumer(log);
    const reason = await new Promise((resolve) => {
      log.pull({
        stream: things.name,
        consumer,
        capacity: () => 10,
        message: () => {
          throw new Error('the owner failed');
        },
        broken: resolve,
      });
    });
    t.equal(reason, 'the owner failed');
    t.ok(await log.append(things, 'things.a', counted(1), { by: 'test' }));
  });
});

t.test('LOG-06 a reader has seen all although what was announced is gone', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats);
  await append(log, 50);
  const reading = new AbortController();
  const seen: number[] = [];
  for await (const entries of log.follow(things, { after: 0, batch: 10, signal: reading.signal })) {
    if (entries.length === 0) break;
    if (seen.length === 0) await log.manager.streams.purge(things.name);
    seen.push(...entries.map((entry) => entry.seq));
  }
  // the first batch is what had come by then, which may be fewer than were asked for
  t.ok(seen.length > 0 && seen.length < 50, `${seen.length} entries before the end`);
  await append(log, 1);
  for await (const entries of log.follow(things, {
    after: 0,
    since: new Date(Date.now() + 60_000),
    batch: 10,
    signal: reading.signal,
  })) {
    t.same(entries, [], 'nothing since a time to come');
    break;
  }
});

t.test('LOG-08 what is asked on a connection that is lost fails', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats);
  nats.pause();
  const asked = log.head(things).then(
    () => 'answered',
    (error) => error.code,
  );
  await nats.kill();
  t.equal(await asked, 'log_unavailable');
  await nats.start();
  t.equal(await log.head(things), 0, 'and a question meanwhile waits a little for the next one');
  const closed = log.close();
  const late = log.ask(() => log.connection.request('anything', '', { timeout: 1_000 }));
  await t.rejects(late, { code: 'log_unavailable' }, 'also while it is being closed');
  await closed;
});

t.test('the time of the log does not depend on who sets our clock', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats);
  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  Date.now = () => now() + 3_600_000;
  t.ok(Math.abs(log.now().getTime() - now()) < 600_000);
});

t.test('LOG-04 a command on a subject that was emptied begins anew', async (t) => {
  const nats = await startNats(t);
  const log = await openLog(t, nats);
  const count: Decider<{ n: number }, 'count', FactOf<typeof things>> = {
    initial: () => ({ n: 0 }),
    subject: () => 'things.count',
    evolve: (state, fact) => {
      state.n = fact.data.n;
    },
    decide: (_command, state) => counted(state.n + 1),
  };
  const next = async () => (await log.handle(things, count, 'count', { by: 'test' })).fact?.data.n;
  t.same([await next(), await next()], [1, 2]);
  await log.manager.streams.purge(things.name);
  t.equal(await next(), 1);
});
