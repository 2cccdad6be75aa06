import pino from 'pino';
import t from 'tap';
import { Log, pause } from '../../streams/core/index.js';
import { Lease, type Term } from '../../workers/core/lease.js';
import { SimulatedLogServer } from '../simulation/log/server.js';
import { runIn } from '../simulation/scenario.js';
import { World } from '../simulation/world.js';

const logger = pino({ level: 'silent' });

interface Contender {
  lease: Lease;
  log: Log;
  term(): Term | undefined;
  /** How long it takes until its term begins, in milliseconds. */
  begins(): Promise<number>;
}

/** Plays the same with several seeds, where time is simulated: how fast this machine is does not matter. */
async function contending(
  play: (place: {
    world: World;
    server: SimulatedLogServer;
    contender(holder: string, name?: string): Promise<Contender>;
  }) => Promise<void>,
): Promise<void> {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const world = new World(seed);
    const server = new SimulatedLogServer(world);
    await runIn(world, 300_000, async () => {
      const all: Contender[] = [];
      const contender = async (holder: string, name = holder) => {
        const log = await Log.open({
          urls: '',
          name,
          streams: [],
          replicas: 1,
          maxBytes: 1e6,
          logger,
          connect: (as) => server.connect(as),
        });
        let term: Term | undefined;
        const begin = (begun: Term) => {
          term = begun;
          return { stop: async () => {} };
        };
        const lease = new Lease({ log, logger, name: 'thing', holder, replicas: 1, begin });
        lease.start();
        const begins = async () => {
          const from = world.elapsed;
          while (!term) await pause(1);
          return world.elapsed - from;
        };
        const one = { lease, log, term: () => term, begins };
        all.push(one);
        return one;
      };
      await play({ world, server, contender });
      for (const { lease, log } of all) {
        await lease.stop();
        await log.close();
      }
    });
  }
}

t.test('LEASE-02 a standby takes over at once from a holder that stops', async (t) => {
  await contending(async ({ world, contender }) => {
    const a = await contender('a');
    await a.begins();
    const b = await contender('b');
    await pause(2_000 + 311 * world.seed);
    t.equal(b.term(), undefined);
    await a.lease.stop();
    const ms = await b.begins();
    t.ok(ms < 1_100, `${ms} ms`);
  });
});

t.test('LEASE-03 a holder that is gone is followed within ten seconds, and at once by itself', async (t) => {
  await contending(async ({ world, server, contender }) => {
    const a = await contender('a', 'a 1');
    await a.begins();
    const b = await contender('b');
    await pause(2_000 + 311 * world.seed);
    // its process is gone: nothing is renewed, and nothing given back
    server.bury('a 1');
    const ms = await b.begins();
    t.ok(ms > 3_000 && ms < 10_000, `${ms} ms`);
    server.bury('b');
    const again = await contender('b', 'b 2');
    const itsMs = await again.begins();
    t.ok(itsMs < 100, `itself after ${itsMs} ms`);
  });
});

t.test('LEASE-04 a holder is sure until its term could have run out', async (t) => {
  await contending(async ({ world, server, contender }) => {
    const a = await contender('a');
    await a.begins();
    await pause(10_000);
    t.equal(a.term()!.isSure(), true);
    server.stop();
    const stoppedAt = world.elapsed;
    while (a.term()!.isSure()) await pause(1);
    const ms = world.elapsed - stoppedAt;
    t.ok(ms > 4_000 && ms <= 6_000, `sure for ${ms} ms`);
    server.start();
    while (!a.term()!.isSure()) await pause(1);
  });
});
