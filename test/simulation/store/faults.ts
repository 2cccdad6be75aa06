import type { Random } from '../random.js';
import type { World } from '../world.js';
import { breaks, type CommitFailure, type SimulatedStore, troubles } from './server.js';

/** Something that can happen to a store, or on the way to it. */
export interface StoreFault {
  name: string;
  strike(store: SimulatedStore, world: World, random: Random): void;
}

const commits = (failure: CommitFailure) => (store: SimulatedStore, _world: World, random: Random) =>
  store.failCommits(Array.from({ length: random.int(1, 3) }, () => failure));

/** All faults. The random numbers decide the length and the victim. */
export const storeFaults: readonly StoreFault[] = [
  { name: 'store: commit lost before it is done', strike: commits('lost before') },
  { name: 'store: commit done and its answer lost', strike: commits('lost after') },
  { name: 'store: commit refused', strike: commits('refused') },
  {
    name: 'store: crash',
    strike: (store, _world, random) => void store.crash(random.int(5, 6_000), random.int(0, 2_000)),
  },
  {
    name: 'store: restart',
    strike: (store, _world, random) => void store.restart(random.int(5, 4_000), random.int(0, 500)),
  },
  {
    name: 'store: lost all that it had',
    strike: (store, _world, random) => void store.loseAll(random.int(5, 5_000)),
  },
  {
    name: 'store: connections cut',
    strike: (store, _world, random) =>
      store.cut(random.pick([1, 0.5]), random.pick(Object.values(breaks)), 0, random.int(0, 500)),
  },
  {
    name: 'store: half-open connections',
    strike: (store, _world, random) =>
      store.cut(random.pick([1, 0.5]), breaks.EPIPE, random.int(100, 12_000), random.int(0, 2_000)),
  },
  {
    name: 'store: freeze',
    strike: (store, world, random) => {
      store.freeze();
      world.after(random.int(50, 10_000), () => store.thaw());
    },
  },
  {
    name: 'store: slow',
    strike: (store, world, random) => {
      const most = random.int(5, 400);
      store.slow({ least: most / 10, most });
      world.after(random.int(100, 6_000), () => store.slow());
    },
  },
  {
    name: 'store: statements refused',
    strike: (store, _world, random) =>
      store.trouble(random.pick(Object.values(troubles)), random.pick([0.2, 1]), random.int(20, 4_000)),
  },
];
