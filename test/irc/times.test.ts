import { pino } from 'pino';
import t, { type Test } from 'tap';
import { pause } from '../../streams/core/index.js';
import { IrcConnection, type IrcConnectionOptions } from '../../workers/irc/connection.js';
import type { Dial } from '../../workers/irc/transport.js';
import { credentials, IrcNetwork } from '../simulation/irc/network.js';
import { Pipe, SimulatedSocket } from '../simulation/irc/wire.js';
import { runIn } from '../simulation/scenario.js';
import { World } from '../simulation/world.js';

interface Timed {
  world: World;
  network: IrcNetwork;
  /** When each connection was begun, in milliseconds. */
  dialled: number[];
  bot: IrcConnection;
  lost: string[];
  session(): Promise<void>;
  /** How long it takes until something is so, in milliseconds. */
  until(isSo: () => boolean): Promise<number>;
  /** How long a stop takes, in milliseconds. */
  stop(): Promise<number>;
}

const seeds = [1, 2, 3, 4, 5, 6, 7, 8];

/** Plays the same with several seeds, where time is simulated: how fast this machine is does not matter. */
async function timed(
  options: Partial<IrcConnectionOptions>,
  play: (timed: Timed) => Promise<void>,
  dial?: (world: World, network: IrcNetwork) => Dial,
): Promise<void> {
  for (const seed of seeds) {
    const world = new World(seed);
    const network = new IrcNetwork(world);
    const dialled: number[] = [];
    const dialling = dial?.(world, network) ?? network.dial();
    await runIn(world, 1_000_000, async () => {
      const { password, oper } = credentials;
      const bot = new IrcConnection({
        url: 'irc://simulated',
        nick: 'em-bot',
        password,
        oper,
        log: pino({ level: 'silent' }),
        ...options,
        dial: (...address) => {
          dialled.push(world.elapsed);
          return dialling(...address);
        },
      });
      const lost: string[] = [];
      bot.on('lost', (reason) => lost.push(reason));
      bot.start();
      const until = async (isSo: () => boolean) => {
        const from = world.elapsed;
        while (!isSo()) await pause(1);
        return world.elapsed - from;
      };
      const stop = async () => {
        const from = world.elapsed;
        await bot.stop();
        return world.elapsed - from;
      };
      const session = async () => void (await until(() => bot.session() !== undefined));
      await play({ world, network, dialled, bot, lost, session, until, stop });
      await bot.stop();
    });
  }
}

/** Connections on which nothing comes. They stay open, or end after a while. */
const hollow =
  (endAfterMs?: number) =>
  (world: World): Dial =>
  () => {
    const socket = new SimulatedSocket();
    const latency = { least: 0, most: 0 };
    world.after(1, () => {
      socket.connected(new Pipe(world, world.random, latency, () => {}), {
        receive: () => {},
        ended: () => {},
      });
      if (endAfterMs !== undefined) world.after(endAfterMs, () => socket.gone('ECONNRESET'));
    });
    return socket as unknown as ReturnType<Dial>;
  };

const freeze = ({ network }: Timed) => {
  for (const connection of network.connections) connection.freeze();
};

const gapsOf = (times: readonly number[]) => times.slice(1).map((at, n) => at - times[n]!);

const within = (t: Test, ms: number, least: number, most: number, what: string) =>
  t.ok(ms >= least && ms <= most, `${what}: ${ms} ms`);

t.test('a line to a server that is frozen is lost as soon as its answer is overdue', async (t) => {
  await timed({ confirmTimeoutMs: 1_000 }, async (it) => {
    await it.session();
    const session = it.bot.session()!;
    await session.join(['#a'], { history: false });
    freeze(it);
    const from = it.world.elapsed;
    t.same(await session.say('#a', 'into the ice', 'evt-1'), { is: 'lost', written: true });
    within(t, it.world.elapsed - from, 1_000, 1_500, 'told');
    t.same(it.lost, ['the server does not answer']);
  });
});

t.test('an idle half-open connection is found within 10 s', async (t) => {
  await timed({}, async (it) => {
    await it.session();
    freeze(it);
    within(t, await it.until(() => it.lost.length > 0), 0, 10_000, 'noticed');
    t.same(it.lost, ['the server is silent']);
  });
});

t.test('QUEUE-14 after a kill -9 the bot is back soon after its server', async (t) => {
  await timed({}, async (it) => {
    await it.session();
    it.network.stop();
    await it.until(() => it.lost.length > 0);
    await pause(2_500 + 700 * it.world.seed);
    it.network.start();
    within(t, await it.until(() => it.bot.session() !== undefined), 0, 3_200, 'back');
  });
});

t.test('after a KILL it comes back ever later', async (t) => {
  await timed({}, async (it) => {
    for (let n = 0; n < 5; n++) {
      await it.session();
      it.network.kill('em-bot');
      await it.until(() => it.lost.length > n);
    }
    await it.session();
    const gaps = gapsOf(it.dialled);
    t.ok(
      gaps.every((gap, n) => gap >= 1_000 && gap >= (gaps[n - 2] ?? 0)),
      `${gaps.map(Math.round)} ms`,
    );
  });
});

t.test('a server that ends each connection is tried once a second', async (t) => {
  await timed(
    {},
    async (it) => {
      await it.until(() => it.dialled.length > 10);
      const gaps = gapsOf(it.dialled);
      t.ok(
        gaps.every((gap) => gap >= 1_000 && gap <= 2_000),
        `${gaps.map(Math.round)} ms`,
      );
    },
    hollow(2),
  );
});

t.test('a stop is bounded, whatever the server does', async (t) => {
  await timed({}, async (it) => {
    await it.session();
    freeze(it);
    within(t, await it.stop(), 0, 1_000, 'where the server is frozen');
  });
  await timed(
    {},
    async (it) => {
      await pause(300);
      within(t, await it.stop(), 0, 0, 'where it does not register the bot');
    },
    hollow(),
  );
  await timed({}, async (it) => {
    it.network.refuse(true);
    await it.until(() => it.dialled.length > 1);
    await pause(10);
    within(t, await it.stop(), 0, 0, 'between two attempts');
  });
});
