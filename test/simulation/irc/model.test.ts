import t, { type Test } from 'tap';
import { startIrcd } from '../../support/ircd.js';
import { startLinkedIrcds } from '../../support/linked-ircd.js';
import { Random } from '../random.js';
import { type Actors, play, realActors, simulatedActors } from './compare.js';
import { delayInHistory, playLinked, realLinked, simulatedLinked } from './compare-linked.js';
import { linkedScripts, randomScript, registrations, type Step, scripts } from './scripts.js';

const seeds = [1, 2, 3, 4, 5, 6];
const ircd = await startIrcd(t, { reservedNicks: ['kept-bot'] });

async function compare(t: Test, steps: readonly Step[], isRegistering = false): Promise<void> {
  const real = await realActors(t, ircd, isRegistering);
  const simulated = await simulatedActors(isRegistering);
  t.same(await play(simulated, steps), await play(real, steps));
  await leave(real);
}

/** Clears the server for the next script. */
async function leave(clients: Actors): Promise<void> {
  await play(clients, [
    ...['#room', '#x', '#y', '#Z', '#none'].map((name): Step => ['a', `SAMODE ${name} -PH`]),
    ['a', 'QUIT'],
    ['b', 'QUIT'],
    ['o', 'QUIT'],
  ]);
}

for (const [feature, steps] of Object.entries(scripts)) {
  t.test(`SIM-04 the simulated server answers as a real one: ${feature}`, (t) => compare(t, steps));
}

for (const [feature, steps] of Object.entries(registrations)) {
  t.test(`SIM-04 the simulated server answers as a real one: ${feature}`, (t) => compare(t, steps, true));
}

for (const seed of seeds) {
  t.test(`SIM-04 the simulated server answers as a real one: random ${seed}`, (t) =>
    compare(t, randomScript(new Random(seed), 200)),
  );
}

t.test(
  'SIM-04 simulated servers that are split and linked tell their clients what real ones do',
  async (t) => {
    const linked = await startLinkedIrcds(t);
    for (const [feature, steps] of Object.entries(linkedScripts)) {
      const real = await playLinked(await realLinked(t, linked), steps);
      t.same(await playLinked(await simulatedLinked(), steps), real, feature);
    }
  },
);

t.test('SIM-04 a history says when a line came to its server, not when it was said', async (t) => {
  const real = await realLinked(t, await startLinkedIrcds(t));
  const lateMs = 2_000;
  for (const linked of [real, await simulatedLinked()]) {
    const delay = await delayInHistory(linked, lateMs);
    t.ok(delay > lateMs - 1_000, `${delay} ms later`); // it says so in whole seconds
  }
});
