import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { takeOverGlobals } from './globals.js';
import { World } from './world.js';

/** A run of a few timers that race, told as text. */
async function told(seed: number): Promise<string[]> {
  const world = new World(seed);
  const giveBack = takeOverGlobals(world);
  try {
    for (let n = 0; n < 20; n++) {
      const run = async () => {
        await delay(Math.random() * 100);
        world.tell(`part ${n}`, 'woke');
        setTimeout(() => world.tell(`part ${n}`, `at ${Date.now()}`), Math.random() * 10);
      };
      void run();
    }
    const every = setInterval(() => world.tell('clock', 'ticks'), 30);
    await world.pass(100);
    clearInterval(every);
    await world.pass(1_000);
    t.equal(world.waiting, 0);
  } finally {
    giveBack();
  }
  return world.timeline.map(({ at, who, what }) => `${at} ${who} ${what}`);
}

t.test('SIM-01 a seed decides all that happens, and nothing takes real time', async (t) => {
  const one = await told(7);
  t.equal(one.length, 43);
  t.same(await told(7), one);
  t.notSame(await told(8), one);
  t.not(new Date().getUTCFullYear(), 1970);
});

t.test('SIM-01 the clock waits for what is real, and a bound ends a wait', async (t) => {
  const world = new World(1);
  const order: string[] = [];
  world.after(10, () => order.push('planned'));
  void world.outside(new Promise((resolve) => setTimeout(resolve, 20))).then(() => order.push('real'));
  t.equal(await world.until(() => order.length === 2, 1_000), true);
  t.same(order, ['real', 'planned']);
  world.after(5_000, () => order.push('too late'));
  t.equal(await world.until(() => order.length === 3, 1_000), false);
  t.equal(await world.until(() => order.length === 3, 5_000), true);
});

t.test(
  'SIM-01 what is due at the same time comes in the order in which it was planned, also behind a bound',
  async (t) => {
    const world = new World(1);
    const order: number[] = [];
    for (const n of [1, 2, 3]) world.after(100, () => order.push(n));
    await world.pass(50);
    await world.pass(100);
    t.same(order, [1, 2, 3]);
  },
);
