import pino from 'pino';
import t from 'tap';
import { Log, pause } from '../../streams/core/index.js';
import { type DeliveryFact, delivery } from '../../streams/delivery/index.js';
import { eventToken, type MarketFact, market, marketSubject } from '../../streams/events/index.js';
import { DeliverToIrc } from '../../workers/delivery/index.js';
import { IrcConnection } from '../../workers/irc/connection.js';
import { credentials, IrcNetwork } from '../simulation/irc/network.js';
import { SimulatedLogServer } from '../simulation/log/server.js';
import { runIn } from '../simulation/scenario.js';
import { World } from '../simulation/world.js';

const logger = pino({ level: 'silent' });
const limits = { maxRetries: 3, ttlMs: 3_600_000, retryMs: 60_000 };
/** Nothing takes time but what the worker waits for. */
const latency = { least: 0, most: 0 };
const [refusing, open] = ['#refusing', '#open'];

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

t.test('QUEUE-09 QUEUE-03 the next attempt begins when the pause is over, and no later', async (t) => {
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
    const worker = new DeliverToIrc({ log, irc, limits, logger });
    worker.start();
    const witness = network.person('witness');
    while (!witness.isThere || !irc.session()) await pause(100);
    witness.join(refusing);
    witness.send(`OPER ${oper.name} ${oper.password}`, `SAMODE ${refusing} +m`);
    const begun = world.now;
    for (const id of ['first', 'second'])
      await log.append(market, marketSubject(eventToken(id)), event(id), { by: 'test' });
    while (worker.inHand > 0) await pause(1);

    const { stream } = server.streams.get(delivery.name)!;
    const stored = Array.from({ length: stream.lastSeq }, (_, n) => stream.get(n + 1)!);
    const failed = stored.flatMap(({ at, data }) => {
      const fact = JSON.parse(new TextDecoder().decode(data)) as DeliveryFact;
      return fact.type === 'lines.confirmed' ? [] : [[at - begun, fact.data.event_id, fact.type]];
    });
    const { retryMs } = limits;
    t.same(failed, [
      [0, 'first', 'attempt.failed'],
      [retryMs, 'first', 'attempt.failed'],
      [2 * retryMs, 'first', 'attempt.failed'],
      [2 * retryMs, 'first', 'event.dead_lettered'],
      [2 * retryMs, 'second', 'attempt.failed'],
      [3 * retryMs, 'second', 'attempt.failed'],
      [4 * retryMs, 'second', 'attempt.failed'],
      [4 * retryMs, 'second', 'event.dead_lettered'],
    ]);
    const shown = network.shown.map(({ at, channel, text }) => [at - begun, channel, text]);
    t.same(shown, [
      [0, open, 'first'],
      [0, open, 'second'],
    ]);
    await worker.stop();
    await log.close();
    witness.quit();
  });
});
