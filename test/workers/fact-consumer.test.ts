import pino from 'pino';
import t from 'tap';
import { z } from 'zod';
import { defineStream, Log, Unavailable } from '../../streams/core/index.js';
import { FactConsumer, type Takeover } from '../../workers/core/fact-consumer.js';
import { eventually } from '../support/eventually.js';
import { startNats, type TestNats } from '../support/nats.js';
import type { Teardown } from '../support/server-process.js';

const logger = pino({ level: 'silent' });
const jobs = defineStream({
  name: 'JOBS',
  subjects: ['jobs.>'],
  facts: { 'job.asked': z.object({ n: z.int() }) },
});

async function openLog(t: Teardown, nats: TestNats): Promise<Log> {
  const streams = [jobs];
  const log = await Log.open({ urls: nats.url, name: 'test', streams, replicas: 1, maxBytes: 50e6, logger });
  t.teardown(() => log.close());
  return log;
}

/** A log with two facts, and a consumer of it that tells of its takeovers. */
async function stage(t: Teardown) {
  const nats = await startNats(t);
  const log = await openLog(t, nats);
  for (const n of [1, 2])
    await log.append(jobs, 'jobs.asked', { type: 'job.asked', data: { n } }, { by: 't' });
  const consume = (of: Log, takenOver: (place: Takeover) => Promise<void>, capacity = () => 10) => {
    const taken: number[] = [];
    const one = new FactConsumer({
      log: of,
      logger,
      capacity,
      stream: jobs,
      durable: 'do-jobs',
      takeOver: takenOver,
      take: ({ seq }) => taken.push(seq),
    });
    t.teardown(() => one.stop());
    one.start();
    return { one, taken };
  };
  return { nats, log, consume };
}

t.test('WORK-09 a takeover that breaks off leaves its doubt to the next one', async (t) => {
  const { nats, log, consume } = await stage(t);
  const places: Takeover[] = [];
  const { taken } = consume(log, async (place) => {
    places.push(place);
    if (places.length === 1) throw new Unavailable('log_unavailable');
  });
  await eventually('the facts', () => taken.length === 2);
  const ours = () => places.map((place) => place.ours);
  t.same(ours(), [false, false], 'somebody may have had the facts before, also at the second try');
  await nats.kill();
  await nats.start();
  await eventually('another takeover', () => places.length === 3);
  t.same(ours(), [false, false, true], 'nobody has had them since');
});

t.test('WORK-09 what others may have handled is in doubt, whenever it is handed out', async (t) => {
  const { nats, log, consume } = await stage(t);
  const places: Takeover[] = [];
  const takenOver = async (place: Takeover) => {
    places.push(place);
  };
  let room = 1;
  const { one, taken } = consume(log, takenOver, () => room - taken.length);
  await eventually('the first fact', () => taken.length === 1);
  await nats.kill();
  await nats.start();
  await eventually('a second takeover', () => places.length === 2);
  const seen = () => places.map(({ ours, doubtful }) => [ours, doubtful]);
  t.same(seen().slice(0, 2), [
    [false, 2],
    [true, 2],
  ]);
  room = 10;
  one.refill();
  await eventually('the other fact', () => taken.length === 2);
  await log.append(jobs, 'jobs.asked', { type: 'job.asked', data: { n: 3 } }, { by: 't' });
  await eventually('a third fact', () => taken.length === 3);
  const other = consume(await openLog(t, nats), async () => {});
  await eventually('the other consumer', () => other.taken.length === 3);
  await other.one.stop();
  await eventually('it back', () => places.length === 3);
  t.same(seen()[2], [false, 3], 'another one has had it');
});
