import pino from 'pino';
import t from 'tap';
import { Log, pause } from '../../streams/core/index.js';
import { type DeliveryFact, delivery } from '../../streams/delivery/index.js';
import { eventToken, type MarketFact, market, marketSubject } from '../../streams/events/index.js';
import { DeliverToIrc } from '../../workers/delivery/index.js';
import { IrcConnection } from '../../workers/irc/connection.js';
import { credentials, IrcNetwork } from '../simulation/irc/network.js';
import type { Person } from '../simulation/irc/person.js';
import { SimulatedLogServer } from '../simulation/log/server.js';
import { runIn } from '../simulation/scenario.js';
import { World } from '../simulation/world.js';

const logger = pino({ level: 'silent' });
const retryMs = 60_000;
/** Nothing takes time but what the worker waits for. */
const latency = { least: 0, most: 0 };
const [refusing, open] = ['#refusing', '#open'];

interface Delivering {
  world: World;
  server: SimulatedLogServer;
  network: IrcNetwork;
  irc: IrcConnection;
  worker: DeliverToIrc;
  /** Somebody in the channel that refuses. */
  witness: Person;
  publish(...ids: string[]): Promise<void>;
  /** What was recorded but for confirmed lines, with its time in milliseconds since a moment. */
  recorded(since: number): [ms: number, id: string, type: string][];
  /** The lines that were shown, with their times. */
  shown(since: number): [ms: number, channel: string, id: string][];
}

function event(id: string): MarketFact {
  return {
    type: 'event.received',
    data: {
      event_id: id,
      event_type: 'task.published',
      source: 'stage',
      payload: {},
      target_channels: [refusing, open],
      formatted_message: id,
    },
  };
}

/** A worker in simulated time, with its bot on the network: how fast this machine is does not matter. */
async function delivering(ttlMs: number, play: (it: Delivering) => Promise<void>): Promise<void> {
  const world = new World(1);
  const server = new SimulatedLogServer(world, { latency });
  const network = new IrcNetwork(world, { latency });
  await runIn(world, 1_000_000, async () => {
    const log = await Log.open({
      urls: '',
      name: 'deliverer',
      streams: [market, delivery],
      replicas: 1,
      maxBytes: 1e6,
      logger,
      connect: (as) => server.connect(as),
    });
    const { password, oper } = credentials;
    const dial = network.dial();
    const irc = new IrcConnection({ url: 'irc://simulated', nick: 'em-bot', password, dial, log: logger });
    const worker = new DeliverToIrc({ log, irc, limits: { maxRetries: 3, ttlMs, retryMs }, logger });
    worker.start();
    const witness = network.person('witness');
    while (!witness.isThere || !irc.session()) await pause(100);
    witness.join(refusing);
    witness.send(`OPER ${oper.name} ${oper.password}`, `SAMODE ${refusing} +m`);
    await play({
      world,
      server,
      network,
      irc,
      worker,
      witness,
      publish: async (...ids) => {
        for (const id of ids)
          await log.append(market, marketSubject(eventToken(id)), event(id), { by: 'test' });
      },
      recorded: (since) => {
        const { stream } = server.streams.get(delivery.name)!;
        const stored = Array.from({ length: stream.lastSeq }, (_, n) => stream.get(n + 1)!);
        return stored.flatMap(({ at, data }) => {
          const fact = JSON.parse(new TextDecoder().decode(data)) as DeliveryFact;
          return fact.type === 'lines.confirmed' ? [] : [[at - since, fact.data.event_id, fact.type]];
        });
      },
      shown: (since) => network.shown.map(({ at, channel, text }) => [at - since, channel, text]),
    });
    await worker.stop();
    await log.close();
    witness.quit();
  });
}

t.test(
  'QUEUE-09 QUEUE-03 QUEUE-18 the next attempt begins when the pause is over, and no later',
  async (t) => {
    await delivering(3_600_000, async ({ world, worker, publish, recorded, shown }) => {
      const since = world.now;
      await publish('first', 'second');
      while (worker.inHand > 0) await pause(1);
      t.same(recorded(since), [
        [0, 'first', 'attempt.failed'],
        [retryMs, 'first', 'attempt.failed'],
        [2 * retryMs, 'first', 'attempt.failed'],
        [2 * retryMs, 'first', 'event.dead_lettered'],
        [2 * retryMs, 'second', 'attempt.failed'],
        [3 * retryMs, 'second', 'attempt.failed'],
        [4 * retryMs, 'second', 'attempt.failed'],
        [4 * retryMs, 'second', 'event.dead_lettered'],
      ]);
      t.same(
        shown(since),
        [
          [0, open, 'first'],
          [0, open, 'second'],
        ],
        'at once where nothing refuses',
      );
    });
  },
);

t.test('QUEUE-05 QUEUE-10 an event expires when its time is over, and later ones are shown', async (t) => {
  const ttlMs = 12_000;
  await delivering(ttlMs, async ({ world, network, irc, worker, witness, publish, recorded, shown }) => {
    witness.send(`SAMODE ${refusing} -m`);
    network.refuse(true);
    for (const connection of network.connections) connection.cut();
    while (irc.session()) await pause(1);
    const since = world.now;
    await publish('early');
    await pause(ttlMs - 2_000);
    await publish('late');
    while (worker.inHand > 1) await pause(1);
    const [[ms, id, type]] = recorded(since) as [[number, string, string]];
    t.same([id, type], ['early', 'event.expired']);
    t.ok(ms > ttlMs && ms <= ttlMs + 1_000, `${ms} ms`);
    network.refuse(false);
    while (worker.inHand > 0) await pause(1);
    t.same(
      shown(since).map(([, channel, id]) => [channel, id]),
      [
        [refusing, 'late'],
        [open, 'late'],
      ],
    );
    t.equal(recorded(since).length, 1);
  });
});

t.test('QUEUE-20 a stop is bounded where both servers stand still', async (t) => {
  await delivering(3_600_000, async ({ world, server, network, worker, publish }) => {
    await publish('first', 'second', 'third');
    await pause(100);
    await publish('fourth');
    server.freeze();
    for (const connection of network.connections) connection.freeze();
    const since = world.now;
    await worker.stop();
    const ms = world.now - since;
    t.ok(ms > 0 && ms <= 5_000, `${ms} ms`);
    server.thaw();
  });
});
