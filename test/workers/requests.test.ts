import { pino } from 'pino';
import t, { type Test } from 'tap';
import { Log, Refusal, Unavailable } from '../../streams/core/index.js';
import { answerRequests, request } from '../../workers/core/rpc.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';
import { startTcpRelay } from '../support/tcp-relay.js';

const logger = pino({ level: 'silent' });

async function openLog(t: Test, urls: string): Promise<Log> {
  const log = await Log.open({ urls, name: 'test', streams: [], replicas: 1, maxBytes: 1e6, logger });
  t.teardown(() => log.close());
  return log;
}

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
    logger,
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
    logger,
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

t.test('CHAN-99 a request is answered also while a connection that is gone could be asked', async (t) => {
  const nats = await startNats(t);
  const relay = await startTcpRelay(t, nats.port);
  const gone = await openLog(t, relay.url);
  const [here, there] = await Promise.all([openLog(t, nats.url), openLog(t, nats.url)]);
  const heard: string[] = [];
  for (const log of [gone, there])
    t.teardown(
      answerRequests({
        log,
        service: 'things',
        logger,
        operations: {
          double: async (n: number) => {
            heard.push(log === gone ? 'gone' : 'there');
            return n * 2;
          },
        },
      }).stop,
    );
  await Promise.all([gone.connection.flush(), there.connection.flush()]);
  const ask = (n: number) => request({ log: here, name: 'things', timeoutMs: 30_000 }, 'double', n);
  const numbers = Array.from({ length: 20 }, (_, n) => n);
  t.same(
    await Promise.all(numbers.map(ask)),
    numbers.map((n) => n * 2),
  );
  t.ok(heard.includes('gone') && heard.includes('there'), 'the server asks either of them');
  heard.length = 0;
  relay.freeze();
  t.same(
    await Promise.all(numbers.map(ask)),
    numbers.map((n) => n * 2),
  );
  t.same(heard, Array(numbers.length).fill('there'), 'each is carried out once');
});

t.test('CHAN-99 a process that is long in answering is looked for again, and asked once', async (t) => {
  const nats = await startNats(t);
  const relay = await startTcpRelay(t, nats.port);
  const [here, there] = await Promise.all([openLog(t, nats.url), openLog(t, relay.url)]);
  const begun: number[] = [];
  const answering = answerRequests({
    log: there,
    service: 'things',
    logger,
    operations: {
      double: async (n: number) => {
        begun.push(n);
        await new Promise((resolve) => setTimeout(resolve, 1_200));
        return n * 2;
      },
    },
  });
  t.teardown(answering.stop);
  let lookedFor = 0;
  here.connection.subscribe('rpc.things', { callback: () => lookedFor++ });
  await Promise.all([here.connection.flush(), there.connection.flush()]);
  relay.freeze();
  const ask = (n: number) => request({ log: here, name: 'things', timeoutMs: 30_000 }, 'double', n);
  const answers = Promise.all([ask(1), ask(2)]);
  await eventually('both to be looked for again', () => lookedFor >= 6);
  relay.thaw();
  t.same(await answers, [2, 4]);
  t.same(begun.sort(), [1, 2]);
});

t.test('CHAN-99 a request that a stopped process did not hear goes to the next', async (t) => {
  const nats = await startNats(t);
  const [here, there] = await Promise.all([openLog(t, nats.url), openLog(t, nats.url)]);
  const double = async (n: number) => n * 2;
  const options = { log: there, service: 'things', logger, operations: { double } };
  const { stop } = answerRequests(options);
  let stopped = 0;
  there.connection.subscribe('rpc.things', {
    queue: 'things',
    callback: (_, message) => {
      stopped++;
      message.respond('rpc.things.stopped');
    },
  });
  await there.connection.flush();
  const ask = (n: number) => request({ log: here, name: 'things', timeoutMs: 30_000 }, 'double', n);
  const numbers = Array.from({ length: 20 }, (_, n) => n);
  t.same(
    await Promise.all(numbers.map(ask)),
    numbers.map((n) => n * 2),
  );
  t.ok(stopped > 0, 'some asked the one that has stopped');
  await stop();
});
