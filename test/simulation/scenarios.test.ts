import t from 'tap';
import { runCampaign } from './campaign.js';
import { failureText, summaryText } from './report.js';
import { play, type Scenario, type Stage } from './scenario.js';
import { scenarios } from './scenarios/index.js';
import { shrink } from './shrink.js';

/** Real time for fresh seeds, in milliseconds: with what the kept ones take, about a minute. */
const budgetMs = 50_000;
/** Seeds differ from run to run, so that each run tries new ones; the number is printed. */
const firstSeed = Number(process.env.SIM_SEED ?? Math.floor(Math.random() * 2 ** 31));

for (const scenario of scenarios) {
  t.test(`SIM-03 SIM-11 one seed gives one history: ${scenario.name}`, async (t) => {
    const [one, again, other] = [await play(scenario, 1), await play(scenario, 1), await play(scenario, 2)];
    t.same(again, one);
    t.notSame(other.timeline, one.timeline);
  });
}

t.test('SIM-03 SIM-11 all invariants hold, whatever happens', async (t) => {
  t.comment(`fresh seeds from ${firstSeed} on; the same again with SIM_SEED=${firstSeed}`);
  const so = await runCampaign({ scenarios, firstSeed, budgetMs, goOn: true });
  t.comment(summaryText(so));
  for (const failure of so.failures) t.fail(failureText(failure));
  for (const { name } of scenarios) t.ok(so.runs[name]! > 0, `${name} was run`);
});

/** Breaks when both of two steps among many are taken. */
const needsTwo: Scenario = {
  name: 'needs-two',
  says: 'a test of the tests',
  kept: [],
  boundMs: 10_000,
  play: async (stage: Stage) => {
    const taken = new Set<number>();
    for (let n = 0; n < 40; n++) stage.plan(n * 10, `step ${n}`, () => void taken.add(n));
    await stage.pass(1_000);
    stage.check('not both', !(taken.has(7) && taken.has(31)), () => `of ${taken.size}`);
  },
};

t.test('SIM-12 a run that is broken is made smaller, to the steps that matter', async (t) => {
  const failing = await play(needsTwo, 3);
  t.match(failing.broken, [/not both/]);
  const smallest = await shrink(needsTwo, failing);
  t.same(
    smallest.planned.map(({ what }) => what),
    ['step 7', 'step 31'],
  );
  t.match(failureText(smallest), /npm run simulate -- --only needs-two --seed 3/);
});
