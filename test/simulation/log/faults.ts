import type { Random } from '../random.js';
import type { World } from '../world.js';
import { refusals, type SimulatedLogServer } from './server.js';

/** Something that can happen to a log server, or on the way to it. */
export interface LogFault {
  name: string;
  strike(server: SimulatedLogServer, world: World, random: Random): void;
}

const some = (server: SimulatedLogServer, random: Random) => {
  const links = server.links();
  return random.chance(0.3) ? links : random.shuffled(links).slice(0, 1);
};

/** All faults. The random numbers decide the length and the victim. */
export const logFaults: readonly LogFault[] = [
  {
    name: 'restart',
    strike: (server, world, random) => {
      server.stop({ unsyncedLost: random.chance(0.5) });
      world.after(random.int(10, 4_000), () => server.start());
    },
  },
  {
    name: 'freeze',
    strike: (server, world, random) => {
      server.freeze();
      world.after(random.int(50, 12_000), () => server.thaw());
    },
  },
  {
    name: 'cut',
    strike: (server, _world, random) => server.cut(some(server, random)),
  },
  {
    name: 'half-open cut',
    strike: (server, _world, random) =>
      server.cut(
        some(server, random),
        random.chance(0.5) ? undefined : random.int(1, 8_000),
        random.int(0, 15_000),
      ),
  },
  {
    name: 'lost answers',
    strike: (server, _world, random) => server.loseAnswers(random.int(1, 4)),
  },
  {
    name: 'partition behind an append',
    strike: (server, _world, random) => server.partitionBehindAppend(random.int(100, 8_000)),
  },
  {
    name: 'refused appends',
    strike: (server, _world, random) =>
      server.refuse(random.pick([refusals.diskFull, refusals.noRoom]), random.int(50, 6_000)),
  },
  {
    name: 'slow answers',
    strike: (server, world, random) => {
      const most = random.int(20, 3_000);
      server.slow({ least: most / 10, most });
      world.after(random.int(100, 5_000), () => server.slow());
    },
  },
  {
    name: 'moved leader',
    strike: (server, _world, random) =>
      server.moveLeader(
        random.pick([...server.streams.keys()]),
        random.int(0, 3_000),
        random.chance(0.5) ? 'Leadership Change' : undefined,
      ),
  },
  {
    name: 'lost ephemeral consumers',
    strike: (server, _world, random) =>
      server.loseEphemerals(random.chance(0.5) ? 'Consumer Deleted' : undefined),
  },
  {
    name: 'set clock',
    strike: (server, _world, random) => {
      server.clockOffsetMs = random.int(-5_000, 60_000);
    },
  },
];
