import t from 'tap';
import { Answers } from '../../src/stores/read-models.js';

t.test('the same answer is given while nothing moves', async (t) => {
  const answers = new Answers();
  let asked = 0;
  const ask = async () => ({ asked: ++asked });
  const [first, second] = await Promise.all([answers.of('a', 's 1', ask), answers.of('a', 's 1', ask)]);
  t.equal(first, second, 'asked once by two at the same time');
  t.equal(await answers.of('a', 's 1', ask), first);
  t.same(await answers.of('b', 's 1', ask), { asked: 2 }, 'another question');
  t.same(await answers.of('a', 's 2', ask), { asked: 3 }, 'the read model has moved');
  t.same(await answers.of('a', undefined, ask), { asked: 4 }, 'nobody knows where it stands');
});

t.test('a failure is not kept', async (t) => {
  const answers = new Answers();
  await t.rejects(
    answers.of('a', 's', async () => {
      throw new Error('away');
    }),
    /away/,
  );
  t.equal(await answers.of('a', 's', async () => 1), 1);
});

t.test('answers are bounded, in number and in age', async (t) => {
  let now = 1;
  const answers = new Answers(() => now);
  let asked = 0;
  const ask = async () => ++asked;
  t.equal(await answers.of('first', 's', ask), 1);
  now = 1_000;
  t.equal(await answers.of('first', 's', ask), 1);
  now = 1_002;
  t.equal(await answers.of('first', 's', ask), 2);
  for (let n = 0; n < 1_000; n++) await answers.of(`q${n}`, 's', async () => n);
  t.equal(await answers.of('first', 's', ask), 3, 'the many others took its place');
});
