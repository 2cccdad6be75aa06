import pino from 'pino';
import t from 'tap';
import { SharedCounts } from '../../src/stores/shared-counts.js';
import { ShortLived } from '../../src/stores/short-lived.js';
import { Log, pause } from '../../streams/core/index.js';
import { refusals, SimulatedLogServer } from '../simulation/log/server.js';
import { runIn } from '../simulation/scenario.js';
import { World } from '../simulation/world.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats.js';

const logger = pino({ level: 'silent' });
const latency = { least: 0, most: 0 };
const description = 'Records of a test.';
const unavailable = { kind: 'unavailable', code: 'log_unavailable', status: 503 };

/** A log server whose faults are set, and a connection to it. */
async function open(world: World): Promise<{ server: SimulatedLogServer; log: Log }> {
  const server = new SimulatedLogServer(world, { latency });
  const log = await Log.open({
    urls: '',
    name: 'records',
    streams: [],
    replicas: 1,
    maxBytes: 1e6,
    logger,
    connect: (as) => server.connect(as),
  });
  return { server, log };
}

const options = {
  maxAgeMs: 60_000,
  maxEntries: 10,
  whenFull: 'refuse',
  storage: 'disk',
  replicas: 1,
} as const;

t.test('a log server that takes nothing is told as one that is not available', async (t) => {
  for (const [name, refusal] of Object.entries(refusals)) {
    const world = new World(1);
    await runIn(world, 60_000, async () => {
      const { server, log } = await open(world);
      const records = new ShortLived(log, { name: 'RECORDS', description, ...options });
      const counts = new SharedCounts({
        ...{ log, replicas: 1, description, most: 3, windowMs: 60_000 },
        name: 'COUNTS',
      });
      t.equal(await records.put('before', 'kept'), 'stored');
      t.same(await counts.take('ann'), { allowed: true, resetSec: 60 });

      server.refuse(refusal, 1_000);
      await t.rejects(records.put('during', 'lost'), unavailable, name);
      await t.rejects(counts.take('ann'), unavailable, name);

      await pause(2_000);
      t.equal(await records.put('after', 'kept'), 'stored');
      t.equal((await records.get('before'))?.text, 'kept');
      t.same(await counts.take('ann'), { allowed: true, resetSec: 58 });
      await log.close();
    });
  }
});

t.test('LOG-12 their stream says what it is, also where an earlier version made it without', async (t) => {
  const world = new World(1);
  await runIn(world, 60_000, async () => {
    const { log } = await open(world);
    const said = async () => (await log.manager.streams.info('RECORDS')).config.description;
    const earlier = new ShortLived(log, { name: 'RECORDS', description: 'Earlier.', ...options });
    t.equal(await earlier.put('one', 'kept'), 'stored');
    t.equal(await said(), 'Earlier.');
    const later = new ShortLived(log, { name: 'RECORDS', description, ...options });
    t.equal((await later.get('one'))?.text, 'kept');
    t.equal(await said(), description);
  });
});

t.test('LOG-12 records in memory are kept again after the log server was restarted', async (t) => {
  const nats = await startNats(t);
  const log = await Log.open({
    ...{ urls: nats.url, name: 'records', streams: [], replicas: 1, maxBytes: 1e6, logger },
  });
  t.teardown(() => log.close());
  const inMemory = { ...options, storage: 'memory', description } as const;
  const [puts, gets] = ['PUTS', 'GETS'].map((name) => new ShortLived(log, { name, ...inMemory }));
  for (const records of [puts!, gets!]) t.equal(await records.put('one', 'before'), 'stored');
  await nats.kill();
  await nats.start();
  await eventually('the connection to be back', () => log.connected);
  t.equal(await puts!.put('two', 'after'), 'stored');
  t.equal((await puts!.get('two'))?.text, 'after');
  t.equal(await gets!.get('one'), undefined);
  t.equal(await gets!.put('one', 'again', 0), 'stored');
});
