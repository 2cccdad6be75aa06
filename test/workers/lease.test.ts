import pino from 'pino';
import t, { type Test } from 'tap';
import { Log, pause } from '../../streams/core/index.js';
import { Lease, type Term } from '../../workers/core/lease.js';
import { refusals, SimulatedLogServer } from '../simulation/log/server.js';
import { runIn } from '../simulation/scenario.js';
import { World } from '../simulation/world.js';
import { eventually } from '../support/eventually.js';
import { startNats, type TestNats } from '../support/nats.js';

const logger = pino({ level: 'silent' });

/** A process that wants the lease: its terms begin and end in `events`. */
async function contender(t: Test, nats: TestNats, holder: string, events: string[], starts = true) {
  const log = await Log.open({
    urls: nats.url,
    name: holder,
    streams: [],
    replicas: 1,
    maxBytes: 1e6,
    logger,
  });
  const terms: Term[] = [];
  const lease = new Lease({
    log,
    logger,
    name: 'thing',
    holder,
    replicas: 1,
    state: () => ({ of: holder }),
    begin: (term) => {
      terms.push(term);
      events.push(`${holder} begins`);
      return {
        stop: async () => {
          events.push(`${holder} ends`);
        },
      };
    },
  });
  if (starts) lease.start();
  t.teardown(async () => {
    await lease.stop();
    await log.close();
  });
  return { lease, log, isSure: () => terms.at(-1)?.isSure() };
}

t.test('LEASE-01 LEASE-02 LOG-12 one holds, the other takes over when it stops', async (t) => {
  const nats = await startNats(t);
  const events: string[] = [];
  const a = await contender(t, nats, 'a', events);
  await eventually('a to begin', () => events.includes('a begins'));
  const { config } = await a.log.manager.streams.info('KV_relay_leases');
  t.match(config.description, /Which process has each bot/, 'the bucket says what it holds');
  const b = await contender(t, nats, 'b', events);
  t.same(await b.lease.holderState(), { of: 'a' }, 'others see the state of the holder');
  await a.lease.stop();
  await eventually('b to begin', () => events.includes('b begins'));
  t.same(events, ['a begins', 'a ends', 'b begins']);
});

t.test('LEASE-03 a holder that is gone is followed, and comes back by itself', async (t) => {
  const nats = await startNats(t);
  const events: string[] = [];
  const a = await contender(t, nats, 'a', events);
  await eventually('a to begin', () => events.length === 1);
  await contender(t, nats, 'b', events);
  // its process is gone: nothing is renewed, and nothing given back
  await a.log.connection.close();
  await eventually('b to begin', () => events.includes('b begins'));

  const c = await contender(t, nats, 'c', []);
  t.same(await c.lease.holderState(), { of: 'b' });
  const again: string[] = [];
  await contender(t, nats, 'b', again);
  await eventually('b to begin again', () => again.includes('b begins'));
});

t.test('LEASE-04 a log server that comes back does not end the term', async (t) => {
  const nats = await startNats(t);
  const events: string[] = [];
  const a = await contender(t, nats, 'a', events);
  await eventually('a to begin', () => events.length === 1);
  t.equal(a.isSure(), true);
  await nats.kill();
  // what is stored of the lease has run out when the server is back: it goes on, and knows that another may have it
  await eventually('the term to be over', () => a.isSure() === false);
  await nats.start();
  await eventually('the connection to be back', () => a.log.connected);
  const onlooker = await contender(t, nats, 'b', events, false);
  await eventually('the lease to be renewed', async () => {
    const state = (await onlooker.lease.holderState()) as { of: string } | undefined;
    return state?.of === 'a';
  });
  await eventually('it to be sure again', () => a.isSure());
  t.same(events, ['a begins']);
});

t.test('LEASE-02 a holder that cannot begin its term leaves it to a standby', async (t) => {
  const nats = await startNats(t);
  const events: string[] = [];
  const broken = await contender(t, nats, 'a', events, false);
  const begin = () => {
    events.push('a fails');
    throw new Error('no such part');
  };
  const lease = new Lease({ log: broken.log, logger, name: 'thing', holder: 'a', replicas: 1, begin });
  lease.start();
  t.teardown(() => lease.stop());
  await eventually('a to fail', () => events.includes('a fails'));
  await contender(t, nats, 'b', events);
  await eventually('b to begin', () => events.includes('b begins'));
  await lease.stop();
  t.notOk(events.includes('b ends'));
});

t.test('LEASE-01 a term that does not end well is followed by the next', async (t) => {
  const nats = await startNats(t);
  const { log } = await contender(t, nats, 'a', [], false);
  let terms = 0;
  const begin = () => {
    terms += 1;
    return {
      start: () => {
        throw new Error('cannot start');
      },
      stop: async () => {
        throw new Error('cannot stop');
      },
    };
  };
  const lease = new Lease({ log, logger, name: 'thing', holder: 'a', replicas: 1, begin });
  lease.start();
  await eventually('another term', () => terms === 2);
  await lease.stop();
});

t.test('LEASE-04 a log server that stores nothing for a while does not end the term', async (t) => {
  const world = new World(1);
  const events: string[] = [];
  await runIn(world, 120_000, async () => {
    const server = new SimulatedLogServer(world);
    const log = await Log.open({
      ...{ urls: '', name: 'a', streams: [], replicas: 1, maxBytes: 1e6, logger },
      connect: (as) => server.connect(as),
    });
    const begin = () => {
      events.push('begins');
      return { stop: async () => void events.push('ends') };
    };
    const lease = new Lease({ log, logger, name: 'thing', holder: 'a', replicas: 1, begin });
    lease.start();
    await pause(3_000);
    server.refuse(refusals.diskFull, 20_000);
    await pause(30_000);
    t.same(events, ['begins']);
    await lease.stop();
    await log.close();
  });
  t.same(events, ['begins', 'ends']);
});
