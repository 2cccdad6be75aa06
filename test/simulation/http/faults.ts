import type { Random } from '../random.js';
import type { World } from '../world.js';
import type { Host, HttpFault } from './outside.js';

/** Something that can happen to a host, or on the way to it, for a while. */
export interface HostFault {
  name: string;
  strike(host: Host, world: World, random: Random): void;
}

const some = (name: string, kinds: readonly HttpFault[], longestMs: number): HostFault => ({
  name,
  strike: (host, world, random) => {
    const failing = random.chance(0.5) ? 1 : 0.4;
    Object.assign(host, { kinds, failing });
    world.after(random.int(200, longestMs), () => {
      if (host.kinds === kinds) host.failing = 0;
    });
  },
});

/** Each fault by itself; how long it lasts and how much it strikes the random numbers say. */
export const hostFaults: readonly HostFault[] = [
  {
    name: 'host: outage',
    strike: (host, _world, random) => host.outage(random.int(200, 30_000)),
  },
  some('host: restart', ['refused', 'answer lost', 'unavailable'], 6_000),
  some('host: hangs', ['hangs', 'answer hangs'], 15_000),
  some('host: lost answers', ['answer lost', 'answer hangs'], 8_000),
  some('host: errors', ['broken', 'unavailable'], 15_000),
  some('host: too many requests', ['too many requests'], 15_000),
  some('host: broken bodies', ['cut body', 'slow body', 'no JSON'], 10_000),
  {
    name: 'host: slow',
    strike: (host, world, random) => {
      const usual = host.latencyMs;
      host.latencyMs = random.int(200, 12_000);
      world.after(random.int(100, 10_000), () => (host.latencyMs = Math.min(usual, 100)));
    },
  },
];
